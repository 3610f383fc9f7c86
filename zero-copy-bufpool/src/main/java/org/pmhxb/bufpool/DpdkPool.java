package org.pmhxb.bufpool;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.pmhxb.ffi.Errno;
import org.pmhxb.ffi.Hugepages;
import org.pmhxb.ffi.Hxb;
import org.pmhxb.ffi.NativeException;
import org.pmhxb.ffi.NativeLibrary;
import org.pmhxb.ffi.Pools;
import org.pmhxb.ffi.Region;

/**
 * Buffers that DPDK's drivers fill and send in place: a region of our own, of which DPDK has the
 * data buffers, one mbuf each. The mbuf's reference count is the buffer's.
 *
 * <p>EAL must run. Drivers and software wires take and return buffers from their own threads; the
 * pool below is safe for that. Only what passes through this object belongs to the poll thread.
 */
public final class DpdkPool extends BufferPool {
  /**
   * Buffers that DPDK keeps at hand per registered thread. It saves af_packet, which takes buffers
   * one by one, an atomic operation each; too many for a small pool, where they would lie idle.
   */
  private static final int CACHE = 64;

  private static final int CACHE_WORTHWHILE = 16 * CACHE;

  private final Region region;
  private final long handle;

  /** By ID, the address of each buffer's mbuf; what is read there is its reference count. */
  private final long mbufs;

  /** IDs on their way to or from C, 32 bits each. Owner: the poll thread. */
  private final MemorySegment scratch;

  private boolean leftMapped;

  /** {@link #create(String, int, int, int, Hugepages)} that keeps up to half the pool at hand. */
  public static DpdkPool create(String name, int strideBytes, int capacity, Hugepages hugepages) {
    return create(name, strideBytes, capacity, capacity / 2, hugepages);
  }

  /**
   * @param name unique among the process's pools, at most 23 characters
   * @param strideBytes multiple of 128, 256 to 32,768; a net_af_packet rail needs more than its
   *     frame slot
   * @param capacity buffers; see {@link PoolBudget}
   * @param sentKept buffers that were sent and are free, kept at hand for the next allocations at
   *     most, 0 to {@code capacity}: {@link PoolBudget#resendHolds}, or drivers lack them
   * @throws NativeException naming call, code, and what to do
   */
  public static DpdkPool create(
      String name, int strideBytes, int capacity, int sentKept, Hugepages hugepages) {
    checkGeometry(strideBytes, capacity);
    Region region = Region.map(regionBytes(strideBytes, capacity), hugepages);
    try {
      int cache = capacity >= CACHE_WORTHWHILE ? CACHE : 0;
      long handle = Pools.create(region, strideBytes, capacity, cache, Pools.ANY_SOCKET, name);
      return new DpdkPool(region, handle, strideBytes, capacity, sentKept);
    } catch (RuntimeException e) {
      region.close();
      throw e;
    }
  }

  private DpdkPool(Region region, long handle, int strideBytes, int capacity, int sentKept) {
    super(region.segment(), strideBytes, capacity, sentKept, true);
    this.region = region;
    this.handle = handle;
    this.mbufs = Pools.mbufTable(handle, capacity).address();
    this.scratch = Arena.ofAuto().allocate((long) BATCH_MAX * Integer.BYTES, 64);
  }

  /** For ports and wires: the shim's pool. */
  public long handle() {
    return handle;
  }

  /** The region's memfd: another process that is handed it may map the same memory. */
  public int regionFd() {
    return region.fd();
  }

  /** Whether the buffers lie in 2 MiB pages. */
  public boolean hugepages() {
    return region.huge();
  }

  /** Bytes of the pages that the buffers lie in: 2 MiB, or the system's small ones. */
  public long pageBytes() {
    return region.pageBytes();
  }

  /**
   * After {@link #close()}: buffers were still out (on loan, or in a port that was not closed
   * first), so the region stays mapped until the process ends.
   */
  public boolean leftMapped() {
    return leftMapped;
  }

  @Override
  int takeFree(int[] ids, int count) {
    int taken = Hxb.poolAlloc(handle, scratch.address(), count);
    if (taken <= 0) {
      return 0;
    }
    MemorySegment.copy(scratch, ValueLayout.JAVA_INT, 0, ids, 0, taken);
    return taken;
  }

  @Override
  void dropReferences(int[] ids, int count) {
    if (count > 0) {
      MemorySegment.copy(ids, 0, scratch, ValueLayout.JAVA_INT, 0, count);
      Hxb.poolRelease(handle, scratch.address(), count);
    }
  }

  @Override
  int recycle(int[] ids, int count, int keep) {
    MemorySegment.copy(ids, 0, scratch, ValueLayout.JAVA_INT, 0, count);
    int kept = Hxb.poolRecycle(handle, scratch.address(), count, keep);
    MemorySegment.copy(scratch, ValueLayout.JAVA_INT, 0, ids, 0, kept);
    return kept;
  }

  @Override
  void addReference(int id) {
    Hxb.poolRef(handle, id, 1);
  }

  @Override
  int referencesInBacking(int id) {
    long entry = Memory.known(mbufs + ((long) id << 3));
    long mbuf = Memory.known(Memory.ALL.get(ValueLayout.JAVA_LONG_UNALIGNED, entry));
    long count = mbuf + NativeLibrary.MBUF_REFCNT_OFFSET;
    return Short.toUnsignedInt(Memory.ALL.get(ValueLayout.JAVA_SHORT_UNALIGNED, count));
  }

  @Override
  int freeInBacking() {
    return Pools.available(handle);
  }

  @Override
  void closeBacking(boolean viewsLive) {
    leftMapped = viewsLive || !destroyed();
    if (!leftMapped) {
      region.close();
    }
  }

  private boolean destroyed() {
    try {
      Pools.destroy(handle);
      return true;
    } catch (NativeException e) {
      if (e.code() != -Errno.EBUSY) {
        throw e;
      }
      return false;
    }
  }
}
