package org.pmhxb.cli.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Traffic before a cluster is measured, until the JIT compilers of its processes rest. How long
 * that takes depends on how many processes share how many processors: from two seconds of two nodes
 * to half a minute of eight on two processors, which 5 s of warm-up left at 0.57 of their links'
 * rate.
 */
public final class WarmUp {
  /** Seconds after which a warm-up ends where nothing shorter is asked for. */
  public static final int LONGEST_SECONDS = 40;

  /** The same. */
  public static final Duration LONGEST = Duration.ofSeconds(LONGEST_SECONDS);

  /** Traffic at full rate behind the warm-up, which empties the links' token buckets, ms. */
  private static final long BUCKETS_MS = 300;

  /** Length of the traffic between two looks at the compilers. */
  private static final long ROUND_MS = 1_500;

  /** Compilers rest below this share of one processor. */
  private static final double REST = 0.04;

  private final Path proc;
  private final Duration most;
  private final BooleanSupplier over;
  private final Consumer<String> progress;

  /**
   * @param most time after which it ends whatever the compilers do
   * @param progress takes lines for people
   */
  public WarmUp(Duration most, Consumer<String> progress) {
    this(most, () -> false, progress);
  }

  /**
   * @param most time after which it ends whatever the compilers do
   * @param over asked after each round: true breaks off, and nothing is to be measured any more
   * @param progress takes lines for people
   */
  public WarmUp(Duration most, BooleanSupplier over, Consumer<String> progress) {
    this(Path.of("/proc"), most, over, progress);
  }

  WarmUp(Path proc, Duration most, BooleanSupplier over, Consumer<String> progress) {
    this.proc = proc;
    this.most = most;
    this.over = over;
    this.progress = progress;
  }

  /**
   * Runs rounds of the traffic that will be measured, one at least.
   *
   * @return what did not go as it should meanwhile, for people
   */
  public List<String> run(MeasuredCluster cluster, TrafficPlan plan, int sizeBytes)
      throws IOException, InterruptedException {
    CompilerMeter compilers = new CompilerMeter(proc, cluster.processes());
    List<String> failures = new ArrayList<>();
    long startNs = System.nanoTime();
    long roundMs = Math.clamp(most.toMillis(), 1, ROUND_MS);
    double share;
    compilers.look();
    progress.accept("warming up, at most %.1f s".formatted(most.toMillis() / 1e3));
    do {
      long roundNs = System.nanoTime();
      Benchmark.Outcome outcome = cluster.warmUp(plan, sizeBytes, roundMs);
      failures.addAll(outcome.failures());
      if (outcome.faulty() > 0) {
        failures.add("warming up, %d messages were at fault".formatted(outcome.faulty()));
      }
      share = (double) compilers.look() / (System.nanoTime() - roundNs);
      progress.accept(
          "warming up, %.1f of at most %.1f s; the compilers took %.0f %% of a processor"
              .formatted((System.nanoTime() - startNs) / 1e9, most.toMillis() / 1e3, 100 * share));
    } while (share >= REST && System.nanoTime() - startNs < most.toNanos() && !over.getAsBoolean());
    return failures;
  }

  /**
   * Warms up, then measures.
   *
   * @param seconds of traffic before the measurement; null: until the compilers rest
   * @return its failures hold those of the warm-up, too
   */
  public static Benchmark.Outcome thenMeasure(
      MeasuredCluster cluster,
      TrafficPlan plan,
      int sizeBytes,
      Double seconds,
      long measureMs,
      Consumer<String> progress)
      throws IOException, InterruptedException {
    if (seconds != null) {
      return cluster.measure(plan, sizeBytes, Math.round(seconds * 1e3), measureMs);
    }
    List<String> failures = new WarmUp(LONGEST, progress).run(cluster, plan, sizeBytes);
    Benchmark.Outcome outcome = cluster.measure(plan, sizeBytes, BUCKETS_MS, measureMs);
    outcome.failures().addAll(failures);
    return outcome;
  }
}
