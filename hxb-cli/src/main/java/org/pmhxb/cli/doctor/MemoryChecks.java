package org.pmhxb.cli.doctor;

import java.util.List;
import java.util.Locale;
import org.pmhxb.router.HxbConfig;

/** Hugepages, and what the kernel does with ordinary pages. */
final class MemoryChecks implements Check {
  /** 2 MB pages; the launcher says otherwise by the property hxb.hugepages. */
  static final long DEFAULT_WANTED = 1024;

  private static final String HUGEPAGES = "/sys/kernel/mm/hugepages/hugepages-2048kB/";
  private static final String TRANSPARENT = "/sys/kernel/mm/transparent_hugepage/enabled";

  private final long wanted;
  private final HxbConfig.Hugepages mode;

  /** Behind the number of pages that are wanted: what for. */
  private final String uses;

  MemoryChecks(long wanted) {
    this.wanted = wanted;
    this.mode = HxbConfig.Hugepages.AUTO;
    this.uses = "";
  }

  /** For one node. */
  MemoryChecks(NodeFile file) {
    this.wanted = file.poolPages() + NodeFile.heapPages();
    this.mode = file.config().hugepages();
    this.uses = "; the node's pool %d, DPDK %d".formatted(file.poolPages(), NodeFile.heapPages());
  }

  @Override
  public List<Finding> examine(Machine machine) {
    return List.of(hugepages(machine), transparent(machine));
  }

  private Finding hugepages(Machine machine) {
    String name = "hugepages";
    if (mode == HxbConfig.Hugepages.NEVER) {
      return Finding.ok(name, "pool.hugepages is \"never\": ordinary pages");
    }
    if (!machine.exists(HUGEPAGES)) {
      return lacking(
          name,
          "no 2 MB pages on this kernel; the pools lie on ordinary pages, which is slower",
          "use a kernel with CONFIG_HUGETLBFS (every Debian kernel has it)");
    }
    long reserved = machine.number(HUGEPAGES + "nr_hugepages", 0);
    // Pages that somebody has mapped and not touched are promised.
    long free =
        machine.number(HUGEPAGES + "free_hugepages", 0)
            - machine.number(HUGEPAGES + "resv_hugepages", 0);
    String value =
        String.format(
            Locale.ROOT,
            "%d reserved, %d free, %d wanted (2 MB each%s)",
            reserved,
            free,
            wanted,
            uses);
    return free >= wanted
        ? Finding.ok(name, value)
        : lacking(name, value, "sudo sysctl vm.nr_hugepages=" + (reserved + wanted - free));
  }

  /** A node whose file requires pages does not start without. */
  private Finding lacking(String name, String value, String remedy) {
    return mode == HxbConfig.Hugepages.REQUIRE
        ? Finding.failure(name, value, remedy)
        : Finding.warning(name, value, remedy);
  }

  /** The kernel's own joining of pages stops a poller for as long as it copies. */
  private static Finding transparent(Machine machine) {
    String name = "transparent hugepages";
    String modes = machine.read(TRANSPARENT);
    if (modes.isEmpty()) {
      return Finding.ok(name, "not in this kernel");
    }
    int from = modes.indexOf('[') + 1;
    int to = modes.indexOf(']');
    String mode = to > from ? modes.substring(from, to) : modes;
    return mode.equals("always")
        ? Finding.warning(name, mode, "echo madvise | sudo tee " + TRANSPARENT)
        : Finding.ok(name, mode);
  }
}
