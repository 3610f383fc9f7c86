package org.pmhxb.cli.doctor;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Cores for the pollers, and what disturbs them. */
final class CpuChecks implements Check {
  private static final String CPU = "/sys/devices/system/cpu";
  private static final String CLOCK = "/sys/devices/system/clocksource/clocksource0/";

  /** Below this many cores there is none to give away. */
  private static final int CORES_TO_ISOLATE = 4;

  @Override
  public List<Finding> examine(Machine machine) {
    int cores = count(machine.read(CPU + "/online"));
    return List.of(cores(cores), isolation(machine, cores), governor(machine), clock(machine));
  }

  /** How many numbers a kernel list such as 0-3,8 holds. */
  static int count(String list) {
    int count = 0;
    for (String range : list.split(",")) {
      if (range.isBlank()) {
        continue;
      }
      String[] ends = range.strip().split("-");
      count += Integer.parseInt(ends[ends.length - 1]) - Integer.parseInt(ends[0]) + 1;
    }
    return count;
  }

  private static Finding cores(int cores) {
    String pollers = cores == 1 ? "1 poller" : cores + " pollers";
    String value = cores + " online: up to " + pollers + " may spin, further ones yield and sleep";
    return cores >= 2
        ? Finding.ok("cores", value)
        : Finding.warning("cores", value, "give the machine two cores or more");
  }

  private static Finding isolation(Machine machine, int cores) {
    String isolated = machine.read(CPU + "/isolated");
    if (!isolated.isEmpty()) {
      return Finding.ok("cpu isolation", isolated);
    }
    if (cores < CORES_TO_ISOLATE) {
      return Finding.ok("cpu isolation", "none, and too few cores for it");
    }
    String range = "1-" + (cores - 2);
    return Finding.warning(
        "cpu isolation",
        "none: other processes interrupt the pollers",
        "add isolcpus=%s nohz_full=%s rcu_nocbs=%s to GRUB_CMDLINE_LINUX in /etc/default/grub, then: sudo update-grub && sudo reboot"
            .formatted(range, range, range));
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
