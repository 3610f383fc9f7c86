package org.pmhxb.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.pmhxb.ffi.gen.Pmhxb;

/** Rings of frames and the ports over them: the in-process fabric (control path). */
public final class Rings {
  /** Characters that a ring's name may have. */
  public static final int MAX_NAME_LENGTH = 28;

  /** Characters that a ring port's name may have. */
  public static final int MAX_PORT_NAME_LENGTH = 22;

  private Rings() {}

  /**
   * Creates a ring for exactly {@code capacity} frames and returns its handle.
   *
   * @param name unique in the process
   * @param singleProducer one thread enqueues; cheaper
   * @param singleConsumer one thread dequeues; cheaper
   */
  public static long create(
      String name, int capacity, boolean singleProducer, boolean singleConsumer) {
    int flags =
        (singleProducer ? Pmhxb.HXB_RING_SP() : 0) | (singleConsumer ? Pmhxb.HXB_RING_SC() : 0);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
      int code = Pmhxb.hxb_ring_create(arena.allocateFrom(name), capacity, flags, out);
      if (code < 0) {
        throw new NativeException(
            "hxb_ring_create(" + name + ", " + capacity + ")", code, ringRemedy(code));
      }
      return out.get(ValueLayout.JAVA_LONG, 0);
    }
  }

  private static String ringRemedy(int code) {
    return switch (-code) {
      case Errno.EEXIST -> "a ring of that name exists: free it or take another name";
      case Errno.EINVAL -> "capacity is 1 to 1048576 frames";
      case Errno.ENODEV -> "EAL must run";
      case Errno.ENAMETOOLONG -> "at most " + MAX_NAME_LENGTH + " characters";
      default -> "raise the EAL heap (EalOptions.heapMegabytes) or " + Hugepages.REMEDY;
    };
  }

  /** Frees the frames left in a ring, then the ring. No port may use it any more. */
  public static void free(long ring) {
    int code = Pmhxb.hxb_ring_free(MemorySegment.ofAddress(ring));
    if (code < 0) {
      throw new NativeException("hxb_ring_free", code, "");
    }
  }

  /**
   * Creates a net_ring port whose queue q receives from rx[q] and sends to tx[q]; returns its
   * number. Configure and start it as any other. Its MAC address is all zero: net_ring has none.
   */
  public static int port(String name, long[] rx, long[] tx) {
    if (rx.length != tx.length) {
      throw new IllegalArgumentException(rx.length + " receive and " + tx.length + " send rings");
    }
    try (Arena arena = Arena.ofConfined()) {
      int code =
          Pmhxb.hxb_ring_port(
              arena.allocateFrom(name),
              arena.allocateFrom(ValueLayout.JAVA_LONG, rx),
              arena.allocateFrom(ValueLayout.JAVA_LONG, tx),
              rx.length);
      if (code < 0) {
        throw new NativeException(
            "hxb_ring_port(" + name + ", " + rx.length + " queues)", code, portRemedy(code));
      }
      return code;
    }
  }

  private static String portRemedy(int code) {
    return switch (-code) {
      case Errno.ENOSPC -> "all " + Ports.MAX_PORTS + " ports are taken: use more queues of each";
      case Errno.ENAMETOOLONG -> "at most " + MAX_PORT_NAME_LENGTH + " characters";
      default -> "1 to 16 rings, a name of its own; DPDK says: " + Eal.logTail(3);
    };
  }
}
