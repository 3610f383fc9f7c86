package org.pmhxb.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.pmhxb.ffi.gen.Pmhxb;

/**
 * Packet sockets of the shim's own, for kernel interfaces without a DPDK driver between (control
 * path; the packet path's part is {@link Hxb#packetRxBurst} and {@link Hxb#packetTxBurst}).
 */
public final class PacketSocket {
  /** Most frames that a receive ring holds. */
  public static final int MAX_SLOTS = Pmhxb.HXB_PACKET_SLOTS_MAX();

  /** Of an interface's name with its end, IFNAMSIZ. */
  private static final int NAME_BYTES = 16;

  private PacketSocket() {}

  /**
   * Opens a socket on an interface and returns its handle.
   *
   * @param etherType it receives frames of this type only
   * @param slots frames that its receive ring holds, a power of two, 2 to {@link #MAX_SLOTS}
   * @param maxFrameBytes longest frame that a slot holds
   * @param pool handle of the pool that it receives into and sends from; it outlives the socket
   */
  public static long open(
      String interfaceName, int etherType, int slots, int maxFrameBytes, long pool) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
      int code =
          Pmhxb.hxb_packet_open(
              arena.allocateFrom(interfaceName),
              etherType,
              slots,
              maxFrameBytes,
              MemorySegment.ofAddress(pool),
              out);
      if (code < 0) {
        throw new NativeException(
            "hxb_packet_open(%s, 0x%04x, %d slots of %d B)"
                .formatted(interfaceName, etherType, slots, maxFrameBytes),
            code,
            remedy(code));
      }
      return out.get(ValueLayout.JAVA_LONG, 0);
    }
  }

  static String remedy(int code) {
    return switch (-code) {
      case Errno.ENODEV -> "no such interface here";
      case Errno.EPERM -> "packet sockets need root or CAP_NET_RAW in this network namespace";
      case Errno.ENOMEM -> "fewer slots need less kernel memory";
      default ->
          Errno.remedy(
              code,
              "slots are a power of two, 2 to " + MAX_SLOTS + "; frames fit the pool's buffers");
    };
  }

  /** Its descriptor, readable when a frame waits; it remains the socket's: never close it. */
  public static int descriptor(long socket) {
    return Pmhxb.hxb_packet_fd(MemorySegment.ofAddress(socket));
  }

  /** What names it in {@link Hxb#rxBursts}, {@link Hxb#txBurstsBlocking} and the like. */
  public static long queue(long socket) {
    return Pmhxb.hxb_packet_queue(MemorySegment.ofAddress(socket));
  }

  /**
   * Whether its interface is up and has a carrier; the caller's network namespace may be another.
   */
  public static boolean isUp(long socket) {
    return Pmhxb.hxb_packet_up(MemorySegment.ofAddress(socket)) != 0;
  }

  /** The name that its interface has now, in its network namespace; empty when it is gone. */
  public static String interfaceName(long socket) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment name = arena.allocate(NAME_BYTES);
      int code = Pmhxb.hxb_packet_name(MemorySegment.ofAddress(socket), name, NAME_BYTES);
      return code < 0 ? "" : name.getString(0);
    }
  }

  /** Received frames that were lost: ring full, too long for a slot. Cumulative. Any thread. */
  public static long receiveDrops(long socket) {
    long drops = Pmhxb.hxb_packet_dropped(MemorySegment.ofAddress(socket));
    if (drops < 0) {
      throw new NativeException("hxb_packet_dropped", (int) drops, "");
    }
    return drops;
  }

  /** Frames taken for sending that the interface refused, as one that is down does. Cumulative. */
  public static long sendLosses(long socket) {
    return Pmhxb.hxb_packet_lost(MemorySegment.ofAddress(socket));
  }

  /** Closes it; no burst may be under way. Frames in its ring are lost. */
  public static void close(long socket) {
    int code = Pmhxb.hxb_packet_close(MemorySegment.ofAddress(socket));
    if (code < 0) {
      throw new NativeException("hxb_packet_close", code, "");
    }
  }
}
