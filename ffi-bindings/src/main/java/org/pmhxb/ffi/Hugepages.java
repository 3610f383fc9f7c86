package org.pmhxb.ffi;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Which pages memory is to have. */
public enum Hugepages {
  /** 2 MiB pages where enough are free, else the system's small pages. */
  AUTO,
  /** 2 MiB pages or an exception. */
  REQUIRED,
  /** Small pages. */
  NONE;

  /** Bytes of the hugepages used. */
  public static final long PAGE_BYTES = 2L << 20;

  /** How to get some; part of every message about their absence. */
  public static final String REMEDY =
      "reserve hugepages (as root: sysctl -w vm.nr_hugepages=1024), or run without them";

  private static final Path PAGES = Path.of("/sys/kernel/mm/hugepages/hugepages-2048kB");

  /** Free 2 MiB pages that nobody has reserved; 0 where the kernel has none. */
  public static long freePages() {
    return Math.max(0, read("free_hugepages") - read("resv_hugepages"));
  }

  /** 2 MiB pages that memory of so many bytes takes. */
  public static long pagesFor(long lengthBytes) {
    return Math.ceilDiv(lengthBytes, PAGE_BYTES);
  }

  /**
   * How many pages memory of so many bytes takes, how many are free, and the command that reserves
   * enough, DPDK's own heap beside it included: part of every message about such memory.
   */
  public static String shortage(long lengthBytes) {
    long needed = pagesFor(lengthBytes);
    long free = freePages();
    return "it needs %d %s of 2 MB, %d are free: as root, sysctl -w vm.nr_hugepages=%d"
        .formatted(
            needed,
            needed == 1 ? "page" : "pages",
            free,
            read("nr_hugepages") - free + needed + EalOptions.defaults().heapPages());
  }

  private static long read(String file) {
    try {
      return Long.parseLong(Files.readString(PAGES.resolve(file)).strip());
    } catch (IOException | NumberFormatException e) {
      return 0; // no such pages in this kernel, or no /sys in this container
    }
  }
}
