package org.pmhxb.cli.doctor;

import java.nio.file.Path;
import java.util.TreeMap;
import java.util.TreeSet;
import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.ffi.EalOptions;
import org.pmhxb.ffi.Hugepages;
import org.pmhxb.router.HxbConfig;
import org.pmhxb.router.node.NodeSizing;

/**
 * The configuration of a node that shall run on the machine, and where it was read from.
 *
 * @param path for messages
 */
record NodeFile(Path path, HxbConfig config) {
  static final String NET = "/sys/class/net/";
  static final String PCI = "/sys/bus/pci/devices/";

  /**
   * @throws org.pmhxb.router.ConfigException a value is wrong, or too little for the node
   */
  static NodeFile read(Path path) {
    HxbConfig config = HxbConfig.read(path);
    NodeSizing.of(config).buffers(config);
    return new NodeFile(path, config);
  }

  /** As in {@code rail x0}. */
  static String name(HxbConfig.Rail rail) {
    return "rail " + place(rail);
  }

  private static String place(HxbConfig.Rail rail) {
    return rail.dimension().toString() + rail.index();
  }

  /** Where the kernel shows a rail's NIC; empty where it has none. */
  static String device(HxbConfig.Rail rail) {
    return switch (rail.driver()) {
      case PACKET, AF_PACKET -> NET + rail.device() + "/device";
      case PCI -> PCI + rail.device();
      case SHM, MEMIF -> "";
    };
  }

  boolean uses(HxbConfig.Driver driver) {
    return config.rails().stream().anyMatch(rail -> rail.driver() == driver);
  }

  /** Rails by the NUMA node of their NICs; those that tell none are left out. */
  TreeMap<Integer, TreeSet<String>> railsByNumaNode(Topology topology) {
    TreeMap<Integer, TreeSet<String>> rails = new TreeMap<>();
    for (HxbConfig.Rail rail : config.rails()) {
      String device = device(rail);
      int node = device.isEmpty() ? Topology.NO_NODE : topology.nodeOfDevice(device);
      if (node != Topology.NO_NODE) {
        rails.computeIfAbsent(node, any -> new TreeSet<>()).add(place(rail));
      }
    }
    return rails;
  }

  /** The NUMA node of most NICs, the lowest of several; {@link Topology#NO_NODE} if none tells. */
  int numaNode(Topology topology) {
    int best = Topology.NO_NODE;
    int most = 0;
    for (var entry : railsByNumaNode(topology).entrySet()) {
      if (entry.getValue().size() > most) {
        best = entry.getKey();
        most = entry.getValue().size();
      }
    }
    return best;
  }

  /** Bytes of the pool's memory. */
  long poolBytes() {
    return BufferPool.regionBytes(config.poolStrideBytes(), NodeSizing.of(config).buffers(config));
  }

  /** 2 MB pages that the pool takes. */
  long poolPages() {
    return Hugepages.pagesFor(poolBytes());
  }

  /** 2 MB pages that have to be free for DPDK's own heap to lie in them. */
  static long heapPages() {
    return EalOptions.defaults().heapPages();
  }
}
