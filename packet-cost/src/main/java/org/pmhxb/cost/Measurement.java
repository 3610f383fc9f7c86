package org.pmhxb.cost;

import com.sun.management.ThreadMXBean;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.pmhxb.cost.Rounds.Round;
import org.pmhxb.cost.Rounds.Sides;
import org.pmhxb.ffi.Threads;

/**
 * Runs scenarios' two subjects in turn, so that whatever else the machine does falls on both, and
 * sums up. Owner: the calling thread, which waits for those that measure.
 */
public final class Measurement {
  private static final int VERIFY_BATCHES = 4;

  /** The warm-up ends with a quarter of itself in which the JVM compiled nothing. */
  private static final int WARM_UP_PARTS = 4;

  private static final int WARM_UP_PARTS_MAX = 4 * WARM_UP_PARTS;

  /** Between two looks at a machine that is at its slower speed. */
  private static final long LOOK_MS = 20;

  private static final CompilationMXBean COMPILER = ManagementFactory.getCompilationMXBean();
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private final Effort effort;
  private final Pace pace;

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
      return (rounds + Course.PLACEMENTS - 1) / Course.PLACEMENTS;
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
  public Course run(Scenario scenario) {
    Course course = new Course(scenario);
    inThreads(course, List.of(() -> warmUp(scenario)));
    if (!course.hasFailed()) {
      place(course, IntStream.range(0, Course.PLACEMENTS).boxed().toList());
    }
    return course;
  }

  /**
   * Measures once more what met the machine at its slower speed throughout, when it is at the
   * faster one: such a time lasts for seconds, and what comes next has a better chance in another.
   * By the speed alone, never by what was measured.
   *
   * @param leastStepNs the machine's fastest, as far as others know
   * @param untilNs time of {@link System#nanoTime} when nothing more is begun
   */
  public void runAgain(Course course, double leastStepNs, long untilNs) {
    pace.learn(leastStepNs);
    List<Integer> slow = course.slowPlacements(pace.leastNs());
    while (!slow.isEmpty() && isFastBefore(untilNs)) {
      place(course, slow.subList(0, 1));
      slow = course.slowPlacements(pace.leastNs());
    }
  }

  /** Its figures, by what is known of the machine's speed now. */
  public List<Figures> figures(Course course) {
    return course.figures(pace.leastNs());
  }

  private boolean isFastBefore(long untilNs) {
    try {
      while (System.nanoTime() < untilNs) {
        if (!Pace.isSlower(pace.stepNs(), pace.leastNs())) {
          return true;
        }
        Thread.sleep(LOOK_MS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return false;
  }

  /** Sets the scenario up for each of these. */
  private void place(Course course, List<Integer> placements) {
    inThreads(
        course,
        placements.stream()
            .<Runnable>map(p -> () -> measure(course, course.placement(p)))
            .toList());
  }

  /** One after the other; what goes wrong voids the course. */
  private static void inThreads(Course course, List<Runnable> setUps) {
    // Threads of their own, all alive until the last one is done: none gets another's stack.
    try (var threads = Executors.newFixedThreadPool(setUps.size())) {
      for (Runnable setUp : setUps) {
        threads.submit(setUp).get();
      }
    } catch (ExecutionException e) {
      switch (e.getCause()) {
        case IllegalStateException fault -> course.fail(fault.getMessage());
        case RuntimeException thrown -> throw thrown;
        case Error thrown -> throw thrown;
        default -> throw new IllegalStateException(e.getCause());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      course.fail("interrupted");
    }
  }

  /** Sets the scenario up in this thread, which ends with it, and sees that both do the same. */
  private static void with(Scenario scenario, Consumer<Bench> use) {
    try (Bench bench = Bench.open(scenario)) {
      bench.verify(VERIFY_BATCHES);
      use.accept(bench);
    } finally {
      Threads.unregister(); // the lab registered this thread
    }
  }

  /**
   * In a set-up that is thrown away: the twin, which has nothing to compile, need not do all of it
   * after it. Both have run before, as the compiler must know that there are two.
   */
  private void warmUp(Scenario scenario) {
    int partMs = Math.max(effort.warmUpMs() / WARM_UP_PARTS, effort.roundMs());
    with(scenario, bench -> warmUp(bench.java(), partMs, effort.warmUpMs()));
  }

  private void measure(Course course, Rounds rounds) {
    with(course.scenario(), bench -> measure(bench, course, rounds));
  }

  private void measure(Bench bench, Course course, Rounds rounds) {
    PacketLoop java = bench.java();
    PacketLoop twin = bench.twin();
    WarmUp warmUp = warmUp(java, effort.roundMs(), 0);
    int batches = warmUp.lastPart();
    batches(twin, warmUp.batches());
    long packets = 0;
    long allocatedBytes = 0;
    for (int done = 0; wantsMore(rounds, done); done++) {
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
    course.add(packets, allocatedBytes, bench.digests());
  }

  /**
   * A placement's part of those asked for, and as many again at most while the machine comes and
   * goes: some, but too few, met it at its faster speed. Where none did, more have a better chance
   * later ({@link #runAgain}).
   *
   * @param done of this set-up
   */
  private boolean wantsMore(Rounds rounds, int done) {
    int part = effort.roundsOfPlacement();
    return done < part || done < 2 * part && rounds.fastAreFew(pace.leastNs());
  }

  private static Round round(double stepNs, PhaseTimes java, PhaseTimes c) {
    return new Round(
        stepNs,
        new Sides(java.pathNs(), c.pathNs()),
        new Sides(java.withAcksNs(), c.withAcksNs()),
        java.generatorNs());
  }

  /** What a warm-up ran, and in the last of its parts. */
  private record WarmUp(int batches, int lastPart) {}

  /** For so long at least, in such parts, the last of which compiled nothing if the most do not. */
  private static WarmUp warmUp(PacketLoop java, int partMs, int leastMs) {
    int batches = 0;
    int lastPart;
    int parts = 0;
    long compiledMs;
    do {
      compiledMs = COMPILER.getTotalCompilationTime();
      lastPart = batchesIn(java, partMs);
      batches += lastPart;
      parts++;
    } while (parts * partMs < leastMs
        || parts < WARM_UP_PARTS_MAX && COMPILER.getTotalCompilationTime() > compiledMs);
    return new WarmUp(batches, lastPart);
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
