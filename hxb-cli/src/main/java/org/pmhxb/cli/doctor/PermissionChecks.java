package org.pmhxb.cli.doctor;

import java.util.List;
import java.util.stream.Collectors;

/**
 * What this process may do. Pools are memfds, so neither /dev/hugepages nor root is needed for the
 * ring, shm and memif fabrics; veth needs interfaces, packet sockets and namespaces. A node on
 * kernel interfaces of its own needs packet sockets alone: {@link NodeChecks}.
 */
final class PermissionChecks implements Check {
  /** Of the veth fabric. */
  private static final List<Capability> NEEDED =
      List.of(Capability.NET_ADMIN, Capability.NET_RAW, Capability.SYS_ADMIN);

  @Override
  public List<Finding> examine(Machine machine) {
    List<Capability> missing = Capability.missing(machine, NEEDED);
    return List.of(
        missing.isEmpty()
            ? Finding.ok("permissions", Capability.list(NEEDED))
            : Finding.warning(
                "permissions",
                "missing %s: no veth fabric (hxb up, bench); ring, shm and memif need none of them,"
                        .formatted(Capability.list(missing))
                    + " a node with the driver packet CAP_NET_RAW alone",
                (machine.isRoot() ? inContainer(missing) : "for veth: sudo hxb ...")
                    + "; for a node on NICs: hxb doctor --config FILE"));
  }

  private static String inContainer(List<Capability> missing) {
    return missing.stream()
        .map(capability -> " --cap-add " + capability)
        .collect(Collectors.joining("", "for veth: start the container with", ""));
  }

  /** Whether this process may make namespaces, interfaces and packet sockets. */
  static boolean mayMakeFabrics(Machine machine) {
    return Capability.missing(machine, NEEDED).isEmpty();
  }
}
