package org.pmhxb.pm;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.bufpool.DpdkPool;
import org.pmhxb.bufpool.Memory;
import org.pmhxb.ffi.Hxb;
import org.pmhxb.pm.port.Burst;
import org.pmhxb.pm.wire.FrameCrc;
import org.pmhxb.pm.wire.FrameHeader;

/**
 * Frames of this node that are handled together, and their CRCs: of one receive burst, or new ones
 * on their way out.
 *
 * <p>A CRC is a chain of instructions that each wait for the one before, about 15 ns for 64 B of
 * payload; side by side, four take the time of one. So the CRCs of a burst are computed together,
 * in C, unless they are so long that the JDK interleaves within each, or their pool is not DPDK's.
 * Owner: the poll thread.
 */
final class LocalBurst {
  /** Mean length up to which; it also bounds the native call to about 1 us. */
  static final int TOGETHER_BYTES_MAX = 512;

  private final BufferPool pool;
  private final FrameCrc single;

  /** The shim's pool, or 0. */
  private final long handle;

  private final Burst frames;
  private final long[] addresses;
  private final long crcs;
  private int size;
  private int bytes;

  LocalBurst(BufferPool pool, FrameCrc single, int capacity) {
    this.pool = pool;
    this.single = single;
    this.handle = pool instanceof DpdkPool dpdk ? dpdk.handle() : 0;
    this.frames = new Burst(capacity);
    this.addresses = new long[capacity];
    this.crcs = Arena.global().allocate((long) capacity * Integer.BYTES, 64).address();
  }

  int size() {
    return size;
  }

  void clear() {
    size = 0;
    bytes = 0;
  }

  /**
   * @param lengthBytes header and payload, which the caller has found to lie within the frame
   */
  void add(int id, int lengthBytes) {
    add(id, lengthBytes, pool.addressOf(id));
  }

  /**
   * @param address of the frame, {@link BufferPool#addressOf}
   */
  void add(int id, int lengthBytes, long address) {
    int i = size;
    frames.set(i, Burst.descriptor(id, lengthBytes));
    addresses[i] = address;
    size = i + 1;
    bytes += lengthBytes;
  }

  /** In {@link Memory#ALL}. */
  long address(int i) {
    return Memory.known(addresses[i]);
  }

  /** Buffer ID, and length of header and payload. */
  long descriptor(int i) {
    return frames.get(i);
  }

  /** The CRC that the i-th frame ought to carry, after {@link #computeCrcs}. */
  int crc(int i) {
    return Memory.ALL.get(ValueLayout.JAVA_INT_UNALIGNED, crcAt(i));
  }

  void computeCrcs() {
    int n = size;
    if (handle == 0 || bytes > n * TOGETHER_BYTES_MAX) {
      computeEach(n);
    } else {
      int done = Hxb.crc32c(handle, frames.address(), n, FrameHeader.CRC_FROM, crcs);
      assert done == n : done;
    }
  }

  private void computeEach(int n) {
    for (int i = 0; i < n; i++) {
      long d = frames.get(i);
      int payloadBytes = Burst.lengthBytes(d) - FrameHeader.BYTES;
      int crc = single.of(pool.frameAt(Burst.id(d)), payloadBytes);
      Memory.ALL.set(ValueLayout.JAVA_INT_UNALIGNED, crcAt(i), crc);
    }
  }

  private long crcAt(int i) {
    return Memory.known(crcs + ((long) Objects.checkIndex(i, frames.capacity()) << 2));
  }
}
