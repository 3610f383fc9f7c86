package org.pmhxb.cli.doctor;

import java.util.ArrayList;
import java.util.List;

/** Network cards, who drives each, and the IOMMU that the pci fabric wants. */
final class NicChecks implements Check {
  private static final String NET = "/sys/class/net";
  private static final String PCI = "/sys/bus/pci/devices";

  /** PCI class 02: network controller. */
  private static final String NETWORK_CLASS = "0x02";

  @Override
  public List<Finding> examine(Machine machine) {
    List<String> kernel = kernelNics(machine);
    List<String> bypass = bypassNics(machine);
    List<String> all = new ArrayList<>(bypass);
    all.addAll(kernel);
    String value =
        all.isEmpty()
            ? "none (the ring, memif and veth fabrics need none)"
            : String.join("; ", all);
    return List.of(Finding.ok("nics", value), iommu(machine, !bypass.isEmpty()));
  }

  private static List<String> kernelNics(Machine machine) {
    List<String> nics = new ArrayList<>();
    for (String nic : machine.list(NET, "*")) {
      String at = NET + "/" + nic;
      if (!machine.exists(at + "/device")) {
        continue; // a bridge, a veth end, the loopback: no card behind it
      }
      String driver = machine.linkName(at + "/device/driver");
      long mbitPerSecond = machine.number(at + "/speed", -1); // -1 also where the link is down
      String speed = mbitPerSecond > 0 ? ", " + mbitPerSecond + " Mbit/s" : "";
      nics.add(
          "%s (kernel driver %s, %s%s, MTU %s)"
              .formatted(
                  nic,
                  driver.isEmpty() ? "unknown" : driver,
                  machine.read(at + "/operstate"),
                  speed,
                  machine.read(at + "/mtu")));
    }
    return nics;
  }

  /** Network cards that a user-space driver may open. */
  private static List<String> bypassNics(Machine machine) {
    List<String> nics = new ArrayList<>();
    for (String device : machine.list(PCI, "*")) {
      String driver = machine.linkName(PCI + "/" + device + "/driver");
      boolean network = machine.read(PCI + "/" + device + "/class").startsWith(NETWORK_CLASS);
      if (network && (driver.equals("vfio-pci") || driver.startsWith("uio_"))) {
        nics.add(device + " (bound to " + driver + ")");
      }
    }
    return nics;
  }

  private static Finding iommu(Machine machine, boolean needed) {
    int groups = machine.list("/sys/kernel/iommu_groups", "*").size();
    if (groups > 0) {
      return Finding.ok("iommu", groups + " groups");
    }
    String remedy =
        "add intel_iommu=on iommu=pt (Intel) or iommu=pt (AMD) to GRUB_CMDLINE_LINUX in"
            + " /etc/default/grub, then: sudo update-grub && sudo reboot";
    String value = needed ? "off, yet a card is bound for user space" : "off; only the pci fabric";
    return Finding.warning("iommu", needed ? value : value + " needs it", remedy);
  }
}
