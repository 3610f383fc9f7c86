package org.pmhxb.pm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.pmhxb.bufpool.Memory;
import org.pmhxb.pm.port.Burst;

/**
 * Frames in transit that one receive burst brought, and where each of them goes. Owner: the poll
 * thread.
 */
public final class TransitBurst {
  /** Frames at most; what an index is masked with, so that none can leave the block. */
  static final int CAPACITY = Rail.BURST;

  // The block: a descriptor, an address and an egress for each frame, each kind for itself.
  private static final long ADDRESSES = (long) CAPACITY * Long.BYTES;
  private static final long EGRESSES = ADDRESSES + (long) CAPACITY * Long.BYTES;
  private static final long BLOCK_BYTES = EGRESSES + (long) CAPACITY * Integer.BYTES;

  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;

  private final long block;
  private int size;

  /** Keeps the memory as long as the burst: simulations make many nodes. */
  @SuppressWarnings("unused")
  private final MemorySegment keepAlive;

  TransitBurst() {
    this.keepAlive = Arena.ofAuto().allocate(BLOCK_BYTES, 64);
    this.block = keepAlive.address();
  }

  /**
   * Writes the i-th frame; {@link #fill} tells how many there are. A loop counts for itself.
   *
   * @param descriptor as received
   */
  void put(int i, long descriptor, long address) {
    long at = longAt(i);
    Memory.ALL.set(LONG, at, descriptor);
    Memory.ALL.set(LONG, at + ADDRESSES, address);
  }

  /**
   * @param frames that were put
   */
  void fill(int frames) {
    size = frames;
  }

  /** Frames, 0 to 32. */
  public int size() {
    return size;
  }

  /** Where the i-th frame lies, in {@link Memory#ALL}. */
  public long address(int i) {
    return Memory.known(Memory.ALL.get(LONG, longAt(i) + ADDRESSES));
  }

  /** Of the i-th frame, header included. */
  public int lengthBytes(int i) {
    return Burst.lengthBytes(descriptor(i));
  }

  /**
   * Says where the i-th frame goes.
   *
   * @param rail or a negative {@link DropReason#code()}
   */
  public void egress(int i, int rail) {
    Memory.ALL.set(INT, egressAt(i), rail);
  }

  /** Buffer ID and length as received. */
  long descriptor(int i) {
    return Memory.ALL.get(LONG, longAt(i));
  }

  /** What {@link Routing#transit(TransitBurst, int)} said of the i-th frame. */
  int egress(int i) {
    return Memory.ALL.get(INT, egressAt(i));
  }

  private long longAt(int i) {
    return Memory.known(block) + ((long) (i & CAPACITY - 1) << 3);
  }

  private long egressAt(int i) {
    return Memory.known(block) + EGRESSES + ((long) (i & CAPACITY - 1) << 2);
  }
}
