package org.pmhxb.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.pmhxb.cli.bench.MachineInfo;
import org.pmhxb.cli.bench.collective.CollectiveMachine;
import org.pmhxb.cli.bench.collective.CollectivePoint;
import org.pmhxb.cli.bench.collective.CollectiveSuite;
import org.pmhxb.cli.bench.collective.RingCollectives;
import org.pmhxb.cli.bench.collective.VethCollectives;
import org.pmhxb.cli.cluster.PollPolicy;
import org.pmhxb.cli.node.CollectiveOrder;
import org.pmhxb.collectives.Collective;
import org.pmhxb.collectives.CostModel;
import org.pmhxb.router.Shape;
import org.pmhxb.router.fabric.RingCluster;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Collectives over the ring fabric, algorithm by algorithm. */
@Command(
    name = "collectives",
    description = {
      "Measure broadcast, reductions, gather, scatter, allgather and alltoall among all nodes of a"
          + " machine: each algorithm that can do it, and which one the model chooses. Every byte of"
          + " the last result of each round is checked. A choice that was not the fastest is marked.",
      "Over the ring one thread is all nodes, and an operation lasts from the first rank's call to"
          + " the last one's end. Over veth each node is a process, a barrier goes before each"
          + " operation, and its time is that of the slowest rank."
    },
    footer = {
      "",
      "Example: hxb bench collectives --shape 2x2x2 --collective allreduce --size 8,8192,262144"
    })
final class CollectivesCommand extends ClusterCommand {
  @Mixin private MachineOptions machine;

  @Option(
      names = "--collective",
      paramLabel = "NAME",
      defaultValue = "all",
      description = "all, broadcast, reduce, allreduce, gather, scatter, allgather or alltoall.")
  private String collective;

  @Option(
      names = "--size",
      paramLabel = "BYTES",
      split = ",",
      defaultValue = "8,8192",
      description =
          "Lengths of the message, or of one rank's block: multiples of 4, 4 to 16777216.")
  private List<Integer> sizes;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "5",
      description = "Rounds of a tenth of a second for each figure, 3 to 1000.")
  private int rounds;

  @Option(
      names = "--model",
      paramLabel = "O,L,G",
      defaultValue = "500,1500,0.3",
      description =
          "What the choice is made with: overhead and latency of a message in ns, ns per byte, of"
              + " nodes with a processor each.")
  private String model;

  /**
   * What came out.
   *
   * @param model overhead, latency, ns per byte
   * @param chosenBy which model made the choice, and what it is of
   */
  record Outcome(
      boolean ok,
      String fabric,
      String shape,
      int rails,
      String model,
      String chosenBy,
      MachineInfo machine,
      List<CollectivePoint> results)
      implements Report {
    @Override
    public void print(PrintWriter out) {
      out.printf(
          "%s, fabric %s, %s; model (o, L, G) %s ns%n",
          shape, fabric, Words.count(rails, "rail"), model);
      out.println("chosen by " + chosenBy);
      out.printf(
          "%-10s %-20s %9s %31s %12s %10s%n",
          "", "", "B", "us: min, median, max", "predicted us", "MB/s");
      for (CollectivePoint p : results) {
        out.printf(
            "%-10s %-20s %9d %10.1f %9.1f %10.1f %12.1f %10.1f%s%n",
            p.collective(),
            p.algorithm(),
            p.bytes(),
            p.microseconds().min(),
            p.microseconds().median(),
            p.microseconds().max(),
            p.predictedUs(),
            p.megabytesPerSecond(),
            mark(p));
      }
      List<CollectivePoint> chosen = results.stream().filter(CollectivePoint::chosen).toList();
      out.printf(
          "of %s %d slower than the fastest in every round%n",
          Words.count(chosen.size(), "choice"),
          chosen.stream().filter(CollectivePoint::slower).count());
    }

    /** Where the model errs is said, not left to be found. */
    private static String mark(CollectivePoint p) {
      if (!p.chosen()) {
        return p.timesFastest() == 1 ? "  fastest" : "";
      }
      return p.slower()
          ? "  chosen, NOT the fastest: takes %.1f times as long".formatted(p.timesFastest())
          : "  chosen";
    }
  }

  @Override
  protected Report run() throws Exception {
    range("--rounds", rounds, 3, 1_000);
    int rails = machine.rails(this);
    Shape shape = machine.shapeOr(this, Shape.of(2, 2, 2));
    for (int size : sizes) {
      range("--size", size, 4, CollectiveOrder.BYTES_MAX);
      if (size % Integer.BYTES != 0) {
        throw wrongUsage("--size " + size + " is no multiple of 4");
      }
    }
    sayBeside();
    List<Collective> wanted = wanted();
    CollectiveSuite suite = new CollectiveSuite(shape, costs());
    List<CollectivePoint> points =
        machine.fabric() == MachineOptions.Fabric.RING
            ? overRing(suite, wanted, shape, rails)
            : overVeth(suite, wanted, shape, rails);
    return new Outcome(
        !points.isEmpty(),
        machine.fabric().toString(),
        shape.toString(),
        rails,
        model,
        chosenBy(machine.fabric()),
        MachineInfo.here(Version.project()),
        points);
  }

  static String chosenBy(MachineOptions.Fabric fabric) {
    return "the LogGP model of --model, in which each node has a processor of its own"
        + (fabric == MachineOptions.Fabric.RING
            ? "; over ring one thread is all nodes, whose work adds up: expect neither these times"
                + " nor the fastest algorithm"
            : "; where nodes share processors they take longer");
  }

  private List<CollectivePoint> overRing(
      CollectiveSuite suite, List<Collective> wanted, Shape shape, int rails)
      throws IOException, InterruptedException {
    progress().update("building " + shape.nodes() + " nodes");
    try (RingCluster cluster = RingCluster.create(RingCluster.Options.of(shape, rails));
        RingCollectives ring = new RingCollectives(cluster)) {
      return measure(suite, ring, wanted);
    }
  }

  private List<CollectivePoint> overVeth(
      CollectiveSuite suite, List<Collective> wanted, Shape shape, int rails)
      throws IOException, InterruptedException {
    return MachineOptions.onVeth(
        this,
        shape,
        rails,
        PollPolicy.suiting(shape.nodes()),
        cluster -> {
          try (VethCollectives veth = new VethCollectives(cluster.sockets())) {
            return measure(suite, veth, wanted);
          }
        });
  }

  private List<CollectivePoint> measure(
      CollectiveSuite suite, CollectiveMachine on, List<Collective> wanted)
      throws IOException, InterruptedException {
    List<CollectivePoint> points = new ArrayList<>();
    for (Collective c : wanted) {
      for (int size : sizes) {
        points.addAll(suite.measure(on, c, size, rounds, progress()::update));
      }
    }
    return points;
  }

  private List<Collective> wanted() {
    if (collective.equals("all")) {
      return List.of(Collective.values());
    }
    for (Collective c : Collective.values()) {
      if (c.toString().equals(collective.toLowerCase(Locale.ROOT))) {
        return List.of(c);
      }
    }
    throw wrongUsage(
        "--collective is \""
            + collective
            + "\"; must be one of all, "
            + Stream.of(Collective.values())
                .map(Collective::toString)
                .collect(Collectors.joining(", ")));
  }

  private CostModel costs() {
    String[] parts = model.split(",");
    try {
      if (parts.length == 3) {
        double o = Double.parseDouble(parts[0]);
        double l = Double.parseDouble(parts[1]);
        double g = Double.parseDouble(parts[2]);
        if (o >= 0 && l >= 0 && g >= 0) {
          return new CostModel(o, l, g, 0.05, o + l, 8_900, l, g, 0);
        }
      }
    } catch (NumberFormatException e) {
      throw wrongUsage("--model is \"" + model + "\": " + e.getMessage() + "; as in 500,1500,0.3");
    }
    throw wrongUsage(
        "--model is \"" + model + "\", not three numbers of 0 or more, as in 500,1500,0.3");
  }
}
