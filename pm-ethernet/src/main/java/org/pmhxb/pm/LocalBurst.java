package org.pmhxb.pm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.bufpool.Descriptor;
import org.pmhxb.bufpool.DpdkPool;
import org.pmhxb.bufpool.Memory;
import org.pmhxb.ffi.Hxb;
import org.pmhxb.pm.port.Burst;
import org.pmhxb.pm.port.QueueBursts;
import org.pmhxb.pm.wire.FrameCrc;
import org.pmhxb.pm.wire.FrameHeader;

/**
 * Frames for this node that one burst of each rail brought.
 *
 * <p>A CRC is a chain of instructions that each wait for the one before, about 15 ns for 64 B of
 * payload; side by side, four take the time of one. So the CRCs of a burst are checked together, in
 * C, unless they are so long that the JDK interleaves within each, or their pool is not DPDK's.
 * Owner: the poll thread.
 */
final class LocalBurst {
  /**
   * Frames at most, a full burst of every rail: a power of two; what an index is masked with, so
   * that none can leave the block.
   */
  static final int CAPACITY = QueueBursts.PORTS_MAX * Rail.BURST;

  /** Frames whose CRCs one native call checks at most. */
  private static final int TOGETHER = 32;

  /** Mean length up to which; it also bounds the native call to about 1 us. */
  static final int TOGETHER_BYTES_MAX = 512;

  // The block: a descriptor and an address for each frame, each kind for itself, and not at the
  // same place of a page as those of the other.
  private static final long APART = 256;
  private static final long ADDRESSES = (long) CAPACITY * Long.BYTES + APART;
  private static final long BLOCK_BYTES = ADDRESSES + (long) CAPACITY * Long.BYTES;

  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;

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
    put(longAt(i), 0, descriptor, address);
  }

  /** Where the i-th frame is put: the base of a loop that counts from there on. */
  long from(int i) {
    return Memory.known(longAt(i));
  }

  /**
   * {@link #put(int, long, long)} of the i-th frame behind {@link #from}; the caller sees to it
   * that they are no more than {@link #CAPACITY} in all.
   */
  static void put(long from, int i, long descriptor, long address) {
    long at = from + ((long) i << 3);
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

  /** The second word of the message's descriptor, but for its source. */
  long messageWord(int i) {
    // Nothing else is in the frame's own: no mask is needed.
    long d = descriptor(i);
    return d << Descriptor.BUFFER_SHIFT | (d >>> Burst.LENGTH_SHIFT) - FrameHeader.BYTES;
  }

  /**
   * @param words sum of {@link #messageWord}s
   * @return sum of their frames' payloads
   */
  static long payloadBytes(long words) {
    return words & (1L << Descriptor.BUFFER_SHIFT) - 1;
  }

  /**
   * Checks CRCs.
   *
   * @param from first frame
   * @return the first frame that is broken, its CRC another than it carries; {@link #size()}: none
   */
  int firstBroken(int from) {
    if (from == 0 && size <= TOGETHER) {
      return firstBroken(0, size, bytes);
    }
    int i = from;
    while (i < size) {
      int to = Math.min(size, i + TOGETHER);
      int intact = firstBroken(i, to, lengthBytes(i, to));
      if (intact < to) {
        return intact;
      }
      i = to;
    }
    return size;
  }

  /**
   * @param lengthBytes of the frames {@code [from, to)}
   */
  private int firstBroken(int from, int to, int lengthBytes) {
    int n = to - from;
    if (handle == 0 || lengthBytes > n * TOGETHER_BYTES_MAX) {
      return firstBrokenOfEach(from, to);
    }
    long at = longAt(from);
    return from
        + Hxb.crc32cHolds(handle, at, at + ADDRESSES, n, FrameHeader.CRC_FROM, FrameHeader.CRC);
  }

  private int firstBrokenOfEach(int from, int to) {
    int i = from;
    while (i < to && hasOwnCrc(descriptor(i), address(i))) {
      i++;
    }
    return i;
  }

  /** Whether a frame is not broken that is no part of the burst; the burst is empty. */
  boolean isIntact(long descriptor, long address) {
    if (handle == 0 || Burst.lengthBytes(descriptor) > TOGETHER_BYTES_MAX) {
      return hasOwnCrc(descriptor, address);
    }
    long at = Memory.known(block);
    put(at, 0, descriptor, address);
    return Hxb.crc32cHolds(handle, at, at + ADDRESSES, 1, FrameHeader.CRC_FROM, FrameHeader.CRC)
        == 1;
  }

  private boolean hasOwnCrc(long descriptor, long address) {
    int payloadBytes = Burst.lengthBytes(descriptor) - FrameHeader.BYTES;
    return FrameHeader.crc(Memory.ALL, address)
        == single.of(pool.frameAt(Burst.id(descriptor)), payloadBytes);
  }

  private int lengthBytes(int from, int to) {
    int sum = 0;
    for (int i = from; i < to; i++) {
      sum += Burst.lengthBytes(descriptor(i));
    }
    return sum;
  }

  /** Moves frames to the front, over those that are not to stay. */
  void move(int from, int frames, int to) {
    for (int i = 0; i < frames; i++) {
      put(to + i, descriptor(from + i), address(from + i));
    }
  }

  private long longAt(int i) {
    return Memory.known(block) + ((long) (i & CAPACITY - 1) << 3);
  }
}
