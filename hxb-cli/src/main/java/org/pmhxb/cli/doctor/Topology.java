package org.pmhxb.cli.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/** Processors, which of them share a core, and the NUMA nodes that they and NICs belong to. */
final class Topology {
  /** A device of no NUMA node, or a machine that tells of none. */
  static final int NO_NODE = -1;

  private static final String CPU = "/sys/devices/system/cpu";
  private static final String NODES = "/sys/devices/system/node";

  private final Machine machine;
  private final List<Integer> online;
  private final TreeMap<Integer, List<Integer>> nodes = new TreeMap<>();

  Topology(Machine machine) {
    this.machine = machine;
    this.online = numbers(machine.read(CPU + "/online"));
    for (String node : machine.list(NODES, "node[0-9]*")) {
      List<Integer> cpus = numbers(machine.read(NODES + "/" + node + "/cpulist"));
      if (!cpus.isEmpty()) { // memory alone: nothing runs there
        nodes.put(Integer.parseInt(node.substring("node".length())), cpus);
      }
    }
  }

  /** The numbers of a kernel list such as 0-3,8, as they stand there. */
  static List<Integer> numbers(String list) {
    List<Integer> numbers = new ArrayList<>();
    for (String range : list.split(",")) {
      if (range.isBlank()) {
        continue;
      }
      String[] ends = range.strip().split("-");
      int last = Integer.parseInt(ends[ends.length - 1]);
      for (int n = Integer.parseInt(ends[0]); n <= last; n++) {
        numbers.add(n);
      }
    }
    return numbers;
  }

  List<Integer> online() {
    return online;
  }

  /** NUMA nodes that have processors. */
  int nodes() {
    return nodes.size();
  }

  /** The NUMA node of a processor. */
  int nodeOf(int cpu) {
    return nodes.keySet().stream()
        .filter(node -> nodes.get(node).contains(cpu))
        .findFirst()
        .orElse(NO_NODE);
  }

  /** The NUMA node of a device's directory, as in {@code /sys/bus/pci/devices/0000:01:00.0}. */
  int nodeOfDevice(String directory) {
    return (int) machine.number(directory + "/numa_node", NO_NODE);
  }

  /**
   * Processors for one poller: the last one of a NUMA node, which the kernel's own work prefers
   * least, with the processor that shares its core; where none does, the last two. A node of fewer
   * than four gives one.
   *
   * @param node {@link #NO_NODE}: of the whole machine
   * @return in ascending order; the last is the poller's
   */
  List<Integer> forPoller(int node) {
    List<Integer> among = nodes.getOrDefault(node, online);
    if (among.isEmpty()) {
      return List.of();
    }
    int last = among.getLast();
    List<Integer> core = core(last);
    if (core.size() > 1) {
      return core;
    }
    return among.size() < 4 ? List.of(last) : among.subList(among.size() - 2, among.size());
  }

  /** A processor and those that share its core. */
  List<Integer> core(int cpu) {
    List<Integer> core =
        numbers(machine.read(CPU + "/cpu" + cpu + "/topology/thread_siblings_list"));
    return core.contains(cpu) ? core : List.of(cpu);
  }
}
