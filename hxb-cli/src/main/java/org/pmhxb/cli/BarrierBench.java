package org.pmhxb.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import org.pmhxb.cli.bench.barrier.BarrierLine;
import org.pmhxb.cli.bench.barrier.BarrierSuite;
import org.pmhxb.cli.bench.barrier.RingBarrierRun;
import org.pmhxb.collectives.barrier.BarrierSpec;
import org.pmhxb.router.RailLayout;
import org.pmhxb.router.Shape;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Times of all barriers on one machine. */
@Command(
    name = "barrier",
    description = {
      "Measure barriers: every algorithm's time and frames.",
      "ok needs just as many frames as the algorithm counts, but for those that were asked for."
    },
    footer = {"", "Example: hxb bench barrier --fabric ring --nodes 8 --algorithm all --json"})
final class BarrierBench extends ClusterCommand {
  /** What joins the nodes. */
  enum Fabric {
    RING
  }

  @Option(
      names = "--fabric",
      paramLabel = "FABRIC",
      defaultValue = "RING",
      description = "ring: one process and one thread for all nodes. Default: ring.")
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
          "all, or names with commas: dissemination, binary, ternary, quaternary, concurrent,"
              + " crossbar, exchange, chassis; behind a name /rR for several rails, /unicast, /kK"
              + " for nodes of a chassis. Default: all.")
  private String algorithm;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      defaultValue = "1",
      description = "Length of each measurement, 0.05 to 3600. Default: 1.")
  private double seconds;

  @Option(
      names = "--warm-up",
      paramLabel = "S",
      defaultValue = "1",
      description = "Barriers before each measurement, 0 to 600. Default: 1.")
  private double warmUp;

  /** What came of it. */
  record Result(
      boolean ok,
      String fabric,
      String shape,
      int nodes,
      int rails,
      List<BarrierLine> results,
      List<String> failures)
      implements Report {
    @Override
    public void print(PrintWriter out) {
      out.printf("barriers over %s, shape %s, %d rails%n%n", fabric, shape, rails);
      out.printf("%-24s %7s %9s %9s %9s%n", "algorithm", "frames", "p50 us", "p99 us", "max us");
      for (BarrierLine line : results) {
        out.printf(
            "%-24s %7.1f %9.2f %9.2f %9.2f%n",
            line.algorithm(),
            line.framesPerBarrier(),
            line.latencyNs().p50() / 1e3,
            line.latencyNs().p99() / 1e3,
            line.latencyNs().max() / 1e3);
      }
      failures.forEach(line -> out.println("FAILED: " + line));
    }
  }

  @Override
  protected Result run() {
    range("--rails", rails, 1, RailLayout.MAX_PER_DIMENSION);
    range("--seconds", seconds, 0.05, 3_600);
    range("--warm-up", warmUp, 0, 600);
    if (shape != null && nodes != null) {
      throw wrongUsage("--nodes stands for a line; give it or --shape " + shape);
    }
    int count = nodes == null ? 8 : nodes;
    range("--nodes", count, 2, 64);
    Shape of = shape == null ? Shape.of(count) : shape;
    return overRing(of, specs(of));
  }

  private List<BarrierSpec> specs(Shape of) {
    try {
      return BarrierSuite.of(algorithm, of, rails);
    } catch (IllegalArgumentException e) {
      throw wrongUsage("--algorithm: " + e.getMessage());
    }
  }

  private Result overRing(Shape of, List<BarrierSpec> specs) {
    List<BarrierLine> lines = new ArrayList<>();
    List<String> failures = new ArrayList<>();
    progress().update("building " + of.nodes() + " nodes");
    try (RingBarrierRun run = new RingBarrierRun(of, rails)) {
      for (BarrierSpec spec : specs) {
        progress().update("barrier " + spec);
        BarrierLine line = run.measure(spec, Math.round(warmUp * 1e9), Math.round(seconds * 1e9));
        lines.add(line);
        if (Math.round(line.framesPerBarrier() * line.barriers()) - line.beyondCount()
            != line.framesPlanned() * line.barriers()) {
          failures.add(
              "%s sent %.3f frames a barrier; its count is %d"
                  .formatted(spec, line.framesPerBarrier(), line.framesPlanned()));
        }
      }
    }
    return new Result(
        failures.isEmpty(), "ring", of.toString(), of.nodes(), rails, lines, failures);
  }
}
