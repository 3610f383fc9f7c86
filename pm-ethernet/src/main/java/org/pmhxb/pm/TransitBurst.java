package org.pmhxb.pm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.pmhxb.bufpool.Memory;
import org.pmhxb.pm.port.Burst;

/**
 * Frames in transit that one burst of each rail brought, and where each of them goes. Owner: the
 * poll thread.
 */
public final class TransitBurst {
  /** Frames at most; what an index is masked with, so that none can leave the block. */
  static final int CAPACITY = LocalBurst.CAPACITY;

  // The block: a descriptor, an address, an ingress and an egress for each frame, half a line.
  private static final int FRAME_LOG2 = 5;
  private static final long ADDRESS = 8;
  private static final long INGRESS = 16;
  private static final long EGRESS = 20;
  private static final long BLOCK_BYTES = (long) CAPACITY << FRAME_LOG2;

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

  /** Where the i-th frame is put: the base of a loop that counts from there on. */
  long from(int i) {
    return Memory.known(frameAt(i));
  }

  /**
   * Writes the i-th frame behind {@link #from}; {@link #fill} tells how many there are, and the
   * caller sees to it that they are no more than {@link #CAPACITY}. A loop counts for itself.
   *
   * @param descriptor as received
   * @param ingress rail that brought it
   */
  static void put(long from, int i, long descriptor, long address, int ingress) {
    long at = from + ((long) i << FRAME_LOG2);
    Memory.ALL.set(LONG, at, descriptor);
    Memory.ALL.set(LONG, at + ADDRESS, address);
    Memory.ALL.set(INT, at + INGRESS, ingress);
  }

  /**
   * @param frames that were put
   */
  void fill(int frames) {
    size = frames;
  }

  /** Frames, up to 32 of each rail. */
  public int size() {
    return size;
  }

  /** Where the i-th frame lies, in {@link Memory#ALL}. */
  public long address(int i) {
    return Memory.known(Memory.ALL.get(LONG, frameAt(i) + ADDRESS));
  }

  /** The rail that brought the i-th frame. */
  public int ingress(int i) {
    return Memory.ALL.get(INT, frameAt(i) + INGRESS);
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
    Memory.ALL.set(INT, frameAt(i) + EGRESS, rail);
  }

  /** Buffer ID and length as received. */
  long descriptor(int i) {
    return Memory.ALL.get(LONG, frameAt(i));
  }

  /** What {@link Routing#transit(TransitBurst)} said of the i-th frame. */
  int egress(int i) {
    return Memory.ALL.get(INT, frameAt(i) + EGRESS);
  }

  private long frameAt(int i) {
    return Memory.known(block) + ((long) (i & CAPACITY - 1) << FRAME_LOG2);
  }
}
