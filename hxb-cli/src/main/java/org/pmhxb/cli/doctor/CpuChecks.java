package org.pmhxb.cli.doctor;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Cores for the pollers, and what disturbs them. */
final class CpuChecks implements Check {
  private static final String CPU = "/sys/devices/system/cpu";
  private static final String CLOCK = "/sys/devices/system/clocksource/clocksource0/";

  /** Below this many cores there is none to give away. */
  private static final int CORES_TO_ISOLATE = 4;

  /** Null: no node's file is looked at. */
  private final NodeFile file;

  CpuChecks() {
    this(null);
  }

  CpuChecks(NodeFile file) {
    this.file = file;
  }

  @Override
  public List<Finding> examine(Machine machine) {
    Topology topology = new Topology(machine);
    return List.of(
        cores(topology.online().size()),
        isolation(machine, topology),
        governor(machine),
        clock(machine));
  }

  private static Finding cores(int cores) {
    if (cores == 0) {
      return Finding.ok("cores", "unknown: no " + CPU + "/online");
    }
    String pollers = cores == 1 ? "1 poller" : cores + " pollers";
    String value = cores + " online: up to " + pollers + " may spin, further ones yield and sleep";
    return cores >= 2
        ? Finding.ok("cores", value)
        : Finding.warning("cores", value, "give the machine two cores or more");
  }

  private Finding isolation(Machine machine, Topology topology) {
    String name = "cpu isolation";
    List<Integer> wanted = wanted(topology);
    String isolated = machine.read(CPU + "/isolated");
    if (!isolated.isEmpty()) {
      return isolated(name, isolated, wanted);
    }
    if (topology.online().size() < CORES_TO_ISOLATE) {
      return Finding.ok(name, "none, and too few cores for it");
    }
    String list = list(wanted);
    return Finding.warning(
        name,
        "none: other processes interrupt the pollers",
        "add isolcpus=%s nohz_full=%s rcu_nocbs=%s to GRUB_CMDLINE_LINUX in /etc/default/grub, then: sudo update-grub && sudo reboot; only threads that ask for them run there: cpu = %d under [poll] in %s"
            .formatted(list, list, list, poller(wanted), where()));
  }

  /** Those that nobody asks for idle. */
  private Finding isolated(String name, String isolated, List<Integer> wanted) {
    List<Integer> all = Topology.numbers(isolated);
    if (file == null || all.contains(file.config().pollCpu())) {
      return Finding.ok(name, isolated);
    }
    int cpu = file.config().pollCpu();
    boolean told = !wanted.isEmpty(); // what is online
    int better = told && all.contains(poller(wanted)) ? poller(wanted) : all.getLast();
    return Finding.warning(
        name,
        isolated + ", but poll.cpu is " + cpu + ": the poll thread does not run there",
        "cpu = %d under [poll] in %s".formatted(better, where()));
  }

  /** The poll thread's processor and what shares its core, or who could be it. */
  private List<Integer> wanted(Topology topology) {
    int given = file == null ? -1 : file.config().pollCpu();
    if (topology.online().contains(given)) {
      return topology.core(given);
    }
    return topology.forPoller(file == null ? Topology.NO_NODE : file.numaNode(topology));
  }

  private int poller(List<Integer> wanted) {
    int given = file == null ? -1 : file.config().pollCpu();
    return wanted.contains(given) ? given : wanted.getLast();
  }

  private String where() {
    return file == null ? "the node's file" : file.path().toString();
  }

  private static String list(List<Integer> cpus) {
    return cpus.stream().map(String::valueOf).collect(Collectors.joining(","));
  }

  private static Finding governor(Machine machine) {
    Set<String> governors = new TreeSet<>();
    for (String cpu : machine.list(CPU, "cpu[0-9]*")) {
      String governor = machine.read(CPU + "/" + cpu + "/cpufreq/scaling_governor");
      if (!governor.isEmpty()) {
        governors.add(governor);
      }
    }
    if (governors.isEmpty()) {
      return Finding.ok("cpu governor", "none visible (the host of a virtual machine decides)");
    }
    String value = String.join(", ", governors);
    return governors.equals(Set.of("performance"))
        ? Finding.ok("cpu governor", value)
        : Finding.warning(
            "cpu governor",
            value,
            "echo performance | sudo tee " + CPU + "/cpu*/cpufreq/scaling_governor");
  }

  /** Every duty cycle reads the clock once: tens of nanoseconds, or a microsecond by a bad one. */
  private static Finding clock(Machine machine) {
    String current = machine.read(CLOCK + "current_clocksource");
    Set<String> quick =
        Set.of("tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page");
    if (current.isEmpty() || quick.contains(current)) {
      return Finding.ok("clock source", current.isEmpty() ? "unknown" : current);
    }
    return Finding.warning(
        "clock source",
        current + " is slow to read",
        "echo tsc | sudo tee " + CLOCK + "current_clocksource");
  }
}
