package org.pmhxb.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.pmhxb.cli.bench.barrier.BarrierLine;
import org.pmhxb.cli.bench.barrier.BarrierPoints;
import org.pmhxb.cli.bench.barrier.BarrierSuite;
import org.pmhxb.cli.bench.barrier.RingBarrierRun;
import org.pmhxb.cli.bench.barrier.RingLogp;
import org.pmhxb.cli.bench.barrier.VethBarrierRun;
import org.pmhxb.cli.cluster.PollPolicy;
import org.pmhxb.collectives.barrier.plan.BarrierSpec;
import org.pmhxb.collectives.barrier.plan.Participants;
import org.pmhxb.collectives.logp.BarrierChoice;
import org.pmhxb.collectives.logp.BarrierModel;
import org.pmhxb.collectives.logp.LogP;
import org.pmhxb.collectives.logp.SharedThreadModel;
import org.pmhxb.collectives.probe.FabricLogp;
import org.pmhxb.router.Shape;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What a fabric costs by LogP, and what follows for barriers. */
@Command(
    name = "logp",
    description = {
      "Measure os, or, gap and L of a fabric by frames of no barrier, predict each barrier by them,"
          + " measure it, and say which one the model chooses.",
      "Over veth it starts a process for each node and ends them. Where each has a processor they are"
          + " pinned and spin; else who waits sleeps until a frame comes."
    },
    footer = {"", "Example: hxb logp --fabric veth --shape 2x2x2 --plot target/barrier --json"})
final class LogpCommand extends ClusterCommand {
  private static final int[] RING_NODES = {2, 4, 6, 8};
  private static final int[] VETH_NODES = {2, 4, 8};
  private static final BarrierModel NO_MODEL = (group, plans) -> 0;

  @Mixin private MachineOptions machine;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      defaultValue = "0.5",
      description = "Length of each barrier's measurement, 0.05 to 3600; as long before it.")
  private double seconds;

  @Option(
      names = "--pings",
      paramLabel = "N",
      defaultValue = "20000",
      description =
          "Veth: repetitions of each ping, 10 to 100000; those of half a second where they take longer.")
  private int pings;

  @Option(
      names = "--plot",
      paramLabel = "DIR",
      description =
          "Write barriers-FABRIC.svg and .png there: 2 to 64 nodes in the simulator with what was"
              + " measured, 2 to 8 over the fabric.")
  private Path plot;

  /**
   * What came of it.
   *
   * @param measured by pings
   * @param sharedThread the model's parameters where one thread is all nodes; null over veth
   * @param choice of the model, explained
   * @param best the fastest that was measured
   */
  record Result(
      boolean ok,
      String fabric,
      String shape,
      int nodes,
      int rails,
      FabricLogp measured,
      SharedThreadModel sharedThread,
      List<BarrierLine> results,
      String choice,
      String best,
      List<BarrierPoints.Point> points,
      List<String> files)
      implements Report {
    @Override
    public void print(PrintWriter out) {
      LogP p = measured.logp();
      out.printf(
          "%s, shape %s: os %.0f, or %.0f, gap %.0f, copy %.0f, wake-up %.0f ns (%s lost)%n",
          fabric,
          shape,
          p.osNs(),
          p.orNs(),
          p.gapNs(),
          p.copyNs(),
          measured.wakeNs(),
          Words.count(measured.lost(), "ping"));
      if (sharedThread != null) {
        out.printf(
            "one thread for all: a round %.0f ns, a frame to send %.0f ns, to receive %.0f ns%n",
            sharedThread.roundNs(), sharedThread.sendNs(), sharedThread.receiveNs());
      }
      for (FabricLogp.Way way : measured.ways()) {
        out.printf(
            "to node %d, %s, rail %d: half round trip %.0f ns, L %.0f ns%n",
            way.node(),
            Words.count(way.relays(), "relay"),
            way.rail(),
            way.halfRoundTripNs(),
            way.latencyNs());
      }
      for (FabricLogp.Gap gap : measured.gaps()) {
        out.printf(
            "train over %s: %.0f ns a frame%n", Words.count(gap.rails(), "rail"), gap.gapNs());
      }
      measured.notes().forEach(note -> out.println("note: " + note));
      out.printf("%n%-24s %12s %12s %8s%n", "algorithm", "measured us", "model us", "error");
      for (BarrierLine line : results) {
        out.printf(
            "%-24s %12.2f %12.2f %7.0f%%%n",
            line.algorithm(),
            line.latencyNs().p50() / 1e3,
            line.predictedNs() / 1e3,
            100 * line.error());
      }
      out.printf("%nchosen: %s%nfastest: %s%n", choice, best);
      files.forEach(file -> out.println("written: " + file));
    }
  }

  /** What one fabric showed. */
  private record Measured(
      FabricLogp logp, SharedThreadModel sharedThread, List<BarrierLine> lines, String choice) {}

  @Override
  protected Result run() throws IOException, InterruptedException {
    int rails = machine.rails(this);
    range("--seconds", seconds, 0.05, 3_600);
    range("--pings", pings, 10, 100_000);
    folder("--plot", plot);
    Shape of = machine.shapeOr(this, Shape.of(2, 2, 2));
    sayBeside();
    Measured found = onRing() ? overRing(of, rails) : overVeth(of, rails);
    BarrierPoints points = new BarrierPoints(progress()::update);
    List<String> files = new ArrayList<>();
    if (plot != null) {
      plot(points, found.logp().logp(), files);
    }
    return new Result(
        true,
        machine.fabric().toString(),
        of.toString(),
        of.nodes(),
        rails,
        found.logp(),
        found.sharedThread(),
        found.lines(),
        found.choice(),
        best(found.lines()),
        points.all(),
        files);
  }

  private boolean onRing() {
    return machine.fabric() == MachineOptions.Fabric.RING;
  }

  private long measureNs() {
    return Math.round(seconds * 1e9);
  }

  private static String best(List<BarrierLine> lines) {
    BarrierLine best = lines.getFirst();
    for (BarrierLine line : lines) {
      best = line.latencyNs().p50() < best.latencyNs().p50() ? line : best;
    }
    return String.format(Locale.ROOT, "%s %.2f us", best.algorithm(), best.latencyNs().p50() / 1e3);
  }

  private Measured overRing(Shape of, int rails) {
    long forNs = measureNs();
    List<BarrierLine> lines = new ArrayList<>();
    try (RingBarrierRun run = new RingBarrierRun(of, rails)) {
      progress().update("LogP of the ring");
      RingLogp.Found found = new RingLogp(run).measure();
      for (BarrierSpec spec : BarrierSuite.all(of, rails)) {
        progress().update("barrier " + spec);
        lines.add(run.measure(spec, found.model(), forNs, forNs));
      }
      String choice = BarrierChoice.of(run.group(), found.model()).explanation();
      return new Measured(found.fabric(), found.model(), lines, choice);
    }
  }

  /** Done with a cluster's barriers while it is up. */
  private interface Work<T> {
    T with(VethBarrierRun run) throws IOException, InterruptedException;
  }

  private <T> T onVeth(Shape of, int railCount, Work<T> work)
      throws IOException, InterruptedException {
    PollPolicy poll = PollPolicy.suiting(of.nodes());
    return MachineOptions.onVeth(
        this,
        of,
        railCount,
        poll,
        cluster -> {
          Participants all = BarrierSuite.everyone(of, railCount);
          try (VethBarrierRun run = new VethBarrierRun(cluster.sockets(), all)) {
            return work.with(run);
          }
        });
  }

  private Measured overVeth(Shape of, int rails) throws IOException, InterruptedException {
    Participants all = BarrierSuite.everyone(of, rails);
    return onVeth(
        of,
        rails,
        run -> {
          progress().update("LogP of the fabric");
          run.warmUp(measureNs());
          FabricLogp logp = run.logp(pings);
          BarrierModel model = BarrierSuite.model(logp, of.nodes());
          List<BarrierLine> lines = new ArrayList<>();
          for (BarrierSpec spec : BarrierSuite.all(of, rails)) {
            progress().update("barrier " + spec);
            lines.add(run.measure(spec, model, measureNs(), measureNs()));
          }
          return new Measured(logp, null, lines, BarrierChoice.of(all, model).explanation());
        });
  }

  private void plot(BarrierPoints points, LogP logp, List<String> files)
      throws IOException, InterruptedException {
    points.simulated(logp);
    if (onRing()) {
      long forNs = measureNs();
      for (int line : RING_NODES) {
        try (RingBarrierRun run = new RingBarrierRun(Shape.of(line), 1)) {
          points.measured("ring", line, spec -> run.measure(spec, NO_MODEL, forNs, forNs));
        }
      }
    } else {
      for (int line : VETH_NODES) {
        onVeth(
            Shape.of(line),
            1,
            run -> {
              run.warmUp(measureNs());
              points.measured(
                  "veth", line, spec -> run.measure(spec, NO_MODEL, measureNs(), measureNs()));
              return null;
            });
      }
    }
    String title =
        String.format(
            Locale.ROOT,
            "Barriers on a line: %s, and simulator with its os %.0f, or %.0f, L %.0f ns",
            machine.fabric().toString(),
            logp.osNs(),
            logp.orNs(),
            logp.latencyNs(0));
    points
        .write(title, plot, "barriers-" + machine.fabric().toString())
        .forEach(file -> files.add(file.toString()));
  }
}
