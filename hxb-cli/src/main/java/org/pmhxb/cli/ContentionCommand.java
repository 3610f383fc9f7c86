package org.pmhxb.cli;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.pmhxb.cli.bench.BenchCluster;
import org.pmhxb.cli.bench.MachineInfo;
import org.pmhxb.cli.bench.MeasuredCluster;
import org.pmhxb.cli.bench.RingBench;
import org.pmhxb.cli.bench.TrafficPlan;
import org.pmhxb.cli.bench.contention.ContentionSuite;
import org.pmhxb.cli.cluster.ClusterSpec;
import org.pmhxb.cli.cluster.NodeOptions;
import org.pmhxb.cli.cluster.PollPolicy;
import org.pmhxb.cli.cluster.TakeDown;
import org.pmhxb.cli.veth.LinkRate;
import org.pmhxb.pm.port.PortFaults;
import org.pmhxb.router.HxbConfig;
import org.pmhxb.router.Shape;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Streams that compete, and relays between two nodes. */
@Command(
    name = "contention",
    description = {
      "Measure streams that compete: an incast of seven to one over ring and veth, neighbours both"
          + " ways beside all to all, a slow rail among fast ones; and what a relay adds to the half"
          + " round trip over shared memory and takes of the rate over ring. Writes a Markdown page and JSON.",
      "Needs root. Takes about 5 minutes, with --quick about 3."
    },
    footer = {"", "Example: hxb bench contention --quick --output target/results"})
final class ContentionCommand extends SuiteCommand {
  /** The rail that is made slower. */
  private static final String SLOW_RAIL = "x0";

  @Option(
      names = "--case",
      paramLabel = "ID",
      split = ",",
      description = "Measure only these, by their ids in the JSON, separated by commas.")
  private List<String> cases = List.of();

  @Override
  boolean isPart() {
    return !cases.isEmpty();
  }

  @Override
  Report measure() throws Exception {
    List<String> unknown = new ArrayList<>(cases);
    unknown.removeAll(ContentionSuite.ids());
    if (!unknown.isEmpty()) {
      throw wrongUsage(
          "--case "
              + String.join(",", unknown)
              + ": there are "
              + String.join(", ", ContentionSuite.ids()));
    }
    requireSomeBudget(
        !isPart() || ContentionSuite.haveBudget(cases),
        "cases",
        "relayed-rate-1 and relayed-rate-2 have, beside relayed-rate-0");
    String only = cases.isEmpty() ? "" : " --case " + String.join(",", cases);
    try (TakeDown guard = new TakeDown(ownPaths())) {
      return new ContentionSuite(
              files(), quick(), resume(), cases, new Own(), this::outOfTime, progress()::update)
          .run(command("contention") + only, MachineInfo.here(Version.project()));
    }
  }

  /** Clusters of this command's own, one at a time. */
  private final class Own implements ContentionSuite.Clusters {
    @Override
    public MeasuredCluster ring(Shape shape, int rails) throws InterruptedException {
      return RingBench.up(shape, rails, PortFaults.NONE, line -> {});
    }

    @Override
    public MeasuredCluster veth(Shape shape, int rails, LinkRate rate, LinkRate slow)
        throws IOException {
      BenchCluster cluster = vethCluster(shape, rails, rate);
      if (slow != null) {
        cluster.reshape(SLOW_RAIL, slow);
      }
      return cluster;
    }

    @Override
    public MeasuredCluster relayed(Shape shape, int rails, TrafficPlan plan) throws IOException {
      PollPolicy poll =
          new PollPolicy(HxbConfig.Idle.SPIN, true).sharing(plan.endsAndRelays(shape));
      return cluster(
          new ClusterSpec(ClusterSpec.Fabric.SHM, shape, rails, null, poll, NodeOptions.NONE));
    }
  }
}
