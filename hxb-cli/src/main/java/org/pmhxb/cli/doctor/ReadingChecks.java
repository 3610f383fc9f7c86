package org.pmhxb.cli.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * What this user may not read, and what a container hides, so that the other checks, which come
 * before, took it for missing.
 */
final class ReadingChecks implements Check {
  private static final String FILES = "files";

  /** Every kernel of Linux has these. */
  private static final List<String> ALWAYS =
      List.of(
          "/proc/self/status",
          "/sys/class/net",
          "/sys/devices/system/cpu/online",
          "/sys/kernel/mm");

  /** One of each kind if there is any such thing. */
  @Override
  public List<Finding> examine(Machine machine) {
    List<String> hidden = ALWAYS.stream().filter(path -> !machine.exists(path)).toList();
    Set<String> unreadable = machine.unreadable();
    List<Finding> findings = new ArrayList<>();
    if (!unreadable.isEmpty()) {
      findings.add(
          Finding.warning(
              FILES,
              "not readable for this user, and counted as missing: "
                  + String.join(", ", unreadable),
              "sudo hxb doctor ..."));
    }
    List<String> gone = hidden.stream().filter(path -> !unreadable.contains(path)).toList();
    if (!gone.isEmpty()) {
      findings.add(
          Finding.warning(
              FILES,
              "hidden from this process, as by a container, and counted as missing with all beside"
                  + " them: "
                  + String.join(", ", gone),
              "run hxb doctor on the host, or show the container /proc and /sys, as by: docker run"
                  + " -v /sys:/sys:ro ..."));
    }
    return findings;
  }
}
