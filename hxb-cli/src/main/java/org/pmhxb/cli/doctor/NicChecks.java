package org.pmhxb.cli.doctor;

import java.util.ArrayList;
import java.util.List;
import org.pmhxb.cli.Words;
import org.pmhxb.router.HxbConfig;

/** Network cards, who drives each, and the IOMMU that the pci fabric wants. */
final class NicChecks implements Check {
  private static final String NET = "/sys/class/net";
  private static final String PCI = "/sys/bus/pci/devices";
  private static final String GROUPS = "/sys/kernel/iommu_groups";

  /** By it vfio hands out the device of a group that it made up, given its number. */
  private static final String WITHOUT_IOMMU = "/dev/vfio/noiommu-";

  static final String SWITCH_ON =
      "switch VT-d (Intel) or AMD-Vi on in the firmware's setup, add intel_iommu=on iommu=pt (Intel)"
          + " or iommu=pt (AMD) to GRUB_CMDLINE_LINUX in /etc/default/grub, then: sudo update-grub"
          + " && sudo reboot";

  /** PCI class 02: network controller. */
  private static final String NETWORK_CLASS = "0x02";

  /** Whether a node is looked at that drives none of them itself. */
  private final boolean kernelsOnly;

  NicChecks() {
    this.kernelsOnly = false;
  }

  NicChecks(NodeFile file) {
    this.kernelsOnly = !file.uses(HxbConfig.Driver.PCI);
  }

  @Override
  public List<Finding> examine(Machine machine) {
    List<String> kernel = kernelNics(machine);
    List<String> bypass = bypassNics(machine);
    List<String> all = new ArrayList<>(bypass);
    all.addAll(kernel);
    String value =
        all.isEmpty()
            ? "none (the ring, shm, memif and veth fabrics need none)"
            : String.join("; ", all);
    Finding nics = Finding.ok("nics", value);
    return kernelsOnly ? List.of(nics) : List.of(nics, iommu(machine, !bypass.isEmpty()));
  }

  private static List<String> kernelNics(Machine machine) {
    List<String> nics = new ArrayList<>();
    for (String nic : machine.list(NET, "*")) {
      String at = NET + "/" + nic;
      if (!machine.exists(at + "/device")) {
        continue; // a bridge, a veth end, the loopback: no card behind it
      }
      String driver = machine.linkName(at + "/device/driver");
      nics.add(
          "%s (kernel driver %s, %s%s, MTU %s)"
              .formatted(
                  nic,
                  driver.isEmpty() ? "unknown" : driver,
                  machine.read(at + "/operstate"),
                  speed(machine, at),
                  machine.read(at + "/mtu")));
    }
    return nics;
  }

  /** Behind a comma; empty where the interface tells none, as one that is down. */
  static String speed(Machine machine, String interfaceDirectory) {
    long mbitPerSecond = machine.number(interfaceDirectory + "/speed", -1);
    return mbitPerSecond > 0 ? ", " + mbitPerSecond + " Mbit/s" : "";
  }

  /** Network cards that a user-space driver may open. */
  private static List<String> bypassNics(Machine machine) {
    List<String> nics = new ArrayList<>();
    for (String device : machine.list(PCI, "*")) {
      String driver = machine.linkName(PCI + "/" + device + "/driver");
      boolean network = machine.read(PCI + "/" + device + "/class").startsWith(NETWORK_CLASS);
      if (network && isForUserSpace(driver)) {
        nics.add(device + " (bound to " + driver + ")");
      }
    }
    return nics;
  }

  /** Kernel drivers that do nothing but hand a device to a process. */
  static boolean isForUserSpace(String driver) {
    return driver.equals("vfio-pci") || driver.startsWith("uio_") || driver.equals("igb_uio");
  }

  /** Whether vfio made up a group for a device that is behind no IOMMU. */
  static boolean isWithoutIommu(Machine machine, String group) {
    return machine.exists(WITHOUT_IOMMU + group)
        || machine.read(GROUPS + "/" + group + "/name").equals("vfio-noiommu");
  }

  private static Finding iommu(Machine machine, boolean needed) {
    long groups =
        machine.list(GROUPS, "*").stream().filter(group -> !isWithoutIommu(machine, group)).count();
    if (groups > 0) {
      return Finding.ok("iommu", Words.count(groups, "group"));
    }
    String value = needed ? "off, yet a card is bound for user space" : "off; only the pci fabric";
    return Finding.warning("iommu", needed ? value : value + " needs it", SWITCH_ON);
  }
}
