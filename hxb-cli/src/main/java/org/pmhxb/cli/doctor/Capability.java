package org.pmhxb.cli.doctor;

import java.util.List;
import java.util.stream.Collectors;

/** What the kernel lets a process do, by bit number (linux/capability.h). */
enum Capability {
  NET_ADMIN(12),
  NET_RAW(13),
  IPC_LOCK(14),
  SYS_ADMIN(21);

  private final int bit;

  Capability(int bit) {
    this.bit = bit;
  }

  /** Those of {@code needed} that this process lacks. */
  static List<Capability> missing(Machine machine, List<Capability> needed) {
    String effective = machine.field("/proc/self/status", "CapEff");
    long bits = effective.isEmpty() ? 0 : Long.parseUnsignedLong(effective, 16);
    return needed.stream().filter(c -> (bits >>> c.bit & 1) == 0).toList();
  }

  /** As in {@code CAP_NET_ADMIN, CAP_NET_RAW}. */
  static String list(List<Capability> capabilities) {
    return capabilities.stream().map(Capability::toString).collect(Collectors.joining(", "));
  }

  /** As the kernel's manual has it. */
  @Override
  public String toString() {
    return "CAP_" + name();
  }
}
