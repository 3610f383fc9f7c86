package org.pmhxb.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.pmhxb.ffi.gen.Pmhxb;
import org.pmhxb.ffi.gen.hxb_pool_config;

/**
 * DPDK pools over a {@link Region} (control path). A pool is a handle, for {@link Hxb} and {@link
 * Ports}. Buffer {@code id} in 1..count lies at {@code region.address() + id * strideBytes}.
 */
public final class Pools {
  /** Any NUMA node. */
  public static final int ANY_SOCKET = -1;

  private Pools() {}

  /**
   * Creates a pool; the region must outlive it.
   *
   * @param strideBytes from buffer to buffer, a multiple of 128, 256 to 32,768
   * @param count buffers; {@code count + 1} strides must fit into the region
   * @param cache buffers kept per registered thread, 0..512, at most count / 1.5
   * @param socket NUMA node of the mbuf structs, or {@link #ANY_SOCKET}
   * @param name unique in the process, at most 23 characters
   * @throws NativeException with what was wrong
   */
  public static long create(
      Region region, int strideBytes, int count, int cache, int socket, String name) {
    if (name.isEmpty() || name.length() > 23) {
      throw new IllegalArgumentException("pool name \"" + name + "\": 1 to 23 characters");
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment config = hxb_pool_config.allocate(arena);
      hxb_pool_config.base(config, region.address());
      hxb_pool_config.region_bytes(config, region.lengthBytes());
      hxb_pool_config.page_bytes(config, region.pageBytes());
      hxb_pool_config.stride_bytes(config, strideBytes);
      hxb_pool_config.count(config, count);
      hxb_pool_config.cache(config, cache);
      hxb_pool_config.socket(config, socket);
      hxb_pool_config.name(config).setString(0, name);
      MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
      int code = Pmhxb.hxb_pool_create(config, out);
      if (code < 0) {
        throw new NativeException(
            "hxb_pool_create(" + name + ", " + count + " x " + strideBytes + " bytes)",
            code,
            createRemedy(code));
      }
      return out.get(ValueLayout.JAVA_LONG, 0);
    }
  }

  private static String createRemedy(int code) {
    return switch (-code) {
      case Errno.ENOMEM -> "raise the EAL heap (EalOptions.heapMegabytes) or " + Hugepages.REMEDY;
      case Errno.ENODEV -> "EAL must run";
      case Errno.EEXIST -> "a pool of that name exists: close it or take another name";
      case Errno.ERANGE -> "the region is too small for count + 1 strides";
      case Errno.EINVAL ->
          "stride 256..32768 and a multiple of 128, count 1..16777215, cache 0..512 and <= count / 1.5";
      default -> "DPDK says: " + Eal.logTail(3);
    };
  }

  /**
   * Address of two 64-bit words, of the thread that sends and receives with the pool: the first is
   * not 0 when {@link Hxb#ringBells} has something to do, the second is another when a receive
   * burst since may have left frames.
   */
  public static long bells(long pool) {
    return Pmhxb.hxb_pool_bells(MemorySegment.ofAddress(pool)).address();
  }

  /**
   * Frees a pool whose buffers are all home.
   *
   * @throws NativeException -EBUSY while buffers are out
   */
  public static void destroy(long pool) {
    int code = Pmhxb.hxb_pool_destroy(MemorySegment.ofAddress(pool));
    if (code < 0) {
      throw new NativeException(
          "hxb_pool_destroy", code, "close the ports that use it, release all buffers, then again");
    }
  }

  /** Frees a pool although buffers are out; nobody may use one of them afterwards. */
  public static void destroyForced(long pool) {
    Pmhxb.hxb_pool_destroy_forced(MemorySegment.ofAddress(pool));
  }

  /** Free buffers now; approximate while other threads allocate. */
  public static int available(long pool) {
    return Pmhxb.hxb_pool_avail(MemorySegment.ofAddress(pool));
  }

  /**
   * Frames that ring calls with this pool freed as malformed or foreign, plus enqueue calls cut
   * short by a descriptor out of range.
   */
  public static long ringRefusals(long pool) {
    return Pmhxb.hxb_pool_ring_refusals(MemorySegment.ofAddress(pool));
  }

  /**
   * The table of mbuf addresses, one 64-bit word per ID (entry 0 is 0); lives as the pool does. The
   * 16-bit reference count of buffer {@code id} lies at {@code table[id] +}{@link
   * NativeLibrary#MBUF_REFCNT_OFFSET}; it says 1 for a free buffer too.
   */
  public static MemorySegment mbufTable(long pool, int count) {
    MemorySegment table = Pmhxb.hxb_pool_mbufs(MemorySegment.ofAddress(pool));
    return table.reinterpret((count + 1L) * Long.BYTES);
  }
}
