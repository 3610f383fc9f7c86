package org.pmhxb.cli.doctor;

import java.util.List;

/** What the veth fabric asks of the kernel: network namespaces, veth, bridges, tc's tbf. */
final class VethChecks implements Check {
  private static final String NAMESPACES = "network namespaces";
  private static final String TBF = "tc tbf";
  private static final String TOOLS = "sudo apt-get install iproute2";

  /** Run in a namespace of its own, which ends with it: nothing is left. */
  private static final String TRY_LINKS =
      "ip link add hxbd0 type veth peer name hxbd1 && ip link add hxbd2 type bridge";

  private static final String TRY_TBF =
      "ip link add hxbd0 type veth peer name hxbd1"
          + " && tc qdisc add dev hxbd0 root tbf rate 1gbit burst 64kb latency 10ms";

  @Override
  public List<Finding> examine(Machine machine) {
    return List.of(namespaces(machine), tbf(machine));
  }

  private static Finding namespaces(Machine machine) {
    if (!machine.exists("/proc/self/ns/net")) {
      return Finding.warning(
          NAMESPACES, "not in this kernel: no veth fabric", "use a kernel with CONFIG_NET_NS");
    }
    if (machine.number("/proc/sys/user/max_net_namespaces", 1) == 0) {
      return Finding.warning(
          NAMESPACES, "forbidden: no veth fabric", "sudo sysctl user.max_net_namespaces=1024");
    }
    if (!hasTool(machine, "ip")) {
      return Finding.warning(NAMESPACES, "no command ip: no veth fabric", TOOLS);
    }
    if (!mayTry(machine)) {
      return Finding.ok(NAMESPACES, "in this kernel");
    }
    return machine.succeeds("unshare", "--net", "sh", "-c", TRY_LINKS)
        ? Finding.ok(NAMESPACES, "made one with a veth pair and a bridge")
        : Finding.warning(
            NAMESPACES,
            "a veth pair and a bridge could not be made in a new one",
            "sudo modprobe -a veth bridge; then see why: sudo unshare --net sh -c '"
                + TRY_LINKS
                + "'");
  }

  private static Finding tbf(Machine machine) {
    if (!hasTool(machine, "tc")) {
      return Finding.warning(TBF, "no command tc: links cannot be shaped", TOOLS);
    }
    if (mayTry(machine)) {
      return machine.succeeds("unshare", "--net", "sh", "-c", TRY_TBF)
          ? Finding.ok(TBF, "shaped a link")
          : Finding.warning(
              TBF,
              "a link could not be shaped",
              "sudo modprobe sch_tbf; then see why: sudo unshare --net sh -c '" + TRY_TBF + "'");
    }
    String modules = "/lib/modules/" + machine.read("/proc/sys/kernel/osrelease") + "/modules.";
    boolean there =
        machine.exists("/sys/module/sch_tbf")
            || machine.read(modules + "builtin").contains("/sch_tbf.ko")
            || machine.read(modules + "dep").contains("/sch_tbf.ko");
    return there
        ? Finding.ok(TBF, "in this kernel")
        : Finding.warning(TBF, "not found among the kernel's modules", "sudo hxb doctor tries it");
  }

  private static boolean mayTry(Machine machine) {
    return machine.isThisOne() && PermissionChecks.mayMakeFabrics(machine);
  }

  private static boolean hasTool(Machine machine, String tool) {
    return List.of("/usr/sbin/", "/sbin/", "/usr/bin/", "/bin/").stream()
        .anyMatch(directory -> machine.exists(directory + tool));
  }
}
