package org.pmhxb.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.pmhxb.cli.bench.barrier.BarrierLine;
import org.pmhxb.cli.bench.barrier.BarrierPlot;
import org.pmhxb.cli.bench.barrier.BarrierSuite;
import org.pmhxb.cli.bench.barrier.RingBarrierRun;
import org.pmhxb.cli.bench.barrier.RingLogp;
import org.pmhxb.cli.bench.barrier.SimBarrierTimes;
import org.pmhxb.collectives.barrier.BarrierSpec;
import org.pmhxb.collectives.barrier.Group;
import org.pmhxb.collectives.logp.BarrierChoice;
import org.pmhxb.collectives.logp.LogP;
import org.pmhxb.collectives.logp.ParallelModel;
import org.pmhxb.router.RailLayout;
import org.pmhxb.router.Shape;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** What a fabric costs by LogP, and what follows for barriers. */
@Command(
    name = "logp",
    description = {
      "Measure os, or, gap and L of the ring fabric, predict each barrier by them, measure it, and"
          + " say which one the model chooses. Over veth hxb bench barrier fits them."
    },
    footer = {"", "Example: hxb logp --nodes 8 --plot docs/barrier --json"})
final class LogpCommand extends HxbCommand {
  private static final String[] PLOTTED = {
    "dissemination", "binary", "ternary", "quaternary", "concurrent", "exchange"
  };
  private static final int[] SIMULATED_NODES = {2, 4, 8, 16, 32, 64};
  private static final int[] RING_NODES = {2, 4, 6, 8};

  @Option(
      names = "--nodes",
      paramLabel = "N",
      defaultValue = "8",
      description = "Nodes on a line, 2 to 64. Default: 8.")
  private int nodes;

  @Option(
      names = "--rails",
      paramLabel = "R",
      defaultValue = "2",
      description = "Rails, 1 to 9. Default: 2.")
  private int rails;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      defaultValue = "0.5",
      description = "Length of each measurement, 0.05 to 3600; as long before it. Default: 0.5.")
  private double seconds;

  @Option(
      names = "--plot",
      paramLabel = "DIR",
      description =
          "Write barriers.svg and barriers.png there: 2 to 64 nodes in the simulator, 2 to 8 over"
              + " the ring.")
  private Path plot;

  @Option(
      names = "--latency",
      paramLabel = "NS",
      defaultValue = "5000",
      description =
          "L of the plot's simulated machine, 100 to 10000000: what a fabric of its own would"
              + " have. Default: 5000.")
  private long latencyNs;

  /**
   * A point of the plot.
   *
   * @param simulatedNs mean of a barrier in the simulator; null where only the ring was measured
   * @param modelNs by LogP with the simulator's parameters
   * @param ringNs median over the ring, or null
   */
  record Point(String algorithm, int nodes, Double simulatedNs, Double modelNs, Double ringNs) {}

  /** What came of it. */
  record Result(
      boolean ok,
      String fabric,
      int nodes,
      int rails,
      RingLogp.Found measured,
      List<BarrierLine> results,
      String choice,
      List<Point> points,
      List<String> files)
      implements Report {
    @Override
    public void print(PrintWriter out) {
      LogP p = measured.logp();
      out.printf(
          "ring, %d nodes on one thread: os %.0f, or %.0f, gap %.0f ns; L %.0f / %.0f / %.0f ns with"
              + " 0 / 1 / 2 relays%n%n",
          nodes, p.osNs(), p.orNs(), p.gapNs(), p.latencyNs(0), p.latencyNs(1), p.latencyNs(2));
      out.printf("%-24s %12s %12s %8s%n", "algorithm", "measured us", "model us", "error");
      results.forEach(
          line ->
              out.printf(
                  "%-24s %12.2f %12.2f %7.0f%%%n",
                  line.algorithm(),
                  line.latencyNs().p50() / 1e3,
                  line.predictedNs() / 1e3,
                  100 * line.error()));
      out.printf("%nchosen: %s%n", choice);
      files.forEach(file -> out.println("written: " + file));
    }
  }

  @Override
  protected Result run() throws IOException {
    range("--nodes", nodes, 2, 64);
    range("--rails", rails, 1, RailLayout.MAX_PER_DIMENSION);
    range("--seconds", seconds, 0.05, 3_600);
    range("--latency", latencyNs, 100, 10_000_000);
    long forNs = Math.round(seconds * 1e9);
    List<BarrierLine> lines = new ArrayList<>();
    RingLogp.Found found;
    String choice;
    try (RingBarrierRun run = new RingBarrierRun(Shape.of(nodes), rails)) {
      progress().update("LogP of the ring");
      found = new RingLogp(run).measure();
      choice = BarrierChoice.of(run.group(), found.model()).explanation();
      for (BarrierSpec spec : BarrierSuite.all(Shape.of(nodes), rails)) {
        progress().update("barrier " + spec);
        lines.add(run.measure(spec, found.model(), forNs, forNs));
      }
    }
    List<Point> points = new ArrayList<>();
    List<String> files = new ArrayList<>();
    if (plot != null) {
      points.addAll(points(forNs));
      String title =
          "Barriers on a line: simulator with L = %d ns, and the ring".formatted(latencyNs);
      BarrierPlot.write(title, curves(points), plot, "barriers")
          .forEach(file -> files.add(file.toString()));
    }
    return new Result(true, "ring", nodes, rails, found, lines, choice, points, files);
  }

  private List<Point> points(long forNs) {
    List<Point> points = new ArrayList<>();
    SimBarrierTimes simulator = new SimBarrierTimes(latencyNs);
    ParallelModel model = new ParallelModel(simulator.logp());
    for (int count : SIMULATED_NODES) {
      Group group = BarrierSuite.everyone(Shape.of(count), 1);
      for (String name : PLOTTED) {
        progress().update("simulated " + name + " of " + count + " nodes");
        BarrierSpec spec = BarrierSpec.parse(name);
        double ns = simulator.meanNs(count, 1, spec);
        points.add(new Point(name, count, ns, model.predictNs(group, spec), null));
      }
    }
    for (int count : RING_NODES) {
      try (RingBarrierRun run = new RingBarrierRun(Shape.of(count), 1)) {
        for (String name : PLOTTED) {
          progress().update("ring, " + name + " of " + count + " nodes");
          BarrierSpec spec = BarrierSpec.parse(name);
          BarrierLine line = run.measure(spec, (g, s) -> 0, forNs, forNs);
          points.add(new Point(name, count, null, null, (double) line.latencyNs().p50()));
        }
      }
    }
    return points;
  }

  private static List<BarrierPlot.Curve> curves(List<Point> points) {
    List<BarrierPlot.Curve> curves = new ArrayList<>();
    for (int i = 0; i < PLOTTED.length; i++) {
      String name = PLOTTED[i];
      List<Point> sim =
          points.stream()
              .filter(p -> p.algorithm().equals(name) && p.simulatedNs() != null)
              .toList();
      List<Point> ring =
          points.stream().filter(p -> p.algorithm().equals(name) && p.ringNs() != null).toList();
      curves.add(curve(name + ", simulator", i, false, sim, true));
      List<Integer> at = sim.stream().map(Point::nodes).toList();
      List<Double> us = sim.stream().map(p -> p.modelNs() / 1e3).toList();
      curves.add(new BarrierPlot.Curve(name + ", LogP", i, true, at, us));
      curves.add(curve(name + ", ring", i, false, ring, false));
    }
    return curves;
  }

  private static BarrierPlot.Curve curve(
      String label, int colour, boolean dashed, List<Point> points, boolean simulated) {
    return new BarrierPlot.Curve(
        label,
        colour,
        dashed,
        points.stream().map(Point::nodes).toList(),
        points.stream().map(p -> (simulated ? p.simulatedNs() : p.ringNs()) / 1e3).toList());
  }
}
