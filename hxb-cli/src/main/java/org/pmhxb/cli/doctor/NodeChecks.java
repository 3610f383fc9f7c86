package org.pmhxb.cli.doctor;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.pmhxb.router.ConfigException;
import org.pmhxb.router.FrameKeyFile;
import org.pmhxb.router.HxbConfig;

/** What a node's file asks of the machine and of this user, beside its rails. */
final class NodeChecks implements Check {
  private static final String NUMA = "numa";
  private static final String KEY_FILE = "key file";
  private static final String SOCKET = "control socket";
  private static final String LOCKED = "locked memory";

  private final NodeFile file;

  NodeChecks(NodeFile file) {
    this.file = file;
  }

  @Override
  public List<Finding> examine(Machine machine) {
    List<Finding> findings = new ArrayList<>();
    findings.add(capabilities(machine));
    if (file.uses(HxbConfig.Driver.PCI)) {
      findings.add(lockedMemory(machine));
    }
    findings.addAll(numa(machine, new Topology(machine)));
    findings.add(keyFile(machine));
    findings.add(controlSocket(machine));
    return findings;
  }

  /** Tried with users of no other right: packet opens a socket, DPDK's driver sets an address. */
  private Finding capabilities(Machine machine) {
    List<Capability> needed = new ArrayList<>();
    if (file.uses(HxbConfig.Driver.PACKET) || file.uses(HxbConfig.Driver.AF_PACKET)) {
      needed.add(Capability.NET_RAW);
    }
    if (file.uses(HxbConfig.Driver.AF_PACKET)) {
      needed.add(Capability.NET_ADMIN);
    }
    List<Capability> missing = Capability.missing(machine, needed);
    if (missing.isEmpty()) {
      return Finding.ok("capabilities", needed.isEmpty() ? "none needed" : Capability.list(needed));
    }
    String ambient =
        missing.stream()
            .map(c -> "+" + c.name().toLowerCase(Locale.ROOT))
            .collect(Collectors.joining(","));
    return Finding.failure(
        "capabilities",
        "missing " + Capability.list(missing),
        "as docs/DEPLOY.md has it: AmbientCapabilities in the systemd unit, or setpriv --inh-caps=%s --ambient-caps=%s hxb ..."
            .formatted(ambient, ambient));
  }

  /** VFIO counts what a NIC may reach as locked by the process. */
  private Finding lockedMemory(Machine machine) {
    String limit =
        machine
            .read("/proc/self/limits")
            .lines()
            .filter(line -> line.startsWith("Max locked memory"))
            .map(line -> line.substring("Max locked memory".length()).strip().split("\\s+")[0])
            .findFirst()
            .orElse("");
    boolean free =
        limit.equals("unlimited")
            || Capability.missing(machine, List.of(Capability.IPC_LOCK)).isEmpty();
    long wanted = (file.poolPages() + NodeFile.heapPages()) << 21;
    if (free || (!limit.isEmpty() && Long.parseLong(limit) >= wanted)) {
      return Finding.ok(LOCKED, free ? "unlimited" : limit + " bytes");
    }
    return Finding.failure(
        LOCKED,
        "%s bytes; the NICs are to reach %d".formatted(limit.isEmpty() ? "0" : limit, wanted),
        "LimitMEMLOCK=infinity in the systemd unit, or a line \"USER - memlock unlimited\" in /etc/security/limits.conf");
  }

  private List<Finding> numa(Machine machine, Topology topology) {
    int cpu = file.config().pollCpu();
    if (cpu >= 0 && !topology.online().isEmpty() && !topology.online().contains(cpu)) {
      return List.of(
          Finding.failure(
              NUMA,
              "poll.cpu is " + cpu + ", of which this machine has none online",
              "cpu = %d under [poll] in %s"
                  .formatted(topology.forPoller(file.numaNode(topology)).getLast(), file.path())));
    }
    List<Integer> allowed = processorsOfCgroup(machine);
    if (cpu >= 0 && !allowed.isEmpty() && !allowed.contains(cpu)) {
      return List.of(
          Finding.warning(
              NUMA,
              "poll.cpu is %d, which this process may not use, nor a node that is started alike"
                  .formatted(cpu),
              "one of %s, or more of them for its cgroup: AllowedCPUs= of systemd, cpuset.cpus, --cpuset-cpus of a container"
                  .formatted(allowed)));
    }
    if (topology.nodes() <= 1) {
      return List.of(Finding.ok(NUMA, "one node"));
    }
    Map<Integer, TreeSet<String>> rails = file.railsByNumaNode(topology);
    int node = file.numaNode(topology);
    if (node == Topology.NO_NODE) {
      return List.of(Finding.ok(NUMA, topology.nodes() + " nodes; the rails tell none"));
    }
    return List.of(places(topology, rails, node), pagesOf(machine, node));
  }

  /**
   * What a thread may pin itself to: cpusets alone bound that, and not who else was kept from a
   * processor, as by isolcpus or taskset. Empty where no cpuset says.
   */
  private static List<Integer> processorsOfCgroup(Machine machine) {
    String group =
        machine
            .read("/proc/self/cgroup")
            .lines()
            .filter(line -> line.startsWith("0::/"))
            .map(line -> line.substring("0::".length()))
            .findFirst()
            .orElse("");
    if (group.startsWith("/..")) {
      return List.of(); // it lies outside of what is to be seen here
    }
    for (Path at = Path.of(group.isEmpty() ? "/" : group); at != null; at = at.getParent()) {
      String file = "/sys/fs/cgroup" + at + "/cpuset.cpus.effective";
      List<Integer> processors = Topology.numbers(machine.read(file.replace("//", "/")));
      if (!processors.isEmpty()) {
        return processors;
      }
    }
    return List.of();
  }

  /** Whether NICs and poll thread are at one node. */
  private Finding places(Topology topology, Map<Integer, TreeSet<String>> rails, int node) {
    int cpu = file.config().pollCpu();
    String value =
        new TreeMap<>(rails)
                .entrySet().stream()
                    .map(e -> String.join(", ", e.getValue()) + " at node " + e.getKey())
                    .collect(Collectors.joining("; "))
            + (cpu < 0 ? "; poll.cpu is not set" : "; poll.cpu at node " + topology.nodeOf(cpu));
    if (topology.nodeOf(cpu) == node) {
      return rails.size() == 1
          ? Finding.ok(NUMA, value)
          : Finding.warning(
              NUMA, value, "put the NICs into slots of one node: lstopo, or the board's manual");
    }
    return Finding.warning(
        NUMA,
        value,
        "cpu = %d under [poll] in %s, and start it by: numactl --cpunodebind=%d --membind=%d hxb node ..."
            .formatted(topology.forPoller(node).getLast(), file.path(), node, node));
  }

  /** Pages come from the node of the poll thread, as far as it has any. */
  private Finding pagesOf(Machine machine, int node) {
    String name = "hugepages of node " + node;
    String pages = "/sys/devices/system/node/node" + node + "/hugepages/hugepages-2048kB/";
    long wanted = file.config().hugepages() == HxbConfig.Hugepages.NEVER ? 0 : file.poolPages();
    long free = machine.number(pages + "free_hugepages", 0);
    String value = "%d free, %d wanted".formatted(free, wanted);
    long reserve = machine.number(pages + "nr_hugepages", 0) + wanted - free;
    return free >= wanted
        ? Finding.ok(name, value)
        : Finding.warning(name, value, "echo " + reserve + " | sudo tee " + pages + "nr_hugepages");
  }

  private Finding keyFile(Machine machine) {
    String path = file.config().keyFile();
    if (file.config().tag() == HxbConfig.Tag.OFF) {
      return Finding.ok(KEY_FILE, "none: frames carry no tag");
    }
    String whole = absolute(path);
    try {
      FrameKeyFile.read(machine.file(whole), file.config().tag(), 1);
      return Finding.ok(KEY_FILE, path + ", readable by its owner alone");
    } catch (ConfigException e) {
      String problem = e.errors().getFirst().problem();
      return Finding.failure(KEY_FILE, path + " " + problem, remedyOf(problem, path));
    }
  }

  private static String remedyOf(String problem, String keyFile) {
    if (problem.startsWith(FrameKeyFile.ABSENT)) {
      return "copy the cluster's key there; the first one: (umask 077; openssl rand -hex 16 > %s)"
          .formatted(keyFile);
    }
    String own = "sudo chown \"$(id -un)\" %s && sudo chmod 600 %s".formatted(keyFile, keyFile);
    return problem.startsWith(FrameKeyFile.DENIED)
        ? own + ", and let this user search the folders on its way (namei -l " + keyFile + ")"
        : own;
  }

  private Finding controlSocket(Machine machine) {
    String path = file.config().controlSocket();
    if (path.isEmpty()) {
      return Finding.ok(SOCKET, "none: the node cannot be asked");
    }
    if (machine.isOtherThanSocket(absolute(path))) {
      return Finding.failure(
          SOCKET,
          path + " is no socket; the node does not replace it",
          "remove it, or choose another path");
    }
    String folder = Path.of(absolute(path)).getParent().toString();
    return machine.mayMakeFilesIn(folder)
        ? Finding.ok(SOCKET, path)
        : Finding.failure(
            SOCKET,
            path + ": this user may make no file in " + folder,
            "sudo install -d -o \"$(id -un)\" "
                + folder
                + " (systemd: RuntimeDirectory= makes it)");
  }

  /** The node takes a path that does not begin at the root from where it is started. */
  private static String absolute(String path) {
    return Path.of(path).toAbsolutePath().normalize().toString();
  }
}
