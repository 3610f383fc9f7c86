package org.pmhxb.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import org.pmhxb.cli.bench.BenchCluster;
import org.pmhxb.cli.bench.ProjectFolder;
import org.pmhxb.cli.bench.barrier.BarrierLine;
import org.pmhxb.cli.bench.barrier.BarrierPoints;
import org.pmhxb.cli.bench.barrier.BarrierSuite;
import org.pmhxb.cli.bench.barrier.RingBarrierRun;
import org.pmhxb.cli.bench.barrier.RingLogp;
import org.pmhxb.cli.bench.barrier.VethBarrierRun;
import org.pmhxb.cli.bench.peers.MpiBarrier;
import org.pmhxb.cli.cluster.PollPolicy;
import org.pmhxb.collectives.barrier.plan.BarrierSpec;
import org.pmhxb.collectives.barrier.plan.Participants;
import org.pmhxb.collectives.logp.BarrierChoice;
import org.pmhxb.collectives.logp.BarrierModel;
import org.pmhxb.collectives.probe.FabricLogp;
import org.pmhxb.router.HxbConfig;
import org.pmhxb.router.Shape;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Times of all barriers on one machine. */
@Command(
    name = "barrier",
    description = {
      "Measure barriers: every algorithm's time and frames, and what the LogP model says.",
      "The run is ok only when it takes just as many frames as the algorithm counts, but for those"
          + " that were asked for."
          + " Over veth Open MPI's MPI_Barrier runs in the same namespaces afterwards: with all nodes"
          + " where everyone yields (sched_yield) and where our nodes sleep until a frame comes, and"
          + " with two nodes, each on a processor of its own."
    },
    footer = {"", "Example: hxb bench barrier --fabric ring --nodes 8 --algorithm all --json"})
final class BarrierBench extends ClusterCommand {
  private static final int LINE = 8;
  private static final int PINNED_NODES = 2;
  private static final int PINGS = 20_000;

  @Mixin private MachineOptions machine;

  @Option(
      names = "--algorithm",
      paramLabel = "NAMES",
      defaultValue = "all",
      description =
          "all, auto (what the LogP model chooses), or names with commas: dissemination,"
              + " binary, ternary, quaternary, concurrent, crossbar, exchange, chassis; behind a"
              + " name /rR for several rails, /unicast, /kK for nodes of a chassis.")
  private String algorithm;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      defaultValue = "1",
      description = "Length of each measurement, 0.05 to 3600.")
  private double seconds;

  @Option(
      names = "--warm-up",
      paramLabel = "S",
      defaultValue = "1",
      description =
          "Barriers before each measurement; over veth as long for each node before the first. 0 to"
              + " 600.")
  private double warmUp;

  /**
   * Ours beside another's.
   *
   * @param conditions how who waits does so
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
      out.printf("barriers over %s, shape %s, %s%n", fabric, shape, Words.count(rails, "rail"));
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
    int rails = machine.rails(this);
    range("--seconds", seconds, 0.05, 3_600);
    range("--warm-up", warmUp, 0, 600);
    Shape shape = machine.shapeOr(this, Shape.of(LINE));
    sayBeside();
    specs(shape, rails); // what does not suit is refused before anything is built
    return machine.fabric() == MachineOptions.Fabric.RING
        ? overRing(shape, rails)
        : overVeth(shape, rails);
  }

  private static long nanos(double ofSeconds) {
    return Math.round(ofSeconds * 1e9);
  }

  /** What was asked for; none where the model is to choose. */
  private List<BarrierSpec> specs(Shape shape, int rails) {
    try {
      return algorithm.equals("auto") ? List.of() : BarrierSuite.of(algorithm, shape, rails);
    } catch (IllegalArgumentException e) {
      throw wrongUsage("--algorithm: " + e.getMessage());
    }
  }

  /** Measures what was asked for, or what the model chooses. */
  private List<BarrierLine> measure(
      Participants all,
      BarrierModel model,
      BarrierPoints.Measurement measurement,
      List<String> failures)
      throws IOException, InterruptedException {
    List<BarrierSpec> wanted = specs(all.shape(), all.railsPerDimension());
    List<BarrierLine> lines = new ArrayList<>();
    for (BarrierSpec spec :
        wanted.isEmpty() ? List.of(BarrierChoice.of(all, model).best()) : wanted) {
      progress().update("barrier " + spec);
      BarrierLine line = measurement.of(spec);
      lines.add(line);
      check(line, failures);
    }
    return lines;
  }

  // --- ring -------------------------------------------------------------------------------------

  private Result overRing(Shape shape, int rails) throws IOException, InterruptedException {
    List<String> failures = new ArrayList<>();
    progress().update("building " + shape.nodes() + " nodes");
    try (RingBarrierRun run = new RingBarrierRun(shape, rails)) {
      progress().update("LogP of the fabric");
      RingLogp.Found logp = new RingLogp(run).measure();
      List<BarrierLine> lines =
          measure(
              run.group(),
              logp.model(),
              spec -> run.measure(spec, logp.model(), nanos(warmUp), nanos(seconds)),
              failures);
      return new Result(
          failures.isEmpty(),
          "ring",
          shape.toString(),
          shape.nodes(),
          rails,
          lines,
          logp,
          BarrierChoice.of(run.group(), logp.model()).explanation(),
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

  private Result overVeth(Shape shape, int rails) throws IOException, InterruptedException {
    List<String> failures = new ArrayList<>();
    MpiBarrier mpi = new MpiBarrier(ProjectFolder.path());
    mpi.missing().ifPresent(why -> progress().update("without MPI_Barrier: " + why));
    List<Side> sides =
        List.of(
            side(shape, rails, HxbConfig.Idle.YIELD, "everyone yielding", mpi, failures),
            side(
                shape,
                rails,
                HxbConfig.Idle.PARK,
                "ours asleep until a frame comes, MPI yielding",
                mpi,
                failures),
            side(
                Shape.of(PINNED_NODES),
                rails,
                HxbConfig.Idle.SPIN,
                "each spinning on a processor of its own",
                mpi,
                failures));
    return new Result(
        failures.isEmpty(),
        "veth",
        shape.toString(),
        shape.nodes(),
        rails,
        sides.getFirst().results(),
        null,
        null,
        sides,
        mpi.missing().orElseGet(mpi::version),
        failures);
  }

  /** Whoever spins is pinned. */
  private Side side(
      Shape shape,
      int rails,
      HxbConfig.Idle idle,
      String conditions,
      MpiBarrier mpi,
      List<String> failures)
      throws IOException, InterruptedException {
    boolean pinned = idle == HxbConfig.Idle.SPIN;
    PollPolicy poll = new PollPolicy(idle, pinned);
    return MachineOptions.onVeth(
        this,
        shape,
        rails,
        poll,
        cluster -> {
          List<BarrierLine> lines = new ArrayList<>();
          FabricLogp logp = measureVeth(cluster, rails, lines, failures);
          List<String> namespaces = List.copyOf(cluster.namespaces().values());
          cluster.endNodes();
          MpiBarrier.Times times = null;
          if (mpi.missing().isEmpty()) {
            progress().update("MPI_Barrier of " + shape.nodes() + " ranks, " + conditions);
            try {
              times = mpi.run(namespaces, pinned, warmUp, seconds);
            } catch (IOException e) {
              failures.add("MPI_Barrier: " + FailureMessage.of(e));
            }
          }
          double bestUs =
              lines.stream().mapToDouble(l -> l.latencyNs().p50() / 1e3).min().orElseThrow();
          Double ratio = times == null ? null : bestUs / times.p50Us();
          return new Side(conditions, shape.nodes(), lines, logp, times, ratio);
        });
  }

  private FabricLogp measureVeth(
      BenchCluster cluster, int rails, List<BarrierLine> lines, List<String> failures)
      throws IOException, InterruptedException {
    Participants all = BarrierSuite.everyone(cluster.shape(), rails);
    try (VethBarrierRun run = new VethBarrierRun(cluster.sockets(), all)) {
      progress().update("LogP of the fabric");
      run.warmUp(nanos(warmUp));
      FabricLogp logp = run.logp(PINGS);
      BarrierModel model = BarrierSuite.model(logp, cluster.shape().nodes());
      lines.addAll(
          measure(
              all,
              model,
              spec -> run.measure(spec, model, nanos(warmUp), nanos(seconds)),
              failures));
      return logp;
    }
  }
}
