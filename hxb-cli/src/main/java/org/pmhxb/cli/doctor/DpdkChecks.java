package org.pmhxb.cli.doctor;

import java.util.ArrayList;
import java.util.List;

/**
 * DPDK as the distribution installed it: version, and the drivers of the fabrics. An installation
 * builds nothing, so it needs no headers; which libraries it needs is a finding of {@link
 * JvmChecks}.
 */
final class DpdkChecks implements Check {
  static final String INSTALL = "sudo apt-get install libdpdk-dev";
  private static final String INSTALL_LIBRARIES =
      "install the packages that \"native library\" names";
  private static final String EAL = "librte_eal.so.";

  /** Where Debian, Fedora and a build from source put shared libraries. */
  private static final List<String> LIBRARY_ROOTS = List.of("/usr/lib", "/usr/local/lib");

  private final boolean installation;

  DpdkChecks(boolean installation) {
    this.installation = installation;
  }

  private String remedy() {
    return installation ? INSTALL_LIBRARIES : INSTALL;
  }

  @Override
  public List<Finding> examine(Machine machine) {
    List<String> directories = libraryDirectories(machine);
    return List.of(version(machine, directories), drivers(machine, directories));
  }

  private static List<String> libraryDirectories(Machine machine) {
    List<String> directories = new ArrayList<>();
    for (String libraryRoot : LIBRARY_ROOTS) {
      directories.add(libraryRoot);
      machine.list(libraryRoot, "*-linux-gnu").forEach(d -> directories.add(libraryRoot + "/" + d));
      directories.add(libraryRoot + "64");
    }
    return directories;
  }

  private Finding version(Machine machine, List<String> directories) {
    List<String> abis = new ArrayList<>();
    String built = "";
    for (String directory : directories) {
      for (String library : machine.list(directory, EAL + "*")) {
        String abi = library.substring(EAL.length());
        if (!abi.contains(".")) { // librte_eal.so.23, not librte_eal.so.23.0 behind it
          abis.add(abi);
        }
      }
      if (built.isEmpty()) {
        built = machine.field(directory + "/pkgconfig/libdpdk.pc", "Version");
      }
    }
    if (abis.isEmpty()) {
      return Finding.failure("dpdk", "no librte_eal in " + directories, remedy());
    }
    if (installation) {
      return Finding.ok("dpdk", "libraries of ABI " + String.join(", ", abis));
    }
    if (built.isEmpty()) {
      return Finding.warning(
          "dpdk", "libraries of ABI " + abis + ", but no headers to build against", INSTALL);
    }
    if (abis.size() > 1) {
      return Finding.warning(
          "dpdk",
          built + "; libraries of several versions, ABI " + abis,
          "remove those that are not of " + built);
    }
    return Finding.ok("dpdk", built + ", ABI " + abis.getFirst());
  }

  private Finding drivers(Machine machine, List<String> directories) {
    List<String> found = new ArrayList<>();
    List<String> missing = new ArrayList<>();
    for (String driver : List.of("mempool_ring", "net_ring", "net_af_packet")) {
      (isThere(machine, directories, driver) ? found : missing).add(driver);
    }
    return missing.isEmpty()
        ? Finding.ok("dpdk drivers", String.join(", ", found))
        : Finding.failure("dpdk drivers", "missing: " + String.join(", ", missing), remedy());
  }

  /** Whether a driver's library is installed, as in {@code net_ice}. */
  static boolean isThere(Machine machine, String driver) {
    return isThere(machine, libraryDirectories(machine), driver);
  }

  private static boolean isThere(Machine machine, List<String> directories, String driver) {
    return directories.stream()
        .anyMatch(d -> !machine.list(d, "librte_" + driver + ".so*").isEmpty());
  }
}
