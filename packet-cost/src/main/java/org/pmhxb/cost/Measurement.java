package org.pmhxb.cost;

import com.sun.management.ThreadMXBean;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.function.Function;
import org.pmhxb.cost.Rounds.Round;
import org.pmhxb.cost.Rounds.Sides;
import org.pmhxb.ffi.Threads;

/**
 * Runs a scenario's two subjects in turn, so that whatever else the machine does falls on both, and
 * sums up. Owner: the calling thread, which waits for those that measure.
 */
public final class Measurement {
  /** A packet: the packet path must not allocate, and a run with more does not count. */
  public static final double ALLOCATION_MAX_BYTES = 0.01;

  /**
   * A scenario is set up so often, with a part of the rounds in each: where the memory of a node
   * comes to lie is chance, and costs a burst of 1 up to a third (docs/performance/receive.md,
   * "Lines that keep each other out of L1").
   */
  static final int PLACEMENTS = 3;

  private static final int VERIFY_BATCHES = 4;

  /** The first warm-up ends with a quarter of itself in which the JVM compiled nothing. */
  private static final int WARM_UP_PARTS = 4;

  private static final int WARM_UP_PARTS_MAX = 4 * WARM_UP_PARTS;

  private static final CompilationMXBean COMPILER = ManagementFactory.getCompilationMXBean();
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private final Effort effort;
  private final Pace pace = new Pace();

  /**
   * How long to look.
   *
   * @param rounds of each subject, 3 or more for a spread: a third, rounded up, in each placement
   * @param roundMs length of a round of one subject
   * @param warmUpMs of the first Java node, before its first round: so long at least, and up to
   *     four times as long while the JVM still compiles, as on a machine whose processors others
   *     share. Of the others a round's length, up to 16 of them while it compiles
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

    /** In each placement. */
    int roundsOfPlacement() {
      return (rounds + PLACEMENTS - 1) / PLACEMENTS;
    }
  }

  /**
   * One scenario's figures.
   *
   * @param name of the path, or {@link Path#withAcks}
   * @param fault why the run does not count, or null
   * @param ratio of each round's Java to its C
   * @param generatorNs what making and taking the frames costs a packet: in none of the others
   * @param bytesAllocatedPerPacket in the Java rounds of the placement with most, generator
   *     included
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

  /** Measures with so much effort. */
  public Measurement(Effort effort) {
    this.effort = effort;
    pace.warmUp();
  }

  /**
   * Measures one scenario. What goes wrong is in {@link Figures#fault}.
   *
   * @return the path's figures, and from the same rounds those of {@link Path#withAcks}
   */
  public List<Figures> run(Scenario scenario) {
    Total total = new Total();
    // Threads of their own, all alive until the last one is done: none gets another's stack.
    try (var threads = Executors.newFixedThreadPool(PLACEMENTS)) {
      for (int placement = 0; placement < PLACEMENTS; placement++) {
        int warmUpMs = placement == 0 ? effort.warmUpMs() : 0;
        threads.submit(() -> place(scenario, warmUpMs, total)).get();
      }
      return figures(scenario, total);
    } catch (ExecutionException e) {
      switch (e.getCause()) {
        case IllegalStateException fault -> {
          return List.of(withFault(scenario, fault.getMessage()));
        }
        case RuntimeException thrown -> throw thrown;
        case Error thrown -> throw thrown;
        default -> throw new IllegalStateException(e.getCause());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return List.of(withFault(scenario, "interrupted"));
    }
  }

  private static Figures withFault(Scenario scenario, String fault) {
    Spread none = new Spread(Double.NaN, Double.NaN, Double.NaN);
    return new Figures(
        scenario,
        scenario.path().toString(),
        fault,
        none,
        none,
        none,
        Double.NaN,
        Double.NaN,
        0,
        "",
        0,
        Double.NaN);
  }

  private void place(Scenario scenario, int warmUpMs, Total total) {
    try (Bench bench = Bench.open(scenario)) {
      bench.verify(VERIFY_BATCHES);
      measure(bench, warmUpMs, total);
    } finally {
      Threads.unregister(); // the lab registered this thread, which ends with the scenario
    }
  }

  /** Of a scenario's placements. */
  private static final class Total {
    final List<Rounds> placements = new ArrayList<>();
    final long[] digests = new long[2];
    long packets;

    /** Of the placement that allocated most. */
    double allocatedBytesPerPacket;
  }

  private void measure(Bench bench, int warmUpMs, Total total) {
    PacketLoop java = bench.java();
    PacketLoop twin = bench.twin();
    batches(twin, warmUp(java, Math.max(warmUpMs / WARM_UP_PARTS, effort.roundMs()), warmUpMs));
    int batches = batchesIn(java, effort.roundMs());
    batches(twin, batches);
    Rounds rounds = new Rounds();
    long packets = 0;
    long allocatedBytes = 0;
    while (wantsMore(rounds)) {
      double stepNs = pace.stepNs();
      java.times().begin();
      long before = THREADS.getCurrentThreadAllocatedBytes();
      packets += batches(java, batches);
      allocatedBytes += THREADS.getCurrentThreadAllocatedBytes() - before;
      stepNs = Math.max(stepNs, pace.stepNs());
      twin.times().begin();
      batches(twin, batches);
      stepNs = Math.max(stepNs, pace.stepNs());
      rounds.add(round(stepNs, java.times(), twin.times()));
    }
    bench.compare();
    total.placements.add(rounds);
    total.packets += packets;
    total.allocatedBytesPerPacket =
        Math.max(total.allocatedBytesPerPacket, (double) allocatedBytes / packets);
    long[] digests = bench.digests();
    for (int i = 0; i < digests.length; i++) {
      total.digests[i] = 31 * total.digests[i] + digests[i];
    }
  }

  /**
   * A placement's part of those asked for, and as many again at most while too few met the machine
   * at its faster speed.
   */
  private boolean wantsMore(Rounds rounds) {
    int part = effort.roundsOfPlacement();
    return rounds.size() < part || rounds.size() < 2 * part && rounds.tooFewAreFast(pace.leastNs());
  }

  private static Round round(double stepNs, PhaseTimes java, PhaseTimes c) {
    return new Round(
        stepNs,
        new Sides(java.pathNs(), c.pathNs()),
        new Sides(java.withAcksNs(), c.withAcksNs()),
        java.generatorNs());
  }

  /** The path's, and those with acknowledgements where it has them. */
  private static List<Figures> figures(Scenario scenario, Total total) {
    Path path = scenario.path();
    List<Figures> figures = new ArrayList<>();
    figures.add(figures(scenario, path.toString(), total, Round::path));
    if (path.withAcks() != null) {
      figures.add(figures(scenario, path.withAcks(), total, Round::withAcks));
    }
    return figures;
  }

  private static Figures figures(
      Scenario scenario, String name, Total total, Function<Round, Sides> sides) {
    double allocatedBytes = total.allocatedBytesPerPacket;
    String fault =
        allocatedBytes < ALLOCATION_MAX_BYTES
            ? null
            : "%.4f B allocated per packet, the limit is %.2f B"
                .formatted(allocatedBytes, ALLOCATION_MAX_BYTES);
    List<Round> rounds = Rounds.counted(total.placements);
    return new Figures(
        scenario,
        name,
        fault,
        Rounds.spread(rounds, r -> sides.apply(r).javaNs()),
        Rounds.spread(rounds, r -> sides.apply(r).cNs()),
        Rounds.spread(rounds, r -> sides.apply(r).ratio()),
        Rounds.spread(rounds, Round::generatorNs).median(),
        allocatedBytes,
        total.packets,
        "%016x-%016x".formatted(total.digests[0], total.digests[1]),
        rounds.size(),
        Rounds.spread(rounds, Round::stepNs).max());
  }

  /** For so long at least, in such parts, the last of which compiled nothing if the most do not. */
  private int warmUp(PacketLoop java, int partMs, int leastMs) {
    int batches = 0;
    int parts = 0;
    long compiledMs;
    do {
      compiledMs = COMPILER.getTotalCompilationTime();
      batches += batchesIn(java, partMs);
      parts++;
    } while (parts * partMs < leastMs
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
