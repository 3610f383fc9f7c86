package org.pmhxb.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.pmhxb.router.ConfigException;
import org.pmhxb.router.HxbConfig;

/** A node's file against a machine that is a few files in a directory. */
class NodeDoctorTest extends FakeMachine {
  private static final String CPU = "sys/devices/system/cpu/";
  private static final String NODES = "sys/devices/system/node/";
  private static final String NET = "sys/class/net/";
  private static final String PCI = "sys/bus/pci/devices/";
  private static final String LIB = "usr/lib/x86_64-linux-gnu/";
  private static final Path PATH = Path.of("/etc/hxb/node.toml");

  private static final String HEAD =
      """
      key = "lattice"
      shape = "2"
      coordinates = [0]
      """;

  /** A card of the kernel's, up, with jumbo frames and a cable. */
  private void nic(String name, int numaNode) {
    file(NET + name + "/flags", "0x1003");
    file(NET + name + "/mtu", "9000");
    file(NET + name + "/carrier", "1");
    file(NET + name + "/speed", "25000");
    file(NET + name + "/device/numa_node", "" + numaNode);
  }

  /** A card at vfio-pci. */
  private void card(String address, String vendor) {
    file(PCI + address + "/vendor", vendor);
    file(PCI + address + "/numa_node", "1");
    link(PCI + address + "/driver", "../../../bus/pci/drivers/vfio-pci");
    link(PCI + address + "/iommu_group", "../../../kernel/iommu_groups/12");
    file("dev/vfio/12", "");
    file(LIB + "librte_net_ice.so.23", "");
  }

  /** Two sockets of 16 cores with two threads each, numbered as Linux does. */
  private void twoSockets() {
    file(CPU + "online", "0-63");
    file(NODES + "node0/cpulist", "0-15,32-47");
    file(NODES + "node1/cpulist", "16-31,48-63");
    for (int cpu = 0; cpu < 64; cpu++) {
      file(CPU + "cpu" + cpu + "/topology/thread_siblings_list", cpu % 32 + "," + (cpu % 32 + 32));
    }
  }

  private static String rails(String driver, String... devices) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < devices.length; i++) {
      text.append(
          "\n[[rail]]\ndimension = \"x\"\nindex = %d\ndriver = \"%s\"\ndevice = \"%s\"\n"
              .formatted(i, driver, devices[i]));
    }
    return text.toString();
  }

  private static NodeFile node(String text) {
    return new NodeFile(PATH, HxbConfig.parse(PATH.toString(), text));
  }

  private Finding find(String text, String name) {
    NodeFile file = node(text);
    return Stream.of(
            new MemoryChecks(file),
            new NicChecks(file),
            new RailChecks(file),
            new NodeChecks(file),
            new CpuChecks(file))
        .flatMap(check -> check.examine(machine).stream())
        .peek(f -> assertThat(f.remedy() == null).as(f.name()).isEqualTo(f.status() == Status.OK))
        .filter(f -> f.name().equals(name))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no finding named " + name));
  }

  @Test
  void anInterfaceThatIsFitIsToldWithItsSpeedAndPlace() {
    nic("eth1", 1);
    assertThat(find(HEAD + rails("packet", "eth1"), "rail x0"))
        .isEqualTo(Finding.ok("rail x0", "packet eth1: up, 25000 Mbit/s, MTU 9000, NUMA node 1"));
  }

  @Test
  void anInterfaceThatIsNotThereIsAFailure() {
    Finding found = find(HEAD + rails("packet", "eth7"), "rail x0");
    assertThat(found.status()).isEqualTo(Status.FAILURE);
    assertThat(found.value()).isEqualTo("packet eth7: there is no such interface");
    assertThat(found.remedy()).contains("ip -br link", PATH.toString());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          0x1002 | 9000 | 1 | FAILURE | down, 25000 Mbit/s, MTU 9000 | sudo ip link set dev eth1 up
          0x1003 | 1500 | 1 | FAILURE | MTU 1500; the file's mtu is 9000 | sudo ip link set dev eth1 up mtu 9000, and the switch's port
          0x1002 | 1500 | 1 | FAILURE | down, 25000 Mbit/s, MTU 1500; | sudo ip link set dev eth1 up mtu 9000, and the switch's port
          0x1003 | 9000 | 0 | WARNING | MTU 9000, no carrier | look at the cable
          0x9    | 9216 | 1 | WARNING | it is the loopback | name one of
          0x1003 | 9216 | 1 | OK      | MTU 9216 |
          """)
  void anInterfaceThatIsDownOrShortOrWithoutCarrierIsTold(
      String flags, int mtu, int carrier, Status status, String value, String remedy) {
    file(NET + "eth1/flags", flags);
    file(NET + "eth1/mtu", "" + mtu);
    file(NET + "eth1/carrier", "" + carrier);
    file(NET + "eth1/speed", "25000");
    Finding found = find(HEAD + rails("packet", "eth1"), "rail x0");
    assertThat(found.status()).isEqualTo(status);
    assertThat(found.value()).contains(value);
    if (remedy != null) {
      assertThat(found.remedy()).startsWith(remedy);
    }
  }

  @Test
  void aSmallerMtuOfTheFileIsEnough() {
    nic("eth1", -1);
    file(NET + "eth1/mtu", "1500");
    assertThat(find("mtu = 1500\n" + HEAD + rails("packet", "eth1"), "rail x0"))
        .isEqualTo(Finding.ok("rail x0", "packet eth1: up, 25000 Mbit/s, MTU 1500"));
  }

  @Test
  void aCardAtVfioWithItsGroupIsFit() {
    card("0000:01:00.0", "0x8086");
    assertThat(find(HEAD + rails("pci", "0000:01:00.0"), "rail x0"))
        .isEqualTo(
            Finding.ok("rail x0", "pci 0000:01:00.0: vfio-pci, IOMMU group 12, NUMA node 1"));
  }

  @Test
  void whatACardLacksIsNamedWithItsMend() throws IOException {
    String file = HEAD + rails("pci", "0000:01:00.0");
    assertThat(find(file, "rail x0").value()).endsWith("there is no such device");
    card("0000:01:00.0", "0x8086");
    link(PCI + "0000:01:00.0/driver", "../../../bus/pci/drivers/ice");
    assertThat(find(file, "rail x0").value()).endsWith("bound to ice");
    assertThat(find(file, "rail x0").remedy())
        .endsWith("dpdk-devbind.py --bind=vfio-pci 0000:01:00.0");
    card("0000:01:00.0", "0x8086");
    Files.delete(root.resolve("dev/vfio/12"));
    assertThat(find(file, "rail x0").value()).endsWith("this user may not open /dev/vfio/12");
    Files.delete(root.resolve(LIB + "librte_net_ice.so.23"));
    assertThat(find(file, "rail x0").value()).contains("net_ice", "is not installed");
    assertThat(find(file, "rail x0").remedy()).isEqualTo(DpdkChecks.INSTALL);
  }

  /** Its file in /dev/vfio has another name then, and to own that would not help. */
  @Test
  void aCardAtVfioWithoutAnIommuAsksForTheIommu() throws IOException {
    card("0000:01:00.0", "0x8086");
    file(PCI + "0000:01:00.0/class", "0x020000");
    file("sys/kernel/iommu_groups/12/name", "vfio-noiommu");
    Files.move(root.resolve("dev/vfio/12"), root.resolve("dev/vfio/noiommu-12"));
    String file = HEAD + rails("pci", "0000:01:00.0");
    assertThat(find(file, "rail x0"))
        .isEqualTo(
            Finding.failure(
                "rail x0",
                "pci 0000:01:00.0: vfio-pci, but the IOMMU is off, NUMA node 1",
                NicChecks.SWITCH_ON));
    assertThat(find(file, "iommu").status()).isEqualTo(Status.WARNING);
  }

  /** DPDK's port has the long name, and a node asks for it by that. */
  @Test
  void anAddressIsReadAsDpdkWritesIt() {
    card("0000:0a:00.0", "0x8086");
    for (String other : List.of("0a:00.0", "0000:0A:00.0")) {
      Finding found = find(HEAD + rails("pci", other), "rail x0");
      assertThat(found.status()).isEqualTo(Status.OK);
      assertThat(found.value()).startsWith("pci 0000:0a:00.0: ");
    }
  }

  @Test
  void cardsThatDpdkDrivesBesideTheKernelStayWithIt() {
    card("0000:01:00.0", "0x15b3");
    file(LIB + "librte_net_mlx5.so.23", "");
    String file = HEAD + rails("pci", "0000:01:00.0");
    assertThat(find(file, "rail x0").remedy()).contains("--bind=mlx5_core 0000:01:00.0");
    link(PCI + "0000:01:00.0/driver", "../../../bus/pci/drivers/mlx5_core");
    assertThat(find(file, "rail x0").status()).isEqualTo(Status.OK);
  }

  @Test
  void aLineOfSharedMemoryNeedsNoNic() {
    String line = "socket = \"l0\"\nrole = \"server\"\n";
    String file = HEAD + rails("shm", "shm0") + line;
    assertThat(find(file, "rail x0").value()).isEqualTo("shm l0, server: needs no NIC");
    assertThat(find(file, "capabilities")).isEqualTo(Finding.ok("capabilities", "none needed"));
  }

  @ParameterizedTest
  @CsvSource({
    "packet,    0000000000000000, 'missing CAP_NET_RAW',                +net_raw",
    "packet,    0000000000002000, CAP_NET_RAW,",
    "af_packet, 0000000000002000, missing CAP_NET_ADMIN,                +net_admin",
    "af_packet, 0000000000000000, 'missing CAP_NET_RAW, CAP_NET_ADMIN', '+net_raw,+net_admin'",
    "af_packet, 0000000000003000, 'CAP_NET_RAW, CAP_NET_ADMIN',",
    "pci,       0000000000000000, none needed,"
  })
  void theRightsAreThoseOfTheDriver(String driver, String has, String value, String ambient) {
    file("proc/self/status", "CapEff:\t" + has);
    String device = driver.equals("pci") ? "0000:01:00.0" : "eth1";
    Finding found = find(HEAD + rails(driver, device), "capabilities");
    assertThat(found.value()).isEqualTo(value);
    assertThat(found.status()).isEqualTo(ambient == null ? Status.OK : Status.FAILURE);
    if (ambient != null) {
      assertThat(found.remedy()).contains("--ambient-caps=" + ambient + " hxb", "docs/DEPLOY.md");
    }
  }

  @Test
  void cardsOfTheNodesOwnNeedLockedMemory() {
    String file = HEAD + rails("pci", "0000:01:00.0");
    file("proc/self/limits", "Max locked memory         65536     65536     bytes");
    assertThat(find(file, "locked memory").status()).isEqualTo(Status.FAILURE);
    assertThat(find(file, "locked memory").value())
        .startsWith("65536 bytes; the NICs are to reach");
    file("proc/self/limits", "Max locked memory         unlimited unlimited bytes");
    assertThat(find(file, "locked memory").value()).isEqualTo("unlimited");
    file("proc/self/limits", "Max locked memory         999999999 999999999 bytes");
    assertThat(find(file, "locked memory").status()).isEqualTo(Status.OK);
    file("proc/self/limits", "Max locked memory         65536     65536     bytes");
    file("proc/self/status", "CapEff:\t0000000000004000");
    assertThat(find(file, "locked memory").status()).isEqualTo(Status.OK);
  }

  @Test
  void hugepagesAreCountedForThisNodesPool() {
    String pages = "sys/kernel/mm/hugepages/hugepages-2048kB/";
    String file = HEAD + rails("packet", "eth1");
    NodeFile node = node(file);
    long wanted = node.poolPages() + NodeFile.heapPages();
    assertThat(node.poolBytes()).isBetween(10_000_000L, 100_000_000L);
    file(pages + "nr_hugepages", "1000");
    file(pages + "free_hugepages", "" + wanted);
    assertThat(find(file, "hugepages"))
        .isEqualTo(
            Finding.ok(
                "hugepages",
                "1000 reserved, %d free, %d wanted (2 MB each; the node's pool %d, DPDK 64)"
                    .formatted(wanted, wanted, node.poolPages())));
    file(pages + "resv_hugepages", "2");
    assertThat(find(file, "hugepages").value())
        .as("promised to who has mapped them")
        .contains(" %d free, ".formatted(wanted - 2));
    assertThat(find(file, "hugepages").remedy()).isEqualTo("sudo sysctl vm.nr_hugepages=1002");
    file(pages + "resv_hugepages", "0");
    file(pages + "free_hugepages", "" + (wanted - 3));
    assertThat(find(file, "hugepages").status()).isEqualTo(Status.WARNING);
    assertThat(find(file, "hugepages").remedy()).isEqualTo("sudo sysctl vm.nr_hugepages=1003");
    String required = file + "\n[pool]\nhugepages = \"require\"\n";
    assertThat(find(required, "hugepages").status()).isEqualTo(Status.FAILURE);
    assertThat(find(required.replace("require", "never"), "hugepages").status())
        .isEqualTo(Status.OK);
    assertThat(node(file + "\n[pool]\nbuffers = 1000000\n").poolPages()).isEqualTo(4_944);
  }

  @Test
  void onTwoSocketsThePollersProcessorIsOneOfTheNics() {
    twoSockets();
    nic("eth1", 1);
    String file = HEAD + rails("packet", "eth1");
    assertThat(find(file, "numa").value()).isEqualTo("x0 at node 1; poll.cpu is not set");
    assertThat(find(file, "numa").remedy())
        .isEqualTo(
            "cpu = 63 under [poll] in /etc/hxb/node.toml, and start it by: numactl --cpunodebind=1"
                + " --membind=1 hxb node ...");
    assertThat(find(file, "cpu isolation").remedy())
        .contains("isolcpus=31,63 nohz_full=31,63 rcu_nocbs=31,63 ")
        .endsWith("cpu = 63 under [poll] in /etc/hxb/node.toml");
    String far = file + "\n[poll]\ncpu = 15\n";
    assertThat(find(far, "numa").value()).isEqualTo("x0 at node 1; poll.cpu at node 0");
    assertThat(find(far, "numa").status()).isEqualTo(Status.WARNING);
    assertThat(find(far, "cpu isolation").remedy()).contains("isolcpus=15,47 ", "cpu = 15 ");
    assertThat(find(far.replace("15", "20"), "numa").status()).isEqualTo(Status.OK);
    Finding none = find(far.replace("15", "64"), "numa");
    assertThat(none.status()).isEqualTo(Status.FAILURE);
    assertThat(none.remedy()).isEqualTo("cpu = 63 under [poll] in /etc/hxb/node.toml");
  }

  @Test
  void aProcessorThatThisProcessMayNotUseIsTold() {
    twoSockets();
    nic("eth1", 1);
    file("proc/self/cgroup", "0::/system.slice/hxb.service");
    file("sys/fs/cgroup/system.slice/cpuset.cpus.effective", "0-3,63");
    // As isolcpus and taskset have it, which keep nobody from pinning itself.
    file("proc/self/status", "CapEff:\t0000000000002000\nCpus_allowed_list:\t0-1");
    String file = HEAD + rails("packet", "eth1") + "\n[poll]\ncpu = ";
    Finding found = find(file + "15\n", "numa");
    assertThat(found.status()).isEqualTo(Status.WARNING);
    assertThat(found.value()).startsWith("poll.cpu is 15, which this process may not use");
    assertThat(found.remedy())
        .startsWith("one of [0, 1, 2, 3, 63], or more of them for its cgroup: ");
    assertThat(find(file + "63\n", "numa").status()).isEqualTo(Status.OK);
    file("sys/fs/cgroup/system.slice/hxb.service/cpuset.cpus.effective", "0-63");
    assertThat(find(file + "15\n", "numa").value())
        .as("of its own group")
        .startsWith("x0 at node 1; poll.cpu at node 0");
    file("sys/fs/cgroup/cpuset.cpus.effective", "0-3");
    file("proc/self/cgroup", "0::/../other.slice");
    assertThat(find(file + "15\n", "numa").value())
        .as("of a group outside of this namespace's nothing is known")
        .startsWith("x0 at node 1; poll.cpu at node 0");
  }

  /** The node would refuse it. */
  @Test
  void aPoolTooSmallForItsUsesIsRefused() throws IOException {
    Path path = root.resolve("node.toml");
    Files.writeString(path, HEAD + rails("packet", "eth1") + "\n[pool]\nbuffers = 64\n");
    assertThatThrownBy(() -> NodeFile.read(path))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("pool.buffers = 64: the sum of its uses is ");
  }

  @Test
  void nicsOfTwoSocketsAreToldRailByRail() {
    twoSockets();
    nic("eth0", 0);
    nic("eth1", 1);
    nic("eth2", 1);
    String file = HEAD + rails("packet", "eth0", "eth1", "eth2") + "\n[poll]\ncpu = 63\n";
    assertThat(find(file, "numa").value())
        .isEqualTo("x0 at node 0; x1, x2 at node 1; poll.cpu at node 1");
    assertThat(find(file, "numa").remedy()).startsWith("put the NICs into slots of one node");
  }

  @Test
  void pagesAreWantedAtTheNodeOfTheNics() {
    twoSockets();
    nic("eth1", 1);
    String pages = NODES + "node1/hugepages/hugepages-2048kB/";
    String file = HEAD + rails("packet", "eth1") + "\n[poll]\ncpu = 63\n";
    long wanted = node(file).poolPages();
    file(pages + "nr_hugepages", "2");
    file(pages + "free_hugepages", "1");
    assertThat(find(file, "hugepages of node 1").remedy())
        .isEqualTo("echo %d | sudo tee /%snr_hugepages".formatted(wanted + 1, pages));
    file(pages + "free_hugepages", "" + wanted);
    assertThat(find(file, "hugepages of node 1").status()).isEqualTo(Status.OK);
  }

  /** A container may hide one file and show the other. */
  @Test
  void isolatedProcessorsAreToldWhereNobodyTellsWhichAreOnline() {
    file(CPU + "isolated", "6-7");
    String file = HEAD + rails("packet", "eth1");
    assertThat(find(file, "cpu isolation").remedy()).startsWith("cpu = 7 under [poll] in ");
  }

  @Test
  void isolatedProcessorsAreForThreadsThatAskForThem() {
    file(CPU + "online", "0-7");
    file(CPU + "isolated", "6-7");
    String file = HEAD + rails("packet", "eth1");
    assertThat(find(file, "numa").value()).isEqualTo("one node");
    assertThat(find(file, "cpu isolation").value())
        .isEqualTo("6-7, but poll.cpu is -1: the poll thread does not run there");
    assertThat(find(file, "cpu isolation").remedy()).startsWith("cpu = 7 under [poll] in ");
    assertThat(find(file + "\n[poll]\ncpu = 6\n", "cpu isolation").status()).isEqualTo(Status.OK);
  }

  @Test
  void theKeyIsReadableByItsOwnerAlone() throws IOException {
    String file = "key-file = \"/etc/hxb/key\"\n" + HEAD + rails("packet", "eth1");
    assertThat(find(HEAD + rails("packet", "eth1"), "key file").status()).isEqualTo(Status.OK);
    assertThat(find(file, "key file").remedy()).contains("openssl rand -hex 16 > /etc/hxb/key");
    file("etc/hxb/key", "00112233445566778899aabbccddeeff");
    Path key = root.resolve("etc/hxb/key");
    Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-r-----"));
    assertThat(find(file, "key file").status()).isEqualTo(Status.FAILURE);
    assertThat(find(file, "key file").value()).contains("others may read the key");
    assertThat(find(file, "key file").remedy()).endsWith("chmod 600 /etc/hxb/key");
    Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
    assertThat(find(file, "key file"))
        .isEqualTo(Finding.ok("key file", "/etc/hxb/key, readable by its owner alone"));
    file("etc/hxb/key", "short");
    assertThat(find(file, "key file").value()).contains("32 hexadecimal digits");
  }

  @Test
  void theSocketsFolderIsThere() throws IOException {
    String file = "control-socket = \"/run/hxb/node.sock\"\n" + HEAD + rails("packet", "eth1");
    assertThat(find(HEAD + rails("packet", "eth1"), "control socket").status())
        .isEqualTo(Status.OK);
    assertThat(find(file, "control socket").status()).isEqualTo(Status.FAILURE);
    assertThat(find(file, "control socket").remedy()).startsWith("sudo install -d -o ");
    Files.createDirectories(root.resolve("run/hxb"));
    assertThat(find(file, "control socket"))
        .isEqualTo(Finding.ok("control socket", "/run/hxb/node.sock"));
    file("run/hxb/node.sock", "text");
    assertThat(find(file, "control socket").status()).isEqualTo(Status.FAILURE);
    assertThat(find(file, "control socket").value()).contains("is no socket");
  }
}
