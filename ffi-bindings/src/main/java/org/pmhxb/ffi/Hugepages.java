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

  private static final Path FREE =
      Path.of("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages");
  private static final Path RESERVED =
      Path.of("/sys/kernel/mm/hugepages/hugepages-2048kB/resv_hugepages");

  /** Free 2 MiB pages that nobody has reserved; 0 where the kernel has none. */
  public static long freePages() {
    return Math.max(0, read(FREE) - read(RESERVED));
  }

  private static long read(Path file) {
    try {
      return Long.parseLong(Files.readString(file).strip());
    } catch (IOException | NumberFormatException e) {
      return 0; // no such pages in this kernel, or no /sys in this container
    }
  }
}
