package org.pmhxb.cli.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.pmhxb.router.HxbConfig;

/** What each rail of a node's file is to be reached by: is it there, and fit for it? */
final class RailChecks implements Check {
  private static final int IFF_UP = 1;
  private static final int IFF_LOOPBACK = 8;

  /** The makers of the usual NICs (PCI vendor IDs) and DPDK's drivers for them. */
  private static final Map<String, List<String>> DRIVERS =
      Map.of(
          "0x8086",
          List.of("net_e1000", "net_igc", "net_ixgbe", "net_i40e", "net_ice", "net_iavf"),
          "0x15b3",
          List.of("net_mlx5"),
          "0x14e4",
          List.of("net_bnxt"),
          "0x1077",
          List.of("net_qede"),
          "0x1425",
          List.of("net_cxgbe"),
          "0x1924",
          List.of("net_sfc"),
          "0x1d0f",
          List.of("net_ena"),
          "0x1af4",
          List.of("net_virtio"),
          "0x15ad",
          List.of("net_vmxnet3"));

  /** NVIDIA's (Mellanox's) stay with the kernel, beside which DPDK drives them. */
  private static final String BESIDE_THE_KERNEL = "0x15b3";

  private final NodeFile file;

  RailChecks(NodeFile file) {
    this.file = file;
  }

  @Override
  public List<Finding> examine(Machine machine) {
    List<Finding> findings = new ArrayList<>();
    Topology topology = new Topology(machine);
    for (HxbConfig.Rail rail : file.config().rails()) {
      findings.add(
          switch (rail.driver()) {
            case PACKET, AF_PACKET -> kernelInterface(machine, topology, rail);
            case PCI -> pci(machine, topology, rail);
            case SHM, MEMIF ->
                Finding.ok(
                    NodeFile.name(rail),
                    "%s %s, %s: needs no NIC"
                        .formatted(
                            rail.driver(), rail.option("socket", ""), rail.option("role", "")));
          });
    }
    return findings;
  }

  private Finding kernelInterface(Machine machine, Topology topology, HxbConfig.Rail rail) {
    String name = NodeFile.name(rail);
    String at = NodeFile.NET + rail.device();
    String what = rail.driver() + " " + rail.device() + ": ";
    if (!machine.exists(at)) {
      return Finding.failure(
          name,
          what + "there is no such interface",
          "name one of \"ip -br link\" as its device in " + file.path());
    }
    int flags = flags(machine.read(at + "/flags"));
    boolean up = (flags & IFF_UP) != 0;
    long mtu = machine.number(at + "/mtu", 0);
    int wanted = file.config().mtuBytes();
    String value =
        what
            + (up ? "up" : "down")
            + NicChecks.speed(machine, at)
            + ", MTU "
            + mtu
            + numaNode(topology, rail);
    if (!up || mtu < wanted) {
      return Finding.failure(
          name,
          mtu < wanted ? value + "; the file's mtu is " + wanted : value,
          "sudo ip link set dev %s up%s"
              .formatted(
                  rail.device(), mtu < wanted ? " mtu " + wanted + ", and the switch's port" : ""));
    }
    if ((flags & IFF_LOOPBACK) != 0) {
      return Finding.warning(
          name,
          value + "; it is the loopback, which leads to no other host",
          "name one of \"ip -br link\" as its device in " + file.path());
    }
    if (machine.number(at + "/carrier", 1) == 0) {
      return Finding.warning(
          name,
          value + ", no carrier",
          "look at the cable, at the switch's port and at the interface of the other end");
    }
    return Finding.ok(name, value);
  }

  /** As in 0x1003. What is not told is taken for up. */
  private static int flags(String text) {
    return text.isEmpty() ? IFF_UP : Long.decode(text).intValue();
  }

  private static String numaNode(Topology topology, HxbConfig.Rail rail) {
    int node = topology.nodeOfDevice(NodeFile.device(rail));
    return node == Topology.NO_NODE ? "" : ", NUMA node " + node;
  }

  private Finding pci(Machine machine, Topology topology, HxbConfig.Rail rail) {
    String name = NodeFile.name(rail);
    String address = rail.device();
    String what = "pci " + address + ": ";
    if (!machine.exists(NodeFile.PCI + address)) {
      return Finding.failure(
          name,
          what + "there is no such device",
          "name one of \"lspci -D | grep -i ethernet\" as its device in " + file.path());
    }
    String vendor = machine.read(NodeFile.PCI + address + "/vendor");
    List<String> drivers = DRIVERS.getOrDefault(vendor, List.of());
    if (!drivers.isEmpty() && drivers.stream().noneMatch(d -> DpdkChecks.isThere(machine, d))) {
      return Finding.failure(
          name, what + "DPDK's driver " + drivers + " is not installed", DpdkChecks.INSTALL);
    }
    String kernel = machine.linkName(NodeFile.PCI + address + "/driver");
    if (vendor.equals(BESIDE_THE_KERNEL)) {
      return besideTheKernel(name, what, address, kernel, numaNode(topology, rail));
    }
    if (!NicChecks.isForUserSpace(kernel)) {
      return Finding.failure(
          name,
          what + (kernel.isEmpty() ? "bound to no driver" : "bound to " + kernel),
          "sudo modprobe vfio-pci && sudo dpdk-devbind.py --bind=vfio-pci " + address);
    }
    return rights(machine, name, what + kernel, address, numaNode(topology, rail));
  }

  private static Finding besideTheKernel(
      String name, String what, String address, String kernel, String numaNode) {
    return NicChecks.isForUserSpace(kernel)
        ? Finding.failure(
            name,
            what + "bound to " + kernel + ", but DPDK drives it beside the kernel's mlx5_core",
            "sudo dpdk-devbind.py --bind=mlx5_core " + address)
        : Finding.ok(name, what + kernel + ", which DPDK works beside" + numaNode);
  }

  /** Of a device that vfio hands out by its group. */
  private static Finding rights(
      Machine machine, String name, String what, String address, String numaNode) {
    String group = machine.linkName(NodeFile.PCI + address + "/iommu_group");
    if (!group.isEmpty() && NicChecks.isWithoutIommu(machine, group)) {
      return Finding.failure(name, what + ", but the IOMMU is off" + numaNode, NicChecks.SWITCH_ON);
    }
    String value = what + (group.isEmpty() ? "" : ", IOMMU group " + group) + numaNode;
    String entry = "/dev/vfio/" + group;
    if (!group.isEmpty() && !machine.isOpenToUs(entry)) {
      return Finding.failure(
          name,
          value + "; this user may not open " + entry,
          "sudo chown \"$(id -un)\" " + entry + " (until it is bound again; for good by udev)");
    }
    return Finding.ok(name, value);
  }
}
