package org.pmhxb.pm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.bufpool.DpdkPool;
import org.pmhxb.bufpool.Memory;
import org.pmhxb.ffi.Hxb;
import org.pmhxb.pm.port.Burst;
import org.pmhxb.pm.wire.FrameCrc;
import org.pmhxb.pm.wire.FrameHeader;

/**
 * Frames for this node that one burst of each rail brought, and the CRCs that they ought to carry.
 *
 * <p>A CRC is a chain of instructions that each wait for the one before, about 15 ns for 64 B of
 * payload; side by side, four take the time of one. So the CRCs of a burst are computed together,
 * in C, unless they are so long that the JDK interleaves within each, or their pool is not DPDK's.
 * Owner: the poll thread.
 */
final class LocalBurst {
  /**
   * Frames at most, of three dimensions of nine rails and more; what an index is masked with, so
   * that none can leave the block.
   */
  static final int CAPACITY = 1024;

  /** Frames whose CRCs one native call computes at most. */
  private static final int TOGETHER = 32;

  /** Mean length up to which; it also bounds the native call to about 1 us. */
  static final int TOGETHER_BYTES_MAX = 512;

  // The block: a descriptor, an address and a CRC for each frame, each kind for itself, and not at
  // the same place of a page as those of another kind.
  private static final long APART = 256;
  private static final long ADDRESSES = (long) CAPACITY * Long.BYTES + APART;
  private static final long CRCS = ADDRESSES + (long) CAPACITY * Long.BYTES + APART;
  private static final long BLOCK_BYTES = CRCS + (long) CAPACITY * Integer.BYTES;

  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;

  private final BufferPool pool;
  private final FrameCrc single;

  /** The shim's pool, or 0. */
  private final long handle;

  private final long block;
  private int size;
  private int bytes;

  /** Keeps the memory as long as the burst: simulations make many nodes. */
  @SuppressWarnings("unused")
  private final MemorySegment keepAlive;

  LocalBurst(BufferPool pool, FrameCrc single) {
    this.pool = pool;
    this.single = single;
    this.handle = pool instanceof DpdkPool dpdk ? dpdk.handle() : 0;
    this.keepAlive = Arena.ofAuto().allocate(BLOCK_BYTES, 64);
    this.block = keepAlive.address();
  }

  int size() {
    return size;
  }

  /** Of all frames, headers included. */
  int bytes() {
    return bytes;
  }

  void clear() {
    size = 0;
    bytes = 0;
  }

  /**
   * @param lengthBytes header and payload, which the caller has found to lie within the frame
   * @param address of the frame, {@link BufferPool#addressOf}
   */
  void add(int id, int lengthBytes, long address) {
    put(size, Burst.descriptor(id, lengthBytes), address);
    fill(size + 1, bytes + lengthBytes);
  }

  /**
   * Writes the i-th frame; {@link #fill} tells how many there are. A loop counts for itself.
   *
   * @param descriptor buffer ID, and length of header and payload
   * @param address of the frame, {@link BufferPool#addressOf}
   */
  void put(int i, long descriptor, long address) {
    long at = longAt(i);
    Memory.ALL.set(LONG, at, descriptor);
    Memory.ALL.set(LONG, at + ADDRESSES, address);
  }

  /**
   * @param frames that were put
   * @param lengthBytes of all of them
   */
  void fill(int frames, int lengthBytes) {
    size = frames;
    bytes = lengthBytes;
  }

  /** In {@link Memory#ALL}. */
  long address(int i) {
    return Memory.known(Memory.ALL.get(LONG, longAt(i) + ADDRESSES));
  }

  /** Buffer ID, and length of header and payload. */
  long descriptor(int i) {
    return Memory.ALL.get(LONG, longAt(i));
  }

  /** The CRC that the i-th frame ought to carry, after {@link #computeCrcs}. */
  int crc(int i) {
    return Memory.ALL.get(INT, crcAt(i));
  }

  void computeCrcs() {
    int n = size;
    if (n <= TOGETHER) {
      compute(0, n, bytes);
      return;
    }
    for (int from = 0; from < n; from += TOGETHER) {
      int to = Math.min(n, from + TOGETHER);
      int sum = 0;
      for (int i = from; i < to; i++) {
        sum += Burst.lengthBytes(descriptor(i));
      }
      compute(from, to, sum);
    }
  }

  /**
   * @param lengthBytes of the frames {@code [from, to)}
   */
  private void compute(int from, int to, int lengthBytes) {
    int n = to - from;
    if (handle == 0 || lengthBytes > n * TOGETHER_BYTES_MAX) {
      computeEach(from, to);
    } else {
      int done = Hxb.crc32c(handle, longAt(from), n, FrameHeader.CRC_FROM, crcAt(from));
      assert done == n : done;
    }
  }

  private void computeEach(int from, int to) {
    for (int i = from; i < to; i++) {
      long d = descriptor(i);
      int payloadBytes = Burst.lengthBytes(d) - FrameHeader.BYTES;
      int crc = single.of(pool.frameAt(Burst.id(d)), payloadBytes);
      Memory.ALL.set(INT, crcAt(i), crc);
    }
  }

  private long longAt(int i) {
    return Memory.known(block) + ((long) (i & CAPACITY - 1) << 3);
  }

  private long crcAt(int i) {
    return Memory.known(block) + CRCS + ((long) (i & CAPACITY - 1) << 2);
  }
}
