package org.pmhxb.cli.doctor;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What this process may do. Pools are memfds, so neither /dev/hugepages nor root is needed for the
 * ring and memif fabrics; veth needs interfaces, packet sockets and namespaces.
 */
final class PermissionChecks implements Check {
  /** Name to bit number (linux/capability.h). */
  private static final Map<String, Integer> NEEDED = new LinkedHashMap<>();

  static {
    NEEDED.put("CAP_NET_ADMIN", 12);
    NEEDED.put("CAP_NET_RAW", 13);
    NEEDED.put("CAP_SYS_ADMIN", 21);
  }

  @Override
  public List<Finding> examine(Machine machine) {
    List<String> missing = missing(machine);
    return List.of(
        missing.isEmpty()
            ? Finding.ok("permissions", String.join(", ", NEEDED.keySet()))
            : Finding.warning(
                "permissions",
                "missing " + String.join(", ", missing) + ": no veth fabric, the others work",
                "sudo ./hxb ..."));
  }

  /** The capabilities that this process lacks for the veth fabric. */
  List<String> missing(Machine machine) {
    String effective = machine.field("/proc/self/status", "CapEff");
    long bits = effective.isEmpty() ? 0 : Long.parseUnsignedLong(effective, 16);
    return NEEDED.keySet().stream().filter(c -> (bits >>> NEEDED.get(c) & 1) == 0).toList();
  }
}
