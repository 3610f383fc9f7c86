package org.pmhxb.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.pmhxb.ffi.gen.Pmhxb;
import org.pmhxb.ffi.gen.hxb_region;

/**
 * One memfd, mapped once: a pool's memory. All pages are present. The kernel frees it with the last
 * process that maps it; nothing stays behind after a kill. EAL is not needed.
 */
public final class Region implements AutoCloseable {
  private final long address;
  private final long lengthBytes;
  private final long pageBytes;
  private final int fd;
  private final boolean huge;
  private boolean closed;

  private Region(MemorySegment struct) {
    address = hxb_region.address(struct);
    lengthBytes = hxb_region.length(struct);
    pageBytes = hxb_region.page_bytes(struct);
    fd = hxb_region.fd(struct);
    huge = hxb_region.huge(struct) != 0;
  }

  /**
   * Maps at least {@code lengthBytes}, rounded up to whole pages.
   *
   * @throws NativeException for example -ENOMEM: too few hugepages, or too little memory
   */
  public static Region map(long lengthBytes, Hugepages hugepages) {
    if (lengthBytes <= 0) {
      throw new IllegalArgumentException("length " + lengthBytes + " bytes: must be positive");
    }
    NativeLibrary.load();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment struct = hxb_region.allocate(arena);
      int code = -Errno.ENOMEM;
      if (hugepages != Hugepages.NONE) {
        code = Pmhxb.hxb_region_map(lengthBytes, 1, struct);
      }
      if (code < 0 && hugepages != Hugepages.REQUIRED) {
        code = Pmhxb.hxb_region_map(lengthBytes, 0, struct);
      }
      if (code < 0) {
        String wanted = hugepages == Hugepages.REQUIRED ? " in 2 MiB pages" : "";
        throw new NativeException(
            "hxb_region_map(" + lengthBytes + " bytes" + wanted + ")",
            code,
            remedy(code, lengthBytes, hugepages));
      }
      return new Region(struct);
    }
  }

  static String remedy(int code, long lengthBytes, Hugepages hugepages) {
    return Errno.remedy(
        code,
        hugepages == Hugepages.REQUIRED
            ? Hugepages.shortage(lengthBytes)
            : "free memory, or take a smaller pool");
  }

  public long address() {
    return address;
  }

  /** Whole pages. */
  public long lengthBytes() {
    return lengthBytes;
  }

  public long pageBytes() {
    return pageBytes;
  }

  public boolean huge() {
    return huge;
  }

  /** The memfd: another process that is handed it may map the same memory. */
  public int fd() {
    return fd;
  }

  /** The whole region in global scope; using it after {@link #close} crashes the process. */
  public MemorySegment segment() {
    if (closed) {
      throw new IllegalStateException("region at 0x" + Long.toHexString(address) + " is closed");
    }
    return Memory.view(address, lengthBytes);
  }

  /** Unmaps it. No pool over it may exist any more, and no thread may touch its segment again. */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment struct = hxb_region.allocate(arena);
      hxb_region.address(struct, address);
      hxb_region.length(struct, lengthBytes);
      hxb_region.fd(struct, fd);
      int code = Pmhxb.hxb_region_unmap(struct);
      if (code < 0) {
        throw new NativeException("hxb_region_unmap", code, "");
      }
    }
  }
}
