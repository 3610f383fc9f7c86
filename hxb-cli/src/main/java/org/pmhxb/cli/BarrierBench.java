package org.pmhxb.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.pmhxb.cli.bench.BenchCluster;
import org.pmhxb.cli.bench.barrier.BarrierLine;
import org.pmhxb.cli.bench.barrier.BarrierSuite;
import org.pmhxb.cli.bench.barrier.RingBarrierRun;
import org.pmhxb.cli.bench.barrier.RingLogp;
import org.pmhxb.cli.bench.barrier.VethBarrierRun;
import org.pmhxb.cli.bench.peers.MpiBarrier;
import org.pmhxb.cli.cluster.ClusterPaths;
import org.pmhxb.cli.cluster.ClusterSpec;
import org.pmhxb.cli.cluster.NodeOptions;
import org.pmhxb.cli.cluster.PollPolicy;
import org.pmhxb.cli.cluster.TakeDown;
import org.pmhxb.collectives.barrier.plan.BarrierSpec;
import org.pmhxb.collectives.barrier.plan.Participants;
import org.pmhxb.collectives.logp.BarrierChoice;
import org.pmhxb.collectives.logp.ParallelModel;
import org.pmhxb.collectives.probe.FabricLogp;
import org.pmhxb.router.HxbConfig;
import org.pmhxb.router.RailLayout;
import org.pmhxb.router.Shape;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Times of all barriers on one machine. */
@Command(
    name = "barrier",
    description = {
      "Measure barriers: every algorithm's time and frames, and what the LogP model says.",
      "ok needs just as many frames as the algorithm counts, but for those that were asked for."
          + " Over veth Open MPI's MPI_Barrier runs in the same namespaces afterwards: once with all"
          + " nodes and everyone yielding, once with two nodes, each on a processor of its own."
    },
    footer = {"", "Example: hxb bench barrier --fabric ring --nodes 8 --algorithm all --json"})
final class BarrierBench extends ClusterCommand {
  /** What joins the nodes. */
  enum Fabric {
    RING,
    VETH
  }

  private static final Duration UP_LIMIT = Duration.ofSeconds(120);
  private static final int PINNED_NODES = 2;
  private static final int PINGS = 200;

  @Option(
      names = "--fabric",
      paramLabel = "FABRIC",
      defaultValue = "RING",
      description =
          "ring: one process and one thread for all nodes; veth: a process for each. Default: ring.")
  private Fabric fabric;

  @Option(
      names = "--nodes",
      paramLabel = "N",
      description = "Nodes on one line, 2 to 64. Default: 8.")
  private Integer nodes;

  @Option(
      names = "--shape",
      paramLabel = "SHAPE",
      converter = Options.ShapeConverter.class,
      description = "Another shape than a line, as in 2x2x2.")
  private Shape shape;

  @Option(
      names = "--rails",
      paramLabel = "R",
      defaultValue = "2",
      description = "Rails per dimension, 1 to 9. Default: 2.")
  private int rails;

  @Option(
      names = "--algorithm",
      paramLabel = "NAMES",
      defaultValue = "all",
      description =
          "all, auto (what the LogP model chooses), or names with commas: dissemination,"
              + " binary, ternary, quaternary, concurrent, crossbar, exchange, chassis; behind a"
              + " name /rR for several rails, /unicast, /kK for nodes of a chassis. Default: all.")
  private String algorithm;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      defaultValue = "1",
      description = "Ring: length of each measurement, 0.05 to 3600. Default: 1.")
  private double seconds;

  @Option(
      names = "--warm-up",
      paramLabel = "S",
      defaultValue = "1",
      description = "Ring: barriers before each measurement, 0 to 600. Default: 1.")
  private double warmUp;

  @Option(
      names = "--count",
      paramLabel = "N",
      defaultValue = "2000",
      description =
          "Veth: barriers of each measurement, and half as many before it, 10 to 1000000. Default:"
              + " 2000.")
  private int count;

  /**
   * Ours beside another's.
   *
   * @param conditions who waits how
   * @param results of our algorithms
   * @param logp measured before them, by frames of no barrier
   * @param mpi Open MPI's times; null when it is not there
   * @param ratio our best median by that of MPI_Barrier; null without
   */
  record Side(
      String conditions,
      int nodes,
      List<BarrierLine> results,
      FabricLogp logp,
      MpiBarrier.Times mpi,
      Double ratio) {}

  /** What came of it. */
  record Result(
      boolean ok,
      String fabric,
      String shape,
      int nodes,
      int rails,
      List<BarrierLine> results,
      RingLogp.Found logp,
      String choice,
      List<Side> sides,
      String peer,
      List<String> failures)
      implements Report {
    @Override
    public void print(PrintWriter out) {
      out.printf("barriers over %s, shape %s, %d rails%n", fabric, shape, rails);
      if (sides == null) {
        table(out, results);
        out.printf("%nby the model: %s%n", choice);
      } else {
        for (Side side : sides) {
          out.printf("%n%d nodes, %s%n", side.nodes(), side.conditions());
          table(out, side.results());
          if (side.mpi() != null) {
            out.printf(
                "%s, MPI_Barrier over TCP: p50 %.2f us, p99 %.2f us; ours / theirs %.2f%n",
                peer, side.mpi().p50Us(), side.mpi().p99Us(), side.ratio());
          }
        }
      }
      failures.forEach(line -> out.println("FAILED: " + line));
    }

    private static void table(PrintWriter out, List<BarrierLine> lines) {
      out.printf(
          "%n%-24s %7s %9s %9s %9s %9s %7s%n",
          "algorithm", "frames", "p50 us", "p99 us", "max us", "model us", "error");
      for (BarrierLine line : lines) {
        out.printf(
            "%-24s %7.1f %9.2f %9.2f %9.2f %9.2f %6.0f%%%n",
            line.algorithm(),
            line.framesPerBarrier(),
            line.latencyNs().p50() / 1e3,
            line.latencyNs().p99() / 1e3,
            line.latencyNs().max() / 1e3,
            line.predictedNs() / 1e3,
            100 * line.error());
      }
    }
  }

  @Override
  protected Result run() throws Exception {
    range("--rails", rails, 1, RailLayout.MAX_PER_DIMENSION);
    range("--seconds", seconds, 0.05, 3_600);
    range("--warm-up", warmUp, 0, 600);
    range("--count", count, 10, 1_000_000);
    if (shape != null && nodes != null) {
      throw wrongUsage("--nodes stands for a line; give it or --shape " + shape);
    }
    int most = nodes == null ? 8 : nodes;
    range("--nodes", most, 2, 64);
    Shape of = shape == null ? Shape.of(most) : shape;
    List<BarrierSpec> wanted = specs(of);
    return fabric == Fabric.RING ? overRing(of, wanted) : overVeth(of);
  }

  private List<BarrierSpec> specs(Shape of) {
    try {
      return algorithm.equals("auto") ? List.of() : BarrierSuite.of(algorithm, of, rails);
    } catch (IllegalArgumentException e) {
      throw wrongUsage("--algorithm: " + e.getMessage());
    }
  }

  // --- ring -------------------------------------------------------------------------------------

  private Result overRing(Shape of, List<BarrierSpec> wanted) {
    List<BarrierLine> lines = new ArrayList<>();
    List<String> failures = new ArrayList<>();
    progress().update("building " + of.nodes() + " nodes");
    try (RingBarrierRun run = new RingBarrierRun(of, rails)) {
      progress().update("LogP of the fabric");
      RingLogp.Found logp = new RingLogp(run).measure();
      BarrierChoice choice = BarrierChoice.of(run.group(), logp.model());
      List<BarrierSpec> specs = algorithm.equals("auto") ? List.of(choice.best()) : wanted;
      for (BarrierSpec spec : specs) {
        progress().update("barrier " + spec);
        long warmUpNs = Math.round(warmUp * 1e9);
        BarrierLine line = run.measure(spec, logp.model(), warmUpNs, Math.round(seconds * 1e9));
        lines.add(line);
        check(line, failures);
      }
      return new Result(
          failures.isEmpty(),
          "ring",
          of.toString(),
          of.nodes(),
          rails,
          lines,
          logp,
          choice.explanation(),
          null,
          null,
          failures);
    }
  }

  private static void check(BarrierLine line, List<String> failures) {
    long sent = Math.round(line.framesPerBarrier() * line.barriers());
    if (sent - line.beyondCount() != line.framesPlanned() * line.barriers()) {
      failures.add(
          "%s sent %.3f frames a barrier; its count is %d"
              .formatted(line.algorithm(), line.framesPerBarrier(), line.framesPlanned()));
    }
  }

  // --- veth -------------------------------------------------------------------------------------

  private Result overVeth(Shape of) throws IOException, InterruptedException {
    List<String> failures = new ArrayList<>();
    List<Side> sides = new ArrayList<>();
    MpiBarrier mpi = new MpiBarrier(Path.of(System.getProperty("hxb.home", ".")).toAbsolutePath());
    mpi.missing().ifPresent(why -> progress().update("without MPI_Barrier: " + why));
    PollPolicy yielding = new PollPolicy(HxbConfig.Idle.YIELD, false);
    sides.add(side(of, yielding, "everyone yielding", mpi, failures));
    PollPolicy pinned = new PollPolicy(HxbConfig.Idle.SPIN, true);
    sides.add(
        side(Shape.of(PINNED_NODES), pinned, "each on a processor of its own", mpi, failures));
    Side first = sides.getFirst();
    return new Result(
        failures.isEmpty(),
        "veth",
        of.toString(),
        of.nodes(),
        rails,
        first.results(),
        null,
        null,
        sides,
        mpi.missing().isPresent() ? mpi.missing().get() : mpi.version(),
        failures);
  }

  private Side side(
      Shape of, PollPolicy poll, String conditions, MpiBarrier mpi, List<String> failures)
      throws IOException, InterruptedException {
    ClusterSpec spec =
        new ClusterSpec(ClusterSpec.Fabric.VETH, of, rails, null, poll, NodeOptions.NONE);
    ClusterPaths own = paths(BenchCluster.ownName());
    Participants group = BarrierSuite.everyone(of, rails);
    try (TakeDown guard = new TakeDown(own);
        BenchCluster cluster =
            BenchCluster.up(own, spec, UpCommand.nodeCommand(), UP_LIMIT, progress()::update)) {
      List<BarrierLine> lines = new ArrayList<>();
      FabricLogp logp = measureVeth(cluster, group, lines, failures);
      List<String> namespaces = List.copyOf(cluster.namespaces().values());
      cluster.endNodes();
      MpiBarrier.Times times = null;
      if (mpi.missing().isEmpty()) {
        progress().update("MPI_Barrier of " + of.nodes() + " ranks, " + conditions);
        times = mpi.run(namespaces, poll.pinned(), count / 2, count);
      }
      double bestUs =
          lines.stream().map(l -> l.latencyNs().p50() / 1e3).min(Comparator.naturalOrder()).get();
      Double ratio = times == null ? null : bestUs / times.p50Us();
      return new Side(conditions, of.nodes(), lines, logp, times, ratio);
    }
  }

  private FabricLogp measureVeth(
      BenchCluster cluster, Participants group, List<BarrierLine> lines, List<String> failures)
      throws IOException, InterruptedException {
    try (VethBarrierRun run = new VethBarrierRun(cluster.sockets(), group)) {
      progress().update("LogP of the fabric");
      FabricLogp logp = run.logp(PINGS);
      ParallelModel model = new ParallelModel(logp.logp());
      List<BarrierSpec> specs =
          algorithm.equals("auto")
              ? List.of(BarrierChoice.of(group, model).best())
              : BarrierSuite.of(algorithm, group.shape(), rails);
      for (BarrierSpec spec : specs) {
        progress().update(String.format(Locale.ROOT, "barrier %s", spec));
        BarrierLine line = run.measure(spec, model, count / 2, count);
        lines.add(line);
        check(line, failures);
      }
      return logp;
    }
  }
}
