package org.pmhxb.cost;

import com.sun.management.ThreadMXBean;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

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

  /** What one phase took in each round, in ns per packet. */
  private static final class Rounds {
    private final double[] javaNs;
    private final double[] cNs;
    private final double[] ratio;

    Rounds(int count) {
      javaNs = new double[count];
      cNs = new double[count];
      ratio = new double[count];
    }

    void set(int round, double java, double c) {
      javaNs[round] = java;
      cNs[round] = c;
      ratio[round] = java / c;
    }

    Rounds only(boolean[] counted) {
      Rounds only = new Rounds(count(counted));
      int n = 0;
      for (int i = 0; i < counted.length; i++) {
        if (counted[i]) {
          only.set(n++, javaNs[i], cNs[i]);
        }
      }
      return only;
    }

    static int count(boolean[] counted) {
      int n = 0;
      for (boolean one : counted) {
        n += one ? 1 : 0;
      }
      return n;
    }
  }

  public Measurement(Effort effort) {
    this.effort = effort;
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
    Rounds path = new Rounds(effort.rounds());
    Rounds withAcks = new Rounds(effort.rounds());
    double[] generatorNs = new double[effort.rounds()];
    double[] stepNs = new double[effort.rounds()];
    Pace pace = new Pace();
    pace.warmUp();
    long allocated = 0;
    long packets = 0;
    for (int i = 0; i < effort.rounds(); i++) {
      stepNs[i] = pace.stepNs();
      java.times().begin();
      long before = THREADS.getCurrentThreadAllocatedBytes();
      packets += batches(java, batches);
      allocated += THREADS.getCurrentThreadAllocatedBytes() - before;
      stepNs[i] = Math.max(stepNs[i], pace.stepNs());
      twin.times().begin();
      batches(twin, batches);
      stepNs[i] = Math.max(stepNs[i], pace.stepNs());
      path.set(i, java.times().pathNs(), twin.times().pathNs());
      withAcks.set(i, java.times().withAcksNs(), twin.times().withAcksNs());
      generatorNs[i] = java.times().generatorNs();
    }
    bench.compare();
    double perPacket = (double) allocated / packets;
    String fault =
        perPacket < ALLOCATION_MAX_BYTES
            ? null
            : "%.4f B allocated per packet, the limit is %.2f B"
                .formatted(perPacket, ALLOCATION_MAX_BYTES);
    long[] digests = bench.digests();
    String digest = "%016x-%016x".formatted(digests[0], digests[1]);
    double generator = Spread.of(generatorNs).median();
    Scenario s = bench.scenario();
    boolean[] counted = Pace.counted(stepNs);
    double slowestNs = 0;
    for (int i = 0; i < counted.length; i++) {
      slowestNs = counted[i] ? Math.max(slowestNs, stepNs[i]) : slowestNs;
    }
    List<Figures> figures = new ArrayList<>();
    for (String name : names(s.path())) {
      Rounds rounds = (figures.isEmpty() ? path : withAcks).only(counted);
      figures.add(
          new Figures(
              s,
              name,
              fault,
              Spread.of(rounds.javaNs),
              Spread.of(rounds.cNs),
              Spread.of(rounds.ratio),
              generator,
              perPacket,
              packets,
              digest,
              Rounds.count(counted),
              slowestNs));
    }
    return figures;
  }

  /** Of what is measured in the same rounds, the path itself first. */
  private static List<String> names(Path path) {
    return path.withAcks() == null
        ? List.of(path.toString())
        : List.of(path.toString(), path.withAcks());
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
