package org.pmhxb.cost;

import com.sun.management.ThreadMXBean;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import org.pmhxb.ffi.Threads;

/**
 * Runs scenarios' two subjects in turn, so that whatever else the machine does falls on both, and
 * sums up. Owner: the calling thread, which waits for those that measure.
 */
public final class Measurement implements AutoCloseable {
  private static final int VERIFY_BATCHES = 4;

  /** The first warm-up ends with a quarter of itself in which the JVM compiled nothing. */
  private static final int WARM_UP_PARTS = 4;

  private static final int WARM_UP_PARTS_MAX = 4 * WARM_UP_PARTS;

  /** The twin's share of the first warm-up: its calls are Java's, too, but there is less of it. */
  private static final int TWIN_SHARE = 8;

  /** More than a run has set-ups. */
  private static final int THREADS_MAX = 4_096;

  private static final CompilationMXBean COMPILER = ManagementFactory.getCompilationMXBean();
  private static final ThreadMXBean ALLOCATIONS =
      (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private final Effort effort;
  private final Pace pace;

  /** One for each set-up, all alive until the end: none gets another's stack. */
  private final ExecutorService threads = Executors.newFixedThreadPool(THREADS_MAX);

  /**
   * How long to look.
   *
   * @param rounds of each subject, 5 or more: a fifth, rounded up, in each placement
   * @param roundMs length of a round of one subject
   * @param warmUpMs of a Java node of its own, before the first round: so long at least, and up to
   *     four times as long while the JVM still compiles, as on a machine whose processors others
   *     share. Of those that are measured a round's length, up to 16 of them while it compiles
   */
  public record Effort(int rounds, int roundMs, int warmUpMs) {
    public Effort {
      if (rounds < 5 || rounds > 1_000) {
        throw new IllegalArgumentException("rounds is " + rounds + "; must be in 5..1000");
      }
      if (roundMs < 1 || roundMs > 60_000 || warmUpMs < 0 || warmUpMs > 600_000) {
        throw new IllegalArgumentException(
            "rounds of %d ms after %d ms of warm-up; must be in 1..60000 and 0..600000"
                .formatted(roundMs, warmUpMs));
      }
    }

    /** In each placement. */
    int roundsOfPlacement() {
      return (rounds + ScenarioRun.PLACEMENTS - 1) / ScenarioRun.PLACEMENTS;
    }
  }

  /** Measures with so much effort. */
  public Measurement(Effort effort) {
    this(effort, new Pace());
  }

  Measurement(Effort effort, Pace pace) {
    this.effort = effort;
    this.pace = pace;
    pace.warmUp();
  }

  /** The shortest step of the machine's six chains so far, ns: how fast it can be. */
  public double leastStepNs() {
    return pace.leastNs();
  }

  /** Measures a scenario. */
  public ScenarioRun run(Scenario scenario) {
    ScenarioRun run = new ScenarioRun(scenario);
    inThread(run, () -> warmUp(scenario));
    for (int placement = 0; placement < ScenarioRun.PLACEMENTS; placement++) {
      Rounds rounds = run.placement(placement);
      inThread(run, () -> measure(run, rounds, System.nanoTime()));
    }
    return run;
  }

  /**
   * Measures once more what met the machine at its slower speed all but throughout, until most of
   * the set-ups are of the faster one, and waits for that before each half of a round. By the speed
   * alone, never by what was measured.
   *
   * @param leastStepNs the machine's fastest, ns, as far as others know
   * @param untilNs time of {@link System#nanoTime} until which it is waited, and something more
   *     begun
   */
  public void runAgain(ScenarioRun run, double leastStepNs, long untilNs) {
    pace.learn(leastStepNs);
    while (run.isSlow(pace.leastNs()) && System.nanoTime() < untilNs) {
      Rounds rounds = run.slowPlacement(pace.leastNs());
      inThread(run, () -> measure(run, rounds, untilNs));
    }
  }

  /** Its figures, by what is known of the machine's speed now. */
  public List<Figures> figures(ScenarioRun run) {
    return run.figures(pace.leastNs());
  }

  /** Waits for it; what goes wrong voids the run, and in a void one nothing is done. */
  private void inThread(ScenarioRun run, Runnable setUp) {
    if (run.hasFailed()) {
      return;
    }
    try {
      threads.submit(setUp).get();
    } catch (ExecutionException e) {
      switch (e.getCause()) {
        case IllegalStateException fault -> run.fail(fault.getMessage());
        case RuntimeException thrown -> throw thrown;
        case Error thrown -> throw thrown;
        default -> throw new IllegalStateException(e.getCause());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      run.fail("interrupted");
    }
  }

  /** Sets the scenario up in this thread, and sees that both do the same. */
  private static void with(Scenario scenario, Consumer<Bench> use) {
    try (Bench bench = Bench.open(scenario)) {
      bench.verify(VERIFY_BATCHES);
      use.accept(bench);
    } finally {
      Threads.unregister(); // the lab registered this thread
    }
  }

  /** In a set-up that is thrown away, so that the twin need not do all that Java did. */
  private void warmUp(Scenario scenario) {
    int partMs = Math.max(effort.warmUpMs() / WARM_UP_PARTS, effort.roundMs());
    with(scenario, bench -> warmUp(bench, partMs, effort.warmUpMs(), TWIN_SHARE));
  }

  /**
   * Adds a set-up's rounds.
   *
   * @param untilNs how long a round at the machine's faster speed is waited for, time of {@link
   *     System#nanoTime}
   */
  private void measure(ScenarioRun run, Rounds rounds, long untilNs) {
    with(run.scenario(), bench -> measure(bench, run, rounds, untilNs));
  }

  private void measure(Bench bench, ScenarioRun run, Rounds rounds, long untilNs) {
    PacketLoop java = bench.java();
    PacketLoop twin = bench.twin();
    int batches = warmUp(bench, effort.roundMs(), 0, 1);
    long packets = 0;
    long allocatedBytes = 0;
    for (int done = 0; wantsMore(rounds, done, untilNs); done++) {
      awaitFast(untilNs);
      java.times().begin();
      long before = ALLOCATIONS.getCurrentThreadAllocatedBytes();
      packets += timedBatches(java, batches);
      allocatedBytes += ALLOCATIONS.getCurrentThreadAllocatedBytes() - before;
      awaitFast(untilNs);
      twin.times().begin();
      timedBatches(twin, batches);
      rounds.add(java.times(), twin.times());
    }
    bench.compare();
    run.add(packets, allocatedBytes, bench.digests());
  }

  private void awaitFast(long untilNs) {
    while (System.nanoTime() < untilNs && pace.isSlow()) {
      // A look takes its time.
    }
  }

  /**
   * A placement's part of those asked for, and more, while the time lasts, until one met the
   * machine at its faster speed.
   *
   * @param done of this set-up
   */
  private boolean wantsMore(Rounds rounds, int done, long untilNs) {
    return done < effort.roundsOfPlacement()
        || System.nanoTime() < untilNs && !rounds.hasFast(pace.leastNs());
  }

  /**
   * Java for so long at least, in such parts, and behind each of them the twin; the last of which
   * compiled nothing if the most do not.
   *
   * @param twinShare the twin does as many batches, divided by this
   * @return Java's batches in the last part
   */
  private static int warmUp(Bench bench, int partMs, int leastMs, int twinShare) {
    int batches;
    int parts = 0;
    long compiledMs;
    do {
      compiledMs = COMPILER.getTotalCompilationTime();
      batches = batchesIn(bench.java(), partMs);
      batches(bench.twin(), batches / twinShare);
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

  /** Looks before and behind each batch how fast the machine is. */
  private long timedBatches(PacketLoop loop, int count) {
    long packets = 0;
    pace.stepNs();
    for (int i = 0; i < count; i++) {
      packets += pace.batch(loop);
    }
    return packets;
  }

  private static void batches(PacketLoop loop, int count) {
    for (int i = 0; i < count; i++) {
      loop.batch();
    }
  }

  @Override
  public void close() {
    threads.shutdownNow();
  }
}
