package org.pmhxb.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.pmhxb.router.Shape;
import org.pmhxb.sim.Scenario;
import org.pmhxb.sim.SimResult;
import org.pmhxb.sim.Simulation;
import org.pmhxb.sim.Sweep;
import org.pmhxb.sim.Violation;
import org.pmhxb.sim.fault.Fault;
import org.pmhxb.sim.fault.Place;
import org.pmhxb.sim.fault.Profile;
import org.pmhxb.sim.net.LinkSpec;
import org.pmhxb.sim.work.Workloads;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** {@code hxb sim}: the whole machine under a virtual clock, with seeded faults. */
@Command(
    name = "sim",
    description = {
      "Run a whole machine of the real node classes under a virtual clock, with faults by seed, and"
          + " judge what arrives: exactly once, in order, intact, or the loss of the peer is"
          + " reported.",
      "A failing seed is shrunk to the fewest faults that still fail, and printed with the command"
          + " that replays it."
    },
    footer = {
      "",
      "Profiles: none, loss, wire, rails, ports, nodes, restarts, partition, mixed, seldom, mild.",
      "Workloads: exchange, all-to-all, incast, one-way, permutation, random, request-reply,"
          + " churn.",
      "PLACE of a fault: 3, a node; 3.x0, a rail of it; 3.x*, its rails of x; *.x0, of all nodes; *,"
          + " everywhere. START and LENGTH: virtual time in ns, us, ms or s. S: of its random numbers;"
          + " by default from what the others say.",
      "KIND of a fault; R and N are its rate and amount:",
      "  loss: frames are lost with probability rate",
      "  burst-loss: with probability rate a burst of amount frames is lost",
      "  duplication: frames arrive twice with probability rate",
      "  late-duplication: copies arrive up to amount ns later with probability rate",
      "  reordering: frames are held back up to amount ns with probability rate",
      "  corruption: one to three bits of a frame flip with probability rate",
      "  truncation: frames lose their end with probability rate",
      "  delay: every frame takes amount ns longer",
      "  jitter: every frame takes longer, exponentially distributed with mean amount ns",
      "  slow-link: bandwidth is rate of what it was",
      "  short-queue: the switch queues at most amount bytes towards the rail",
      "  short-frames: frames of more than amount bytes are lost, as by too small an MTU",
      "  short-frames-rx: those of them that the node is sent are lost",
      "  cut: nothing passes, the carrier stays up",
      "  cut-tx: nothing that the node sends passes",
      "  cut-rx: nothing that the node is sent passes",
      "  flapping: passes for amount ns, then does not for as long, and so on",
      "  grey: three frames in ten are lost both ways",
      "  stale: frames of a link that is down come out when it comes back",
      "  blocking: with probability rate a transmit call blocks for amount ns",
      "  stranding: accepted frames wait for the next transmit call",
      "  late-release: transmit buffers come back amount ns after they left",
      "  partial: a transmit call takes at most amount frames",
      "  crash: the node dies and does not come back",
      "  restart: the node dies and is started again when the fault ends",
      "  stop: the node is stopped with a word to its peers, and started again at the end",
      "  stall: the poller stands still",
      "  seldom: the poller comes once in amount ns, up to rate of it sooner, and does all",
      "  slow-consumer: the program runs once in amount ns",
      "  stopped-consumer: the program does not run",
      "  pool: rate of the free buffers are taken away",
      "  skew: the clock runs rate faster (slower below 0) and starts amount ns ahead",
      "  miscabling: two rails' cables are swapped",
      "  partition: nodes below coordinate amount and the rest lose each other",
      "A fault of its own: --fault cut@0.x1:2ms+50ms   --fault loss@*:0ms+1s:rate=0.05",
      "Example: hxb sim --shape 2x2x2 --rails 2 --faults mixed --workload all-to-all --seeds 1..200"
    })
final class SimCommand extends HxbCommand {
  private static final int TOLD_EVENTS = 60;

  /** Each node knows each other one: memory and time go with the square. */
  private static final int MAX_NODES = 4_096;

  @Option(
      names = "--shape",
      converter = Options.ShapeConverter.class,
      paramLabel = "AxBxC",
      defaultValue = "2x2x2",
      description = "Extents of the machine; at most 4,096 nodes.")
  private Shape shape;

  @Option(
      names = "--rails",
      paramLabel = "R",
      defaultValue = "2",
      description = "Rails in each dimension, 1 to 9.")
  private int rails;

  @Option(
      names = "--seed",
      paramLabel = "S",
      defaultValue = "1",
      description = "The one seed to run.")
  private long seed;

  @Option(
      names = "--seeds",
      paramLabel = "A..B",
      converter = SeedsConverter.class,
      description = "Run all of these seeds instead, on all cores.")
  private Seeds seeds;

  @Option(
      names = "--faults",
      paramLabel = "PROFILE",
      converter = ProfileConverter.class,
      defaultValue = "none",
      description = "What goes wrong.")
  private Profile faults;

  @Option(
      names = "--fault",
      paramLabel = "FAULT",
      converter = FaultConverter.class,
      description =
          "One fault more: KIND@PLACE:START+LENGTH[:rate=R][:amount=N][:seed=S], see below. May be"
              + " repeated.")
  private List<Fault> given = List.of();

  @Option(
      names = "--only",
      paramLabel = "N,...",
      converter = OnlyConverter.class,
      description = "Only these faults of the schedule, counted from 0; or none.")
  private Only only;

  @Option(
      names = "--workload",
      paramLabel = "NAME",
      converter = WorkloadConverter.class,
      defaultValue = "all-to-all",
      description = "Who sends to whom.")
  private Workloads workload;

  @Option(
      names = "--messages",
      paramLabel = "N",
      defaultValue = "100",
      description = "From each node to each of its destinations on each channel.")
  private int messages;

  @Option(
      names = "--size",
      paramLabel = "BYTES",
      defaultValue = "0",
      description = "Of each message; 0: random, 1 B to 4 KB.")
  private int size;

  @Option(
      names = "--link",
      paramLabel = "D=SPEC",
      description =
          "Links of a dimension, as in z=100000000bps/5000000ns/262144B/128: bit/s, latency, switch"
              + " queue, ring.")
  private Map<Character, String> links = Map.of();

  @Option(
      names = "--jobs",
      paramLabel = "N",
      description = "Seeds at a time; default: one per core.")
  private Integer jobs;

  @Option(names = "--first-failure", description = "End the sweep with the first seed that fails.")
  private boolean firstFailure;

  @Option(
      names = "--shrink",
      paramLabel = "N",
      defaultValue = "3",
      description = "Shrink and tell so many of the failing seeds.")
  private int told;

  @Option(names = "--replay", description = "Print the event log's end, whether it fails or not.")
  private boolean replay;

  /** A range of seeds, both ends included. */
  record Seeds(long first, long last) {}

  static final class SeedsConverter implements picocli.CommandLine.ITypeConverter<Seeds> {
    @Override
    public Seeds convert(String text) {
      if (!text.matches("\\d{1,15}\\.\\.\\d{1,15}")) {
        throw new TypeConversionException("\"" + text + "\" is not of the form 1..200");
      }
      String[] ends = text.split("\\.\\.");
      Seeds range = new Seeds(Long.parseLong(ends[0]), Long.parseLong(ends[1]));
      if (range.last() < range.first()) {
        throw new TypeConversionException("\"" + text + "\": the last is before the first");
      }
      return range;
    }
  }

  /** Places of faults in a schedule. */
  record Only(List<Integer> places) {}

  static final class OnlyConverter implements picocli.CommandLine.ITypeConverter<Only> {
    @Override
    public Only convert(String text) {
      if (text.equals("none")) {
        return new Only(List.of());
      }
      if (!text.matches("\\d{1,6}(,\\d{1,6})*")) {
        throw new TypeConversionException("\"" + text + "\" is not of the form 0,3,4 or none");
      }
      return new Only(
          java.util.Arrays.stream(text.split(",")).map(Integer::valueOf).sorted().toList());
    }
  }

  static final class ProfileConverter implements picocli.CommandLine.ITypeConverter<Profile> {
    @Override
    public Profile convert(String text) {
      for (Profile profile : Profile.values()) {
        if (profile.toString().equals(text)) {
          return profile;
        }
      }
      throw new TypeConversionException("\"" + text + "\" is none of " + List.of(Profile.values()));
    }
  }

  static final class WorkloadConverter implements picocli.CommandLine.ITypeConverter<Workloads> {
    @Override
    public Workloads convert(String text) {
      for (Workloads work : Workloads.values()) {
        if (work.toString().equals(text)) {
          return work;
        }
      }
      throw new TypeConversionException(
          "\"" + text + "\" is none of " + List.of(Workloads.values()));
    }
  }

  static final class FaultConverter implements picocli.CommandLine.ITypeConverter<Fault> {
    @Override
    public Fault convert(String text) {
      try {
        return Fault.parse(text);
      } catch (IllegalArgumentException e) {
        throw new TypeConversionException(e.getMessage());
      }
    }
  }

  /** What is printed. */
  record Result(
      boolean ok,
      String shape,
      int rails,
      String faults,
      List<String> given,
      List<String> givenTooLate,
      String workload,
      long seeds,
      List<Long> failedSeeds,
      long stuck,
      int nodes,
      long messages,
      long delivered,
      long fateUnknown,
      long lost,
      long duplicated,
      long misordered,
      long corrupt,
      long peerDowns,
      long leakedBuffers,
      double virtualSeconds,
      double wallSeconds,
      double goodputRatio,
      double eventsPerSecond,
      Map<Violation.Kind, Integer> violations,
      Map<String, Long> counters,
      List<Sweep.Failure> failures)
      implements Report {
    @Override
    public void print(PrintWriter out) {
      out.printf(
          "%s: %s of %s with %s, %s, faults %s%n",
          ok ? "ok" : "FAILED",
          Words.count(seeds, "seed"),
          shape,
          Words.count(rails, "rail"),
          workload,
          faults);
      given.forEach(fault -> out.println("  and " + fault));
      givenTooLate.forEach(
          fault -> out.println("  NOT TRIED, every run had ended before: " + fault));
      out.printf(
          "  %d messages: %d delivered, %d of unknown fate with %d reported losses of a peer%n",
          messages, delivered, fateUnknown, peerDowns);
      out.printf(
          "  %.3f s of virtual time in %.1f s, %.0f events/s; goodput %.3f of an ideal network's%n",
          virtualSeconds, wallSeconds, eventsPerSecond, goodputRatio);
      if (!ok) {
        out.printf("  violations %s; failing seeds %s%n", violations, failedSeeds);
      }
      for (Sweep.Failure failure : failures) {
        out.printf("%nseed %d: %s%n", failure.seed(), failure.violation());
        out.println("  replay: " + failure.replay());
        failure.faults().forEach(fault -> out.println("  fault " + fault));
        failure.lastEvents().forEach(event -> out.println("    " + event));
      }
    }
  }

  @Override
  protected Report run() throws Exception {
    Scenario scenario = scenario();
    Seeds range = seeds == null ? new Seeds(seed, seed) : seeds;
    if (replay) {
      SimResult result = Simulation.run(scenario.options(range.first()).withLog(true));
      result.log().lastOf(-1, -1, TOLD_EVENTS).forEach(progress()::say);
    }
    int threads = jobs == null ? Runtime.getRuntime().availableProcessors() : jobs;
    Sweep.Outcome o =
        Sweep.run(
            scenario, range.first(), range.last(), threads, told, firstFailure, progress()::update);
    return new Result(
        o.ok(),
        shape.toString(),
        rails,
        faults.toString(),
        given.stream().map(Fault::toString).toList(),
        given.stream()
            .filter(fault -> fault.startNs() >= o.longestNs())
            .map(Fault::toString)
            .toList(),
        workload.toString(),
        o.seeds(),
        o.failedSeeds(),
        o.count(Violation.Kind.STUCK),
        shape.nodes(),
        o.messages(),
        o.delivered(),
        o.excused(),
        o.lost(),
        o.count(Violation.Kind.DUPLICATED),
        o.count(Violation.Kind.MISORDERED),
        o.count(Violation.Kind.CORRUPT),
        o.peerDowns(),
        o.leakedBuffers(),
        o.virtualSeconds(),
        o.wallSeconds(),
        o.goodputRatio(),
        o.events() / o.wallSeconds(),
        o.violations(),
        o.counters(),
        o.failures());
  }

  private Scenario scenario() {
    if (shape.nodes() > MAX_NODES) {
      throw wrongUsage(
          "--shape is %s, which has %s; must be in 1..%d"
              .formatted(shape, Words.count(shape.nodes(), "node"), MAX_NODES));
    }
    ClusterOptions.requireRails(this, rails);
    if (messages < 1 || messages > 10_000_000) {
      throw wrongUsage("--messages is " + messages + "; must be in 1..10000000");
    }
    if (size < 0 || size > 64 << 20) {
      throw wrongUsage("--size is " + size + "; must be in 0..67108864 bytes");
    }
    if (told < 0) {
      throw wrongUsage("--shrink is " + told + "; must be 0 or above");
    }
    if (jobs != null && (jobs < 1 || jobs > 1_024)) {
      throw wrongUsage("--jobs is " + jobs + "; must be in 1..1024");
    }
    if (seeds != null && replay) {
      throw wrongUsage("--replay is for one seed: give --seed, not --seeds");
    }
    if (seeds != null && only != null) {
      throw wrongUsage("--only is of one seed's schedule: give --seed, not --seeds");
    }
    List<LinkSpec> specs = new ArrayList<>(Collections.nCopies(3, LinkSpec.gigabit()));
    links.forEach(
        (dimension, text) -> {
          int d = "xyz".indexOf(dimension);
          if (d < 0) {
            throw wrongUsage("--link " + dimension + "=...: the dimension is x, y or z");
          }
          try {
            specs.set(d, LinkSpec.parse(text));
          } catch (IllegalArgumentException e) {
            throw wrongUsage("--link " + dimension + ": " + e.getMessage());
          }
        });
    given.forEach(fault -> requireThere(fault.toString(), fault.place()));
    List<Integer> kept = only == null ? null : only.places();
    Scenario scenario =
        new Scenario(shape, rails, faults, workload, messages, size, specs, given, kept);
    if (kept != null) {
      int count = scenario.withOnly(null).options(seed).schedule().faults().size();
      if (!kept.isEmpty() && kept.getLast() >= count) {
        throw wrongUsage(
            "--only %d: the schedule has %s"
                .formatted(
                    kept.getLast(),
                    count == 0 ? "no fault: --faults, --fault" : "faults 0.." + (count - 1)));
      }
    }
    return scenario;
  }

  /** A fault that no node or rail has would do nothing, and the run look as if it had stood it. */
  private void requireThere(String fault, Place place) {
    boolean node = place.node() < shape.nodes();
    boolean dimension = place.dimension() < shape.dimensions();
    boolean rail = place.index() < rails;
    if (!node || !dimension || !rail) {
      throw wrongUsage(
          "--fault %s: there is no %s; the machine has nodes 0..%d, dimensions %s, rails 0..%d each"
              .formatted(
                  fault,
                  place,
                  shape.nodes() - 1,
                  "xyz".substring(0, shape.dimensions()),
                  rails - 1));
    }
  }
}
