package org.pmhxb.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each check against a machine that is a few files in a directory. */
class DoctorTest extends FakeMachine {
  private static final String PAGES = "sys/kernel/mm/hugepages/hugepages-2048kB/";
  private static final String CPU = "sys/devices/system/cpu/";
  private static final String LIB = "usr/lib/x86_64-linux-gnu/";

  private Finding find(Check check, String name) {
    return check.examine(machine).stream()
        .filter(f -> f.name().equals(name))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no finding named " + name));
  }

  private void debian12() {
    for (String library : List.of("eal", "mempool_ring", "net_ring", "net_af_packet")) {
      file(LIB + "librte_" + library + ".so.23", "");
      file(LIB + "librte_" + library + ".so.23.0", "");
    }
    file(LIB + "pkgconfig/libdpdk.pc", "Name: DPDK\nVersion: 22.11.11");
  }

  @Test
  void everyMachineGetsAllFindingsAndEachThatIsNotOkHasARemedy() {
    List<Check> checks =
        List.of(
            new DpdkChecks(false),
            new MemoryChecks(8),
            new PermissionChecks(),
            new NicChecks(),
            new CpuChecks(),
            new VethChecks());
    for (Check check : checks) {
      assertThat(check.examine(machine))
          .isNotEmpty()
          .allSatisfy(
              f -> assertThat(f.remedy() != null).as(f.name()).isEqualTo(f.status() != Status.OK));
    }
  }

  @Test
  void jdkOlderFailsNewerWarns() {
    assertThat(JvmChecks.jdk(Runtime.Version.parse("25.0.3")).status()).isEqualTo(Status.OK);
    assertThat(JvmChecks.jdk(Runtime.Version.parse("21")).status()).isEqualTo(Status.FAILURE);
    assertThat(JvmChecks.jdk(Runtime.Version.parse("26")).status()).isEqualTo(Status.WARNING);
  }

  @Test
  void testsRunWithTheFlagsOfTheProject() {
    assertThat(find(new JvmChecks(root, false), "jvm flags").value()).contains("granted");
    assertThat(JvmChecks.flags(List.of("--x")).status()).isEqualTo(Status.FAILURE);
  }

  @Test
  void nativeLibraryIsLookedForWhereTheBuildPutsIt() {
    assertThat(find(new JvmChecks(root, false), "native library").remedy())
        .isEqualTo("./hxb build");
    file("libpmhxb.so", "");
    assertThat(find(new JvmChecks(root, false), "native library").status()).isEqualTo(Status.OK);
  }

  @Test
  void whatTheLauncherFoundMissingForTheLibraryIsAFailure() {
    Finding lacking = new JvmChecks(root, true).library("it needs librte_eal.so.23");
    assertThat(lacking.status()).isEqualTo(Status.FAILURE);
    assertThat(lacking.value()).isEqualTo("it needs librte_eal.so.23");
  }

  /** What a JVM does not take it does not map, and does not say so. */
  @Test
  void anArchiveThatTheJvmDoesNotUseWarns() throws IOException {
    JvmChecks checks = new JvmChecks(root, false);
    assertThat(checks.archive(List.of("-Xmx1g"), "").value()).startsWith("none was named");
    Path file = root.toRealPath().resolve("hxb.aot");
    List<String> flags = List.of("-XX:AOTCache=" + file);
    assertThat(checks.archive(flags, "").value()).contains(file + " is not there");
    file("hxb.aot", "");
    Finding unused = checks.archive(flags, "7f00-7f01 r--p 0 08:01 5   " + file + ".old");
    assertThat(unused.status()).isEqualTo(Status.WARNING);
    assertThat(unused.value()).contains("not of this JDK or not of these jars");
    assertThat(unused.remedy()).isEqualTo("./hxb clean && ./hxb build");
    assertThat(new JvmChecks(root, true).archive(flags, "").remedy()).contains("HXB_ARCHIVE");
    Finding used = checks.archive(flags, "7f00-7f01 r--p 0 08:01 5   " + file);
    assertThat(used).isEqualTo(Finding.ok("rehearsal archive", file.toString()));
  }

  /** It builds nothing: libraries are enough. */
  @Test
  void anInstallationNeedsNoHeadersOfDpdk() throws IOException {
    debian12();
    Files.delete(root.resolve(LIB + "pkgconfig/libdpdk.pc"));
    assertThat(find(new DpdkChecks(true), "dpdk"))
        .isEqualTo(Finding.ok("dpdk", "libraries of ABI 23"));
    Files.delete(root.resolve(LIB + "librte_net_ring.so.23"));
    Files.delete(root.resolve(LIB + "librte_net_ring.so.23.0"));
    assertThat(find(new DpdkChecks(true), "dpdk drivers").remedy()).contains("native library");
  }

  @Test
  void dpdkVersionAndDrivers() {
    assertThat(find(new DpdkChecks(false), "dpdk").status()).isEqualTo(Status.FAILURE);
    assertThat(find(new DpdkChecks(false), "dpdk drivers").value()).contains("net_af_packet");
    debian12();
    assertThat(find(new DpdkChecks(false), "dpdk").value()).isEqualTo("22.11.11, ABI 23");
    assertThat(find(new DpdkChecks(false), "dpdk drivers").status()).isEqualTo(Status.OK);
  }

  @Test
  void dpdkOfTwoVersionsOrWithoutHeadersWarns() throws IOException {
    debian12();
    file("usr/local/lib/librte_eal.so.25", "");
    assertThat(find(new DpdkChecks(false), "dpdk").value()).contains("23", "25");
    assertThat(find(new DpdkChecks(false), "dpdk").status()).isEqualTo(Status.WARNING);
    Files.delete(root.resolve(LIB + "pkgconfig/libdpdk.pc"));
    assertThat(find(new DpdkChecks(false), "dpdk").value()).contains("no headers");
  }

  @Test
  void tooFewHugepagesNameTheCountToReserve() {
    assertThat(find(new MemoryChecks(100), "hugepages").value()).contains("no 2 MB pages");
    file(PAGES + "nr_hugepages", "64");
    file(PAGES + "free_hugepages", "14");
    assertThat(find(new MemoryChecks(100), "hugepages").remedy())
        .isEqualTo("sudo sysctl vm.nr_hugepages=150");
    assertThat(find(new MemoryChecks(14), "hugepages").status()).isEqualTo(Status.OK);
  }

  @Test
  void transparentHugepagesAlwaysWarns() {
    file("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never");
    Finding always = find(new MemoryChecks(1), "transparent hugepages");
    assertThat(always.status()).isEqualTo(Status.WARNING);
    assertThat(always.value()).isEqualTo("always");
    file("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never");
    assertThat(find(new MemoryChecks(1), "transparent hugepages").status()).isEqualTo(Status.OK);
  }

  @Test
  void capabilitiesAreReadBitByBit() {
    file("proc/self/status", "Name:\tjava\nCapEff:\t0000000000201000");
    assertThat(find(new PermissionChecks(), "permissions").value())
        .startsWith("missing CAP_NET_RAW: ");
    assertThat(PermissionChecks.mayMakeFabrics(machine)).isFalse();
    file("proc/self/status", "CapEff:\t000001ffffffffff");
    assertThat(find(new PermissionChecks(), "permissions").status()).isEqualTo(Status.OK);
    assertThat(PermissionChecks.mayMakeFabrics(machine)).isTrue();
    file("proc/self/status", "CapEff:\t0000000000000000");
    assertThat(find(new PermissionChecks(), "permissions").value())
        .contains("no veth fabric", "a node with the driver packet CAP_NET_RAW alone");
    assertThat(find(new PermissionChecks(), "permissions").remedy())
        .contains("sudo hxb ...", "hxb doctor --config FILE");
  }

  /** As in a container: sudo mends nothing there, and need not be installed. */
  @Test
  void rootIsToldWhatRootCanDo() {
    file("proc/self/status", "Uid:\t0\t0\t0\t0\nCapEff:\t0000000000001000");
    assertThat(machine.isRoot()).isTrue();
    assertThat(find(new PermissionChecks(), "permissions").remedy())
        .startsWith(
            "for veth: start the container with --cap-add CAP_NET_RAW --cap-add CAP_SYS_ADM")
        .doesNotContain("sudo");
    file("proc/self/status", "Uid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000001000");
    assertThat(machine.isRoot()).isFalse();
    Finding finding = Finding.warning("a", "b", "sudo modprobe c && sudo d; e");
    assertThat(finding.forRoot()).isEqualTo(Finding.warning("a", "b", "modprobe c && d; e"));
    assertThat(Finding.ok("a", "b").forRoot()).isEqualTo(Finding.ok("a", "b"));
  }

  @Test
  void nicsOfKernelAndUserSpaceWithTheirDrivers() throws IOException {
    file("sys/class/net/lo/mtu", "65536");
    file("sys/class/net/eth0/mtu", "1500");
    file("sys/class/net/eth0/operstate", "up");
    file("sys/class/net/eth0/speed", "10000");
    Files.createDirectories(root.resolve("sys/bus/pci/drivers/ixgbe"));
    link("sys/class/net/eth0/device/driver", "../../../../bus/pci/drivers/ixgbe");
    file("sys/bus/pci/devices/0000:03:00.1/class", "0x020000");
    link("sys/bus/pci/devices/0000:03:00.1/driver", "../../../../bus/pci/drivers/vfio-pci");
    file("sys/bus/pci/devices/0000:00:1f.2/class", "0x010601");
    link("sys/bus/pci/devices/0000:00:1f.2/driver", "../../../../bus/pci/drivers/vfio-pci");
    assertThat(find(new NicChecks(), "nics").value())
        .isEqualTo(
            "0000:03:00.1 (bound to vfio-pci); eth0 (kernel driver ixgbe, up, 10000 Mbit/s, MTU 1500)");
    assertThat(find(new NicChecks(), "iommu").value()).contains("yet a card is bound");
    file("sys/kernel/iommu_groups/0/type", "DMA");
    assertThat(find(new NicChecks(), "iommu").value()).isEqualTo("1 group");
    file("sys/kernel/iommu_groups/1/type", "DMA");
    assertThat(find(new NicChecks(), "iommu").value()).isEqualTo("2 groups");
  }

  /** Where the kernel is told to do without, vfio makes groups up. */
  @Test
  void groupsThatVfioMadeUpAreNoIommu() {
    file("sys/bus/pci/devices/0000:03:00.1/class", "0x020000");
    link("sys/bus/pci/devices/0000:03:00.1/driver", "../../../../bus/pci/drivers/vfio-pci");
    file("sys/kernel/iommu_groups/0/name", "vfio-noiommu");
    file("sys/kernel/iommu_groups/1/type", "");
    file("dev/vfio/noiommu-1", "");
    Finding found = find(new NicChecks(), "iommu");
    assertThat(found.status()).isEqualTo(Status.WARNING);
    assertThat(found.value()).isEqualTo("off, yet a card is bound for user space");
    assertThat(found.remedy()).contains("VT-d", "intel_iommu=on");
    file("sys/kernel/iommu_groups/2/type", "DMA");
    assertThat(find(new NicChecks(), "iommu")).isEqualTo(Finding.ok("iommu", "1 group"));
  }

  @Test
  void coresIsolationGovernorAndClock() {
    file(CPU + "online", "0-5,8-9");
    assertThat(Topology.numbers("0-2,8-9\n")).containsExactly(0, 1, 2, 8, 9);
    assertThat(find(new CpuChecks(), "cores").value()).startsWith("8 online");
    assertThat(find(new CpuChecks(), "cpu isolation").remedy()).contains("isolcpus=8,9 ");
    file(CPU + "isolated", "2-5");
    assertThat(find(new CpuChecks(), "cpu isolation").value()).isEqualTo("2-5");
    file(CPU + "cpu0/cpufreq/scaling_governor", "performance");
    assertThat(find(new CpuChecks(), "cpu governor").status()).isEqualTo(Status.OK);
    file(CPU + "cpu1/cpufreq/scaling_governor", "powersave");
    assertThat(find(new CpuChecks(), "cpu governor").value()).isEqualTo("performance, powersave");
    file("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet");
    assertThat(find(new CpuChecks(), "clock source").status()).isEqualTo(Status.WARNING);
  }

  /** One poller needs one core: the rest stays everyone's, however many there are. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          0-1  | none, and too few cores for it |
          0-3  | 2,3   | 3
          0-63 | 62,63 | 63
          """)
  void theLastCoresOfTheMachineAreForThePollers(String online, String isolated, Integer poller) {
    file(CPU + "online", online);
    Finding found = find(new CpuChecks(), "cpu isolation");
    if (poller == null) {
      assertThat(found.value()).isEqualTo(isolated);
      assertThat(found.status()).isEqualTo(Status.OK);
    } else {
      assertThat(found.remedy())
          .contains(
              "isolcpus=%s nohz_full=%s rcu_nocbs=%s ".formatted(isolated, isolated, isolated))
          .endsWith("cpu = " + poller + " under [poll] in the node's file");
    }
  }

  @Test
  void theProcessorThatSharesThePollersCoreIsIsolatedWithIt() {
    file(CPU + "online", "0-7");
    file(CPU + "cpu7/topology/thread_siblings_list", "3,7");
    assertThat(find(new CpuChecks(), "cpu isolation").remedy())
        .contains("isolcpus=3,7 ", "cpu = 7 under [poll]");
  }

  @Test
  void namespacesAndShapingAreReadFromTheKernelsModules() {
    assertThat(find(new VethChecks(), "network namespaces").status()).isEqualTo(Status.WARNING);
    file("proc/self/ns/net", "");
    file("usr/sbin/ip", "");
    file("usr/sbin/tc", "");
    file("proc/sys/kernel/osrelease", "6.1.0");
    assertThat(find(new VethChecks(), "network namespaces").status()).isEqualTo(Status.OK);
    assertThat(find(new VethChecks(), "tc tbf").status()).isEqualTo(Status.WARNING);
    file("lib/modules/6.1.0/modules.dep", "kernel/net/sched/sch_tbf.ko.xz:");
    assertThat(find(new VethChecks(), "tc tbf").status()).isEqualTo(Status.OK);
    file("proc/sys/user/max_net_namespaces", "0");
    assertThat(find(new VethChecks(), "network namespaces").value()).contains("forbidden");
  }

  /** A folder that no user can list, as one without the right for it. */
  @Test
  void whatCannotBeReadIsNamedAndEndsNothing() {
    file("proc/self/status", "");
    file("sys/devices/system/cpu/online", "0");
    file("sys/kernel/mm/any", "");
    file("sys/class/net/any", "");
    ReadingChecks reading = new ReadingChecks();
    assertThat(reading.examine(machine)).isEmpty();
    link("sys/kernel/mm/transparent_hugepage/enabled", "enabled");
    link("sys/class/now", "now");

    find(new MemoryChecks(8), "transparent hugepages");
    assertThat(machine.list("/sys/class/now", "*")).isEmpty();
    assertThat(find(new NicChecks(), "nics").status()).isEqualTo(Status.OK);

    Finding files = find(reading, "files");
    assertThat(files.status()).isEqualTo(Status.WARNING);
    assertThat(files.value())
        .endsWith(": /sys/class/now, /sys/kernel/mm/transparent_hugepage/enabled");
    assertThat(files.remedy()).isEqualTo("sudo hxb doctor ...");
  }

  /** As in a container: nobody is to look for what its kernel has, but for who hides it. */
  @Test
  void whatIsHiddenIsNamed() {
    file("proc/self/status", "");
    file("sys/class/net/any", "");

    Finding files = find(new ReadingChecks(), "files");
    assertThat(files.status()).isEqualTo(Status.WARNING);
    assertThat(files.value())
        .contains("hidden")
        .endsWith(": /sys/devices/system/cpu/online, /sys/kernel/mm");
    assertThat(files.remedy()).contains("on the host");
  }

  @Test
  void coresThatNoFileTellsAreNotNone() {
    assertThat(find(new CpuChecks(), "cores"))
        .isEqualTo(Finding.ok("cores", "unknown: no /sys/devices/system/cpu/online"));
  }

  @Test
  void onlyFailuresMakeTheReportFail() {
    Finding warning = Finding.warning("a", "slow", "mend a");
    Finding failure = Finding.failure("b", "gone", "mend b");
    assertThat(DoctorReport.of(List.of(warning)).ok()).isTrue();
    DoctorReport report = DoctorReport.of(List.of(warning, failure));
    assertThat(report.ok()).isFalse();
    StringWriter text = new StringWriter();
    report.print(new PrintWriter(text, true));
    assertThat(text.toString()).contains("-> mend a", "-> mend b", "Failures");
  }
}
