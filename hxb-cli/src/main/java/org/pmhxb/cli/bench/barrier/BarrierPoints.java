package org.pmhxb.cli.bench.barrier;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.pmhxb.cli.bench.ChartFiles;
import org.pmhxb.collectives.barrier.plan.BarrierSpec;
import org.pmhxb.collectives.barrier.plan.Participants;
import org.pmhxb.collectives.logp.LogP;
import org.pmhxb.collectives.logp.ParallelModel;
import org.pmhxb.router.Shape;

/** Times of barriers on lines of several lengths, for the plot. Owner: one thread. */
public final class BarrierPoints {
  private static final String[] PLOTTED = {
    "dissemination", "binary", "ternary", "quaternary", "concurrent", "exchange"
  };
  private static final int[] SIMULATED_NODES = {2, 4, 8, 16, 32, 64};

  private final List<Point> points = new ArrayList<>();
  private final Consumer<String> progress;

  public BarrierPoints(Consumer<String> progress) {
    this.progress = progress;
  }

  /**
   * A point.
   *
   * @param on "simulator", "LogP", "ring" or "veth"
   * @param ns mean of a barrier in the simulator, the model's, or a median
   */
  public record Point(String algorithm, int nodes, String on, double ns) {}

  /** Measures one barrier. */
  @FunctionalInterface
  public interface Measurement {
    BarrierLine of(BarrierSpec spec) throws IOException, InterruptedException;
  }

  /** 2 to 64 nodes in the simulator, and by the model with the same parameters. */
  public void simulated(LogP logp) {
    SimBarrierTimes simulator = new SimBarrierTimes(logp);
    ParallelModel model = new ParallelModel(logp);
    for (int count : SIMULATED_NODES) {
      Participants group = BarrierSuite.everyone(Shape.of(count), 1);
      for (String name : PLOTTED) {
        progress.accept("simulated " + name + " of " + count + " nodes");
        BarrierSpec spec = BarrierSpec.parse(name);
        points.add(new Point(name, count, "simulator", simulator.meanNs(count, 1, spec)));
        points.add(new Point(name, count, "LogP", model.predictNs(group, spec)));
      }
    }
  }

  /** Every plotted algorithm on a fabric. */
  public void measured(String on, int nodes, Measurement measurement)
      throws IOException, InterruptedException {
    for (String name : PLOTTED) {
      progress.accept(on + ", " + name + " of " + nodes + " nodes");
      BarrierLine line = measurement.of(BarrierSpec.parse(name));
      points.add(new Point(name, nodes, on, line.latencyNs().p50()));
    }
  }

  public List<Point> all() {
    return List.copyOf(points);
  }

  /** Draws them. */
  public List<Path> write(String title, Path directory, String name) throws IOException {
    List<ChartFiles.Curve> curves = new ArrayList<>();
    for (int i = 0; i < PLOTTED.length; i++) {
      for (String on : List.of("simulator", "LogP", "ring", "veth")) {
        String algorithm = PLOTTED[i];
        List<Point> of =
            points.stream()
                .filter(p -> p.algorithm().equals(algorithm) && p.on().equals(on))
                .toList();
        if (!of.isEmpty()) {
          curves.add(
              new ChartFiles.Curve(
                  algorithm + ", " + on,
                  i,
                  line(on),
                  !on.equals("LogP"),
                  of.stream().map(Point::nodes).toList(),
                  of.stream().map(p -> p.ns() / 1e3).toList()));
        }
      }
    }
    return ChartFiles.write(
        ChartFiles.logLog(title, "nodes", "barrier, us", curves), directory, name);
  }

  /** What was measured on a fabric stands out. */
  private static ChartFiles.Line line(String on) {
    return switch (on) {
      case "LogP" -> ChartFiles.Line.DASHED;
      case "simulator" -> ChartFiles.Line.DOTTED;
      default -> ChartFiles.Line.FULL;
    };
  }
}
