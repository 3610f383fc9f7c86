package org.pmhxb.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import org.pmhxb.cli.bench.BenchCluster;
import org.pmhxb.cli.bench.mpi.KernelRow;
import org.pmhxb.cli.bench.mpi.KernelRuns;
import org.pmhxb.cli.bench.mpi.MpiBenchmark;
import org.pmhxb.cli.bench.mpi.MpiRow;
import org.pmhxb.cli.bench.mpi.MpiRows;
import org.pmhxb.cli.cluster.ClusterPaths;
import org.pmhxb.cli.cluster.TakeDown;
import org.pmhxb.router.RailLayout;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** MPI-level bandwidth and round trips, beside other MPIs on the same links. */
@Command(
    name = "mpi",
    description = {
      "Measure MPI messages between two ranks over shaped veth links, as table 7 of the paper: MPJ"
          + " over this project's device, MPJ's own niodev over TCP on one link, Open MPI over TCP"
          + " on all links. Or, with --kernels, the kernels IS and CG on 8 ranks, 1-D with 6 rails"
          + " against 3-D with 2 rails per dimension, as table 9.",
      "Eager messages have 32 KiB, rendezvous messages 1 MiB. Needs root."
    },
    footer = {
      "",
      "Example: hxb bench mpi --rate 200mbit --links 6",
      "Example: hxb bench mpi --driver packet --rate 10mbit --kernels S,W,A --warm-up 40"
    })
final class MpiBench extends ClusterCommand {
  private static final List<String> STREAMS_ONLY = List.of("--links", "--seconds", "--alone");
  private static final List<String> KERNELS_ONLY = List.of("--repeat", "--warm-up");

  /** The one fabric whose links have a rate. */
  enum Fabric {
    VETH
  }

  @Option(
      names = "--fabric",
      paramLabel = "FABRIC",
      defaultValue = "veth",
      description = "veth: the links must have a rate.")
  private Fabric fabric;

  @Mixin private RateOption rate;

  @Mixin private DriverOption driver;

  @Option(
      names = "--links",
      paramLabel = "N",
      split = ",",
      defaultValue = "1,2,4,6,9",
      description = "Links between the two nodes, 1 to 9; several, separated by commas.")
  private List<Integer> links;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      defaultValue = "2",
      description = "Length of each stream at the links' raw rate, 0.1 to 60.")
  private double seconds;

  @Option(names = "--alone", description = "Leave the other MPIs out.")
  private boolean alone;

  @Option(
      names = "--kernels",
      paramLabel = "CLASS",
      split = ",",
      description = "Measure the kernels of these classes instead: S, W, A.")
  private List<String> kernels;

  @Option(
      names = "--repeat",
      paramLabel = "N",
      defaultValue = "3",
      description = "Of the kernels: the shortest of so many runs counts.")
  private int repeat;

  @Option(
      names = "--warm-up",
      paramLabel = "S",
      defaultValue = "20",
      description = "Of the kernels: seconds of class S before the first run that counts.")
  private double warmUp;

  @Option(
      names = "--jvm-arg",
      paramLabel = "ARG",
      description = "For the ranks' JVMs, as in --jvm-arg=-Dhxb.mpi.eagerBytes=16384.")
  private List<String> jvmArgs = new ArrayList<>();

  /** Table 7. */
  record Table7(boolean ok, String rate, List<MpiRow> rows, String left, List<String> failures)
      implements Report {
    @Override
    public void print(PrintWriter out) {
      out.printf("links of %s; efficiency against their raw rate%n", rate);
      out.printf(
          "%-15s %5s  %18s  %18s  %18s  %34s  %23s  %5s%n",
          "",
          "links",
          "one way 1 MiB",
          "both ways 1 MiB",
          "one way 32 KiB",
          "half round trip us: 8 B, 32 K, 1 M",
          "unexpected us: 100, 10k",
          "busy");
      for (MpiRow r : rows) {
        out.printf(
            "%-15s %5d  %7.1f MB/s %4.1f%% %7.1f MB/s %4.1f%% %7.1f MB/s %4.1f%%  %9.1f %10.1f"
                + " %12.1f  %11.2f %11.2f  %4.0f%%%n",
            r.name(),
            r.links(),
            r.oneWay() / 1e6,
            100 * r.oneWayEfficiency(),
            r.both() / 1e6,
            100 * r.bothEfficiency(),
            r.eagerOneWay() / 1e6,
            100 * r.eagerOneWayEfficiency(),
            r.halfRoundTripUs(),
            r.halfRoundTripEagerUs(),
            r.halfRoundTripRendezvousUs(),
            r.fewUnexpectedUs(),
            r.manyUnexpectedUs(),
            100 * r.busy());
      }
      if (left != null) {
        out.println("not measured: " + left);
      }
      failures.forEach(line -> out.println("FAILED: " + line));
    }
  }

  /** Table 9. */
  record Table9(boolean ok, String rate, List<KernelRow> kernels) implements Report {
    @Override
    public void print(PrintWriter out) {
      out.printf("8 ranks, links of %s: 1-D with 6 rails, 3-D with 2 rails per dimension%n", rate);
      out.printf(
          "%-8s %9s %9s %9s %6s %6s %6s %6s %7s %7s %10s %5s%n",
          "kernel",
          "1-D s",
          "3-D s",
          "slowdown",
          "idle1D",
          "idle3D",
          "MPI1D",
          "MPI3D",
          "hops3D",
          "links",
          "bandwidth",
          "aims");
      for (KernelRow k : kernels) {
        out.printf(
            "%-2s %-5s %9.3f %9.3f %8.1f%% %5.0f%% %5.0f%% %5.0f%% %5.0f%% %7.2f %6.1f%% %9.1f%%"
                + " %5s%n",
            k.kernel(),
            k.size(),
            k.line().seconds(),
            k.cube().seconds(),
            100 * k.slowdown(),
            100 * k.line().idle(),
            100 * k.cube().idle(),
            100 * k.line().calls(),
            100 * k.cube().calls(),
            k.hops3d(),
            100 * k.linkShare(),
            100 * k.bandwidthSlowdown(),
            k.met() ? "both" : k.slowdownMet() ? "slow" : k.idleMet() ? "idle" : "none");
      }
      for (KernelRow k : kernels) {
        out.printf("%-2s %-5s 1-D:%s%n", k.kernel(), k.size(), seconds(k.line()));
        out.printf("%-2s %-5s 3-D:%s%n", k.kernel(), k.size(), seconds(k.cube()));
      }
      out.println("each repetition's seconds; the shortest counts");
      out.println(
          "idle: share of the machine's processor time; MPI: share of the ranks' time in it");
      out.println("hops 3D: links that a byte of the large messages crosses, 1 in 1-D");
      out.println("links: share of the 1-D time for which these bytes keep a node's links busy");
      out.println("bandwidth: slowdown of 3-D if the program waits for all of that");
      out.printf(
          "aims: slowdown at most %.0f %% (slow) and at least %.0f %% idle in both (idle)%n",
          100 * KernelRow.MOST_SLOWDOWN, 100 * KernelRow.LEAST_IDLE);
    }

    private static String seconds(KernelRuns runs) {
      StringBuilder text = new StringBuilder();
      runs.all().forEach(s -> text.append(String.format(" %.3f", s)));
      return text.toString();
    }
  }

  @Override
  protected Report run() throws Exception {
    check();
    ClusterPaths own = ownPaths(BenchCluster.ownName());
    MpiBenchmark benchmark =
        new MpiBenchmark(own, rate.rate(), driver.driver(), seconds, jvmArgs, progress()::update);
    try (TakeDown guard = new TakeDown(own)) {
      if (kernels != null) {
        return new Table9(true, rate.rate().toString(), benchmark.kernels(kernels, repeat, warmUp));
      }
      String left = alone ? null : MpiBenchmark.openMpiMissing();
      MpiRows rows = new MpiRows();
      if (!alone) {
        rows.add("niodev", benchmark::niodev);
      }
      for (int n : links) {
        String over = " over " + Words.count(n, "link");
        rows.add("hxb" + over, () -> benchmark.hxb(n));
        if (!alone && left.isEmpty()) {
          rows.add("Open MPI" + over, () -> benchmark.openMpi(n));
        }
      }
      String missing = left == null || left.isEmpty() ? null : "Open MPI: " + left;
      return new Table7(
          rows.failures().isEmpty(),
          rate.rate().toString(),
          rows.measured(),
          missing,
          rows.failures());
    }
  }

  private void check() {
    for (int n : links) {
      range("--links", n, 1, RailLayout.MAX_PER_DIMENSION);
    }
    range("--seconds", seconds, 0.1, 60);
    range("--repeat", repeat, 1, 100);
    range("--warm-up", warmUp, 0, 600);
    for (String size : kernels == null ? List.<String>of() : kernels) {
      if (!List.of("S", "W", "A").contains(size)) {
        throw wrongUsage("--kernels is " + size + "; the classes are S, W and A");
      }
    }
    for (String option : kernels == null ? KERNELS_ONLY : STREAMS_ONLY) {
      if (given(option)) {
        throw wrongUsage(
            option + (kernels == null ? " is for --kernels alone" : " is not for --kernels"));
      }
    }
  }
}
