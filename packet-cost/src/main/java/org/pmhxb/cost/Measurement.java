package org.pmhxb.cost;

import com.sun.management.ThreadMXBean;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import org.pmhxb.cost.Rounds.Round;
import org.pmhxb.cost.Rounds.Sides;

/**
 * Runs a scenario's two subjects in turn, so that whatever else the machine does falls on both, and
 * sums up. Owner: the calling thread.
 */
public final class Measurement {
  /** A packet: the packet path must not allocate, and a run with more does not count. */
  public static final double ALLOCATION_MAX_BYTES = 0.01;

  private static final int VERIFY_BATCHES = 4;

  /** A warm-up ends with a quarter of itself in which the JVM compiled nothing. */
  private static final int WARM_UP_PARTS = 4;

  private static final int WARM_UP_PARTS_MAX = 4 * WARM_UP_PARTS;

  private static final CompilationMXBean COMPILER = ManagementFactory.getCompilationMXBean();
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private final Effort effort;
  private final Pace pace = new Pace();
  private int spareRounds;

  /**
   * How long to look.
   *
   * @param rounds of each subject, 3 or more for a spread
   * @param roundMs length of a round of one subject
   * @param warmUpMs of the Java node, before the first round: so long at least, and up to four
   *     times as long while the JVM still compiles, as on a machine whose processors others share
   */
  public record Effort(int rounds, int roundMs, int warmUpMs) {
    public Effort {
      if (rounds < 3 || rounds > 1_000) {
        throw new IllegalArgumentException("rounds is " + rounds + "; must be in 3..1000");
      }
      if (roundMs < 1 || roundMs > 60_000 || warmUpMs < 0 || warmUpMs > 600_000) {
        throw new IllegalArgumentException(
            "rounds of %d ms after %d ms of warm-up; must be in 1..60000 and 0..600000"
                .formatted(roundMs, warmUpMs));
      }
    }
  }

  /** Least, median and most of the rounds, ns per packet. */
  public record Spread(double min, double median, double max) {
    static Spread of(double[] rounds) {
      double[] sorted = rounds.clone();
      Arrays.sort(sorted);
      return new Spread(sorted[0], sorted[sorted.length / 2], sorted[sorted.length - 1]);
    }
  }

  /**
   * One scenario's figures.
   *
   * @param name of the path, or {@link Path#withAcks}
   * @param fault why the run does not count, or null
   * @param ratio of each round's Java to its C
   * @param generatorNs what making and taking the frames costs a packet: in none of the others
   * @param bytesAllocatedPerPacket in the Java rounds, generator included
   * @param digest of what both delivered and emitted
   * @param rounds that count: at the machine's faster speed where three or more were
   * @param stepNs how slow the machine was at most in these, ns a step of its six chains side by
   *     side
   */
  public record Figures(
      Scenario scenario,
      String name,
      String fault,
      Spread java,
      Spread c,
      Spread ratio,
      double generatorNs,
      double bytesAllocatedPerPacket,
      long packets,
      String digest,
      int rounds,
      double stepNs) {
    /** They are of the path alone, which is what budgets are for. */
    public boolean isOfPath() {
      return name.equals(scenario.path().toString());
    }
  }

  /**
   * Measures with so much effort.
   *
   * @param spareRounds so many more, of all scenarios together, for those of which few were at the
   *     machine's faster speed
   */
  public Measurement(Effort effort, int spareRounds) {
    this.effort = effort;
    this.spareRounds = spareRounds;
    pace.warmUp();
  }

  /**
   * Measures one scenario. What goes wrong is in {@link Figures#fault}.
   *
   * @return the path's figures, and from the same rounds those of {@link Path#withAcks}
   */
  public List<Figures> run(Scenario scenario) {
    try (Bench bench = Bench.open(scenario)) {
      bench.verify(VERIFY_BATCHES);
      return measure(bench);
    } catch (IllegalStateException e) {
      Spread none = new Spread(Double.NaN, Double.NaN, Double.NaN);
      return List.of(
          new Figures(
              scenario,
              scenario.path().toString(),
              e.getMessage(),
              none,
              none,
              none,
              Double.NaN,
              Double.NaN,
              0,
              "",
              0,
              Double.NaN));
    }
  }

  private List<Figures> measure(Bench bench) {
    PacketLoop java = bench.java();
    PacketLoop twin = bench.twin();
    int warm = warmUp(java);
    batches(twin, warm);
    int batches = batchesIn(java, effort.roundMs());
    batches(twin, batches);
    Rounds rounds = new Rounds();
    long allocated = 0;
    long packets = 0;
    while (wantsMore(rounds)) {
      double stepNs = pace.stepNs();
      java.times().begin();
      long before = THREADS.getCurrentThreadAllocatedBytes();
      packets += batches(java, batches);
      allocated += THREADS.getCurrentThreadAllocatedBytes() - before;
      stepNs = Math.max(stepNs, pace.stepNs());
      twin.times().begin();
      batches(twin, batches);
      stepNs = Math.max(stepNs, pace.stepNs());
      rounds.add(round(stepNs, java.times(), twin.times()));
    }
    bench.compare();
    return figures(bench, rounds.counted(), packets, (double) allocated / packets);
  }

  /** As many as asked for, and spare ones while too few met the machine at its faster speed. */
  private boolean wantsMore(Rounds rounds) {
    if (rounds.size() < effort.rounds()) {
      return true;
    }
    boolean more = spareRounds > 0 && rounds.tooFewAreFast(pace.leastNs());
    spareRounds -= more ? 1 : 0;
    return more;
  }

  private static Round round(double stepNs, PhaseTimes java, PhaseTimes c) {
    return new Round(
        stepNs,
        new Sides(java.pathNs(), c.pathNs()),
        new Sides(java.withAcksNs(), c.withAcksNs()),
        java.generatorNs());
  }

  /** The path's, and those with acknowledgements where it has them. */
  private static List<Figures> figures(
      Bench bench, List<Round> rounds, long packets, double allocatedBytes) {
    Path path = bench.scenario().path();
    List<Figures> figures = new ArrayList<>();
    figures.add(figures(bench, path.toString(), rounds, Round::path, packets, allocatedBytes));
    if (path.withAcks() != null) {
      figures.add(
          figures(bench, path.withAcks(), rounds, Round::withAcks, packets, allocatedBytes));
    }
    return figures;
  }

  private static Figures figures(
      Bench bench,
      String name,
      List<Round> rounds,
      Function<Round, Sides> sides,
      long packets,
      double allocatedBytes) {
    String fault =
        allocatedBytes < ALLOCATION_MAX_BYTES
            ? null
            : "%.4f B allocated per packet, the limit is %.2f B"
                .formatted(allocatedBytes, ALLOCATION_MAX_BYTES);
    long[] digests = bench.digests();
    return new Figures(
        bench.scenario(),
        name,
        fault,
        Rounds.spread(rounds, r -> sides.apply(r).javaNs()),
        Rounds.spread(rounds, r -> sides.apply(r).cNs()),
        Rounds.spread(rounds, r -> sides.apply(r).ratio()),
        Rounds.spread(rounds, Round::generatorNs).median(),
        allocatedBytes,
        packets,
        "%016x-%016x".formatted(digests[0], digests[1]),
        rounds.size(),
        Rounds.spread(rounds, Round::stepNs).max());
  }

  private int warmUp(PacketLoop java) {
    int batches = 0;
    int parts = 0;
    long compiledMs;
    do {
      compiledMs = COMPILER.getTotalCompilationTime();
      batches += batchesIn(java, effort.warmUpMs() / WARM_UP_PARTS);
      parts++;
    } while (parts < WARM_UP_PARTS
        || parts < WARM_UP_PARTS_MAX && COMPILER.getTotalCompilationTime() > compiledMs);
    return batches;
  }

  /** Runs batches for so long; how many they were. */
  private static int batchesIn(PacketLoop loop, int ms) {
    long until = System.nanoTime() + ms * 1_000_000L;
    int n = 0;
    do {
      loop.batch();
      n++;
    } while (System.nanoTime() < until);
    return n;
  }

  private static long batches(PacketLoop loop, int count) {
    long packets = 0;
    for (int i = 0; i < count; i++) {
      packets += loop.batch();
    }
    return packets;
  }
}
