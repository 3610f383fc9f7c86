package org.pmhxb.cli;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.pmhxb.cli.bench.BenchCluster;
import org.pmhxb.cli.bench.Benchmark;
import org.pmhxb.cli.bench.MachineInfo;
import org.pmhxb.cli.bench.ProjectFolder;
import org.pmhxb.cli.bench.TrafficPlan;
import org.pmhxb.cli.bench.peers.PeerClusters;
import org.pmhxb.cli.bench.peers.PeersReport;
import org.pmhxb.cli.bench.peers.PeersSuite;
import org.pmhxb.cli.cluster.ClusterSpec;
import org.pmhxb.cli.cluster.TakeDown;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** This project beside others that do the like. */
@Command(
    name = "peers",
    description = {
      "Measure this project and its peers side by side, in the same namespaces over the same"
          + " links: iperf3, MPTCP, Open MPI, MPICH, UCX, Aeron, sockperf, dpdk-testpmd.",
      "Needs root. scripts/install-peers.sh installs them; one that is absent is named.",
      "Takes about 25 minutes, with --quick under 5.",
      "A run of a peer that fails, measures nothing or more than the links carry is tried again,"
          + " twice at most. A peer that fails all the same is named in page, JSON (peerFailures)"
          + " and output, and the suite goes on.",
      "--resume also measures again, of whomever, what the host of a virtual machine took 3 %% of the"
          + " processors or more from.",
      "Exit code 1: a figure of ours failed, links did not come up, or time ran out. Peers that"
          + " fail leave it 0, and without --require-budgets musts that are missed."
    },
    footer = {"", "Example: hxb bench peers --quick --peers hxb,mptcp,openmpi"})
final class PeersCommand extends SuiteCommand {
  @Mixin private RateOption rate;

  @Option(
      names = "--peers",
      paramLabel = "LIST",
      split = ",",
      description =
          "Only these, separated by commas: hxb, iperf3, mptcp, openmpi, mpich, ucx, aeron,"
              + " sockperf-tcp, sockperf-udp, testpmd.")
  private List<String> peers = new ArrayList<>();

  @Override
  boolean isPart() {
    return !peers.isEmpty();
  }

  @Override
  Report measure() throws Exception {
    if (ProjectFolder.isInstallation()) {
      throw wrongUsage(
          "the peers are built by scripts/install-peers.sh of a checkout; run hxb bench peers there");
    }
    for (String name : peers) {
      if (!PeersSuite.names().contains(name)) {
        throw wrongUsage(
            "--peers: no peer \"" + name + "\"; there are " + String.join(",", PeersSuite.names()));
      }
    }
    requireSomeBudget(!isPart() || peers.stream().anyMatch(PeersSuite::isOurs), "peers", "hxb has");
    PeersSuite.Settings settings =
        new PeersSuite.Settings(
            directory(), ProjectFolder.path(), quick(), resume(), rate.rate(), peers);
    try (TakeDown guard = new TakeDown(ownPaths())) {
      PeersReport report =
          new PeersSuite(settings, this::up, this::outOfTime, progress()::update)
              .run(
                  command("peers")
                      + " --rate "
                      + rate.rate()
                      + (peers.isEmpty() ? "" : " --peers " + String.join(",", peers)),
                  MachineInfo.here(Version.project()));
      report.failedPeers().ifPresent(progress()::say);
      return report;
    }
  }

  private PeerClusters.Ends up(ClusterSpec spec) throws IOException {
    BenchCluster cluster = cluster(spec);
    return new PeerClusters.Ends() {
      @Override
      public int rails() {
        return cluster.rails();
      }

      @Override
      public List<Long> processes() {
        return cluster.processes();
      }

      @Override
      public Benchmark.Outcome measure(
          TrafficPlan plan, int sizeBytes, long warmUpMs, long measureMs)
          throws IOException, InterruptedException {
        return cluster.measure(plan, sizeBytes, warmUpMs, measureMs);
      }

      @Override
      public String[] free() throws IOException {
        cluster.endNodes();
        Map<Integer, String> names = cluster.namespaces();
        return new String[] {names.get(0), names.get(1)};
      }

      @Override
      public void close() throws IOException {
        cluster.close();
      }
    };
  }
}
