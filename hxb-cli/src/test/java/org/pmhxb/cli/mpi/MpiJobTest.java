package org.pmhxb.cli.mpi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.pmhxb.cli.cluster.ClusterPaths;
import org.pmhxb.cli.veth.LinkRate;
import org.pmhxb.mpi.launch.Placement;
import org.pmhxb.router.HxbConfig;
import org.pmhxb.router.Shape;

class MpiJobTest {
  private static MpiJob job(
      MpiJob.Launcher launcher, MpiJob.Fabric fabric, int ranks, int rails, LinkRate rate) {
    return job(launcher, fabric, ranks, rails, rate, null);
  }

  private static MpiJob job(
      MpiJob.Launcher launcher,
      MpiJob.Fabric fabric,
      int ranks,
      int rails,
      LinkRate rate,
      HxbConfig.Driver driver) {
    return job(launcher, MpiJob.Device.HXB, fabric, "2x2", ranks, rails, rate, driver);
  }

  private static MpiJob job(
      MpiJob.Launcher launcher,
      MpiJob.Device device,
      MpiJob.Fabric fabric,
      String shape,
      int ranks,
      int rails,
      LinkRate rate,
      HxbConfig.Driver driver) {
    return new MpiJob(
        launcher,
        true,
        device,
        fabric,
        Shape.parse(shape),
        rails,
        rate,
        driver,
        ranks,
        Placement.SNAKE,
        List.of(Path.of("classes"), Path.of("/lib/a.jar")),
        List.of("-Xmx99m"),
        true,
        List.of("Main", "a", "b"));
  }

  /** Between lines along x nothing of the kernel's forwards. */
  @Test
  void niodevHasOneLineOfInterfaces() {
    assertThat(niodev("2x2", 2).nodeOfRank()).containsExactly(0, 1);
    assertThat(niodev("4", 4).nodeOfRank()).containsExactly(0, 1, 2, 3);
    assertThatThrownBy(() -> niodev("2x2", 3))
        .hasMessageContainingAll("-n is 3", "2x2", "one line along x alone, 2 nodes", "--shape 3");
  }

  private static MpiJob niodev(String shape, int ranks) {
    return job(
        MpiJob.Launcher.HXB, MpiJob.Device.NIODEV, MpiJob.Fabric.VETH, shape, ranks, 1, null, null);
  }

  @Test
  void whatDoesNotGoTogetherIsRefusedWithTheMend() {
    MpiJob.Launcher hxb = MpiJob.Launcher.HXB;
    MpiJob.Fabric ring = MpiJob.Fabric.RING;
    assertThatThrownBy(() -> job(hxb, ring, 5, 1, null)).hasMessageContaining("-n is 5");
    assertThatThrownBy(() -> job(hxb, ring, 0, 1, null)).hasMessageContaining("1..4");
    assertThatThrownBy(() -> job(hxb, ring, 4, 10, null)).hasMessageContaining("--rails is 10");
    assertThatThrownBy(() -> job(hxb, MpiJob.Device.HXB, ring, "300", 300, 2, null, null))
        .hasMessageContaining("600 rails; the ring fabric carries at most 512");
    assertThatThrownBy(
            () -> job(hxb, MpiJob.Device.HXB, MpiJob.Fabric.VETH, "300", 300, 2, null, null))
        .hasMessageContaining("300 nodes; a veth fabric has at most");
    assertThatThrownBy(() -> job(hxb, ring, 4, 1, LinkRate.parse("1gbit")))
        .hasMessageContaining("--fabric veth");
    assertThatThrownBy(() -> job(hxb, ring, 4, 1, null, HxbConfig.Driver.PACKET))
        .hasMessageContaining("--driver is packet")
        .hasMessageContaining("--fabric veth");
    assertThatThrownBy(() -> job(hxb, MpiJob.Fabric.VETH, 4, 1, null, HxbConfig.Driver.MEMIF))
        .hasMessageContaining("packet or af_packet");
    assertThatThrownBy(() -> job(hxb, MpiJob.Fabric.SHM, 4, 1, LinkRate.parse("1gbit")))
        .hasMessageContaining("--fabric veth");
    assertThatThrownBy(() -> job(MpiJob.Launcher.OPENMPI, ring, 4, 1, null))
        .hasMessageContaining("--fabric veth --device hxb");
  }

  @Test
  void theCommandLinesOfRanksNameWhatTheyNeed() {
    MpiJob job = job(MpiJob.Launcher.OPENMPI, MpiJob.Fabric.VETH, 4, 1, null);
    assertThat(RankJvm.rank(job, 7, Path.of("/run/node-3.toml")))
        .contains("-Xmx99m", "-Dhxb.mpi.ranks=4", "-Dhxb.mpi.map=SNAKE")
        .containsSequence("--config", "/run/node-3.toml", "Main", "a", "b");
    List<String> nio = RankJvm.nio(job, 2, Path.of("x"), "10.0.0.1:5");
    // MPJ's own classes come first there, ours elsewhere.
    assertThat(nio.get(nio.indexOf("-cp") + 1)).startsWith(RankClassPath.MPJ.toString());
    assertThat(RankClassPath.rank(job.classPath()))
        .doesNotStartWith(RankClassPath.MPJ.toString())
        .endsWith(":/lib/a.jar");
    assertThat(RankJvm.openMpi(job, new ClusterPaths(Path.of("/tmp/r"), "c1"), true))
        .startsWith(Executables.openMpiRun(), "-n", "4")
        .containsSequence("--cluster", "c1", "--run-dir", "/tmp/r", "--map", "snake", "--print-map")
        .endsWith("--", "Main", "a", "b");
  }
}
