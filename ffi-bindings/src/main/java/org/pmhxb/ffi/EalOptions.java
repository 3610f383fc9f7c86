package org.pmhxb.ffi;

import java.util.List;
import java.util.Objects;

/**
 * How DPDK's environment (EAL) starts.
 *
 * @param hugepages pages of DPDK's own heap (mbuf structs, rings), not of packet buffers
 * @param heapMegabytes size of that heap without hugepages, and the hugepages asked for by {@link
 *     Hugepages#AUTO}; 16..65,536. With hugepages the heap grows as needed.
 * @param filePrefix apart from other DPDK processes of the host; letters, digits, '-', '_', '.'
 * @param extra further EAL arguments, after the ones chosen here
 */
public record EalOptions(
    Hugepages hugepages, int heapMegabytes, String filePrefix, List<String> extra) {

  public EalOptions {
    Objects.requireNonNull(hugepages, "hugepages");
    if (heapMegabytes < 16 || heapMegabytes > 65_536) {
      throw new IllegalArgumentException("heapMegabytes " + heapMegabytes + " not in 16..65536");
    }
    if (!filePrefix.matches("[A-Za-z0-9._-]{1,60}")) {
      throw new IllegalArgumentException(
          "filePrefix \"" + filePrefix + "\": 1 to 60 letters, digits or any of ._-");
    }
    extra = List.copyOf(extra);
  }

  /** Hugepages where there are some, a heap of 128 MB, a prefix of this process. */
  public static EalOptions defaults() {
    return new EalOptions(Hugepages.AUTO, 128, "hxb-" + ProcessHandle.current().pid(), List.of());
  }

  /** 2 MiB pages that the heap lies in where there are enough. */
  public long heapPages() {
    return Hugepages.pagesFor((long) heapMegabytes << 20);
  }

  public EalOptions withHugepages(Hugepages pages) {
    return new EalOptions(pages, heapMegabytes, filePrefix, extra);
  }

  public EalOptions withHeapMegabytes(int megabytes) {
    return new EalOptions(hugepages, megabytes, filePrefix, extra);
  }

  public EalOptions withExtra(List<String> arguments) {
    return new EalOptions(hugepages, heapMegabytes, filePrefix, arguments);
  }
}
