package org.pmhxb.pm.port;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import org.pmhxb.bufpool.Memory;

/**
 * A fixed array of packet descriptors in native memory, shared with the driver's burst calls.
 *
 * <p>One descriptor is one 64-bit word: bits 0-23 buffer ID, bits 24-31 flags, bits 32-47 frame
 * length in bytes (Ethernet destination to end of payload, no FCS), bits 48-63 zero. Owner: the
 * poll thread of the node that made it.
 */
public final class Burst {
  /** The port adds a reference of its own; the caller keeps the one it has (hold for resend). */
  public static final long HOLD = 1L << 24;

  /** The frame has no CRC yet. Ports do not look at this; no frame reaches one without. */
  public static final long SEAL = 1L << 25;

  /**
   * {@link QueueBursts#receive} has found that the frame, which is all that one native call
   * brought, carries its own CRC over its whole length. Without it nothing is known.
   */
  public static final long INTACT = 1L << 26;

  /** Of the length, in a descriptor without flags all that lies above the ID. */
  public static final int LENGTH_SHIFT = 32;

  private static final long ID_MASK = 0xFF_FFFFL;

  private final long address;
  private final int capacity;

  /** Keeps the memory as long as the burst: simulations make many nodes. */
  @SuppressWarnings("unused")
  private final MemorySegment keepAlive;

  /**
   * @param capacity descriptors, 1 to 4096
   */
  public Burst(int capacity) {
    if (capacity < 1 || capacity > 4096) {
      throw new IllegalArgumentException("burst capacity " + capacity + " is not in 1..4096");
    }
    this.capacity = capacity;
    this.keepAlive = Arena.ofAuto().allocate((long) capacity * Long.BYTES, 64);
    this.address = keepAlive.address();
  }

  public long address() {
    return address;
  }

  public int capacity() {
    return capacity;
  }

  public long get(int i) {
    return Memory.ALL.get(ValueLayout.JAVA_LONG_UNALIGNED, wordAt(i));
  }

  /**
   * The i-th word, for a loop over a burst's words: when {@link Memory#known} made {@code address}
   * and the loop counts {@code i} from 0 to below {@link #capacity()}, no access is checked.
   *
   * @param address {@link #address()}
   */
  public static long get(long address, int i) {
    return Memory.ALL.get(ValueLayout.JAVA_LONG_UNALIGNED, address + ((long) i << 3));
  }

  public void set(int i, long descriptor) {
    Memory.ALL.set(ValueLayout.JAVA_LONG_UNALIGNED, wordAt(i), descriptor);
  }

  private long wordAt(int i) {
    // The address alone goes through known(): it stays the same in a loop, the sum does not.
    return Memory.known(address) + ((long) Objects.checkIndex(i, capacity) << 3);
  }

  public static long descriptor(int id, int lengthBytes) {
    return (long) lengthBytes << LENGTH_SHIFT | id;
  }

  public static int id(long descriptor) {
    return (int) (descriptor & ID_MASK);
  }

  public static int lengthBytes(long descriptor) {
    return (int) (descriptor >>> LENGTH_SHIFT) & 0xFFFF;
  }
}
