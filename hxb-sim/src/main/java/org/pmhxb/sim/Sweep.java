package org.pmhxb.sim;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/** Runs many seeds of a scenario on all cores; seeds have nothing to do with each other. */
public final class Sweep {
  private static final int LAST_EVENTS = 40;

  private Sweep() {}

  /**
   * One seed that failed.
   *
   * @param replay the command that runs it alone
   * @param faults those that are needed for it to fail
   * @param lastEvents of the flow concerned
   */
  public record Failure(
      long seed, String violation, String replay, List<String> faults, List<String> lastEvents) {}

  /**
   * All seeds together; {@code goodputRatio} is their mean.
   *
   * @param longestNs virtual time of the run that took the most of it
   */
  public record Outcome(
      long seeds,
      List<Long> failedSeeds,
      Map<Violation.Kind, Integer> violations,
      long messages,
      long delivered,
      long excused,
      long lost,
      long peerDowns,
      long leakedBuffers,
      double virtualSeconds,
      long longestNs,
      double wallSeconds,
      double goodputRatio,
      long events,
      long frames,
      Map<String, Long> counters,
      List<Failure> failures) {
    public boolean ok() {
      return failedSeeds.isEmpty();
    }

    public int count(Violation.Kind kind) {
      return violations.getOrDefault(kind, 0);
    }
  }

  /**
   * @param jobs threads
   * @param told failures that are shrunk and told in full, the first ones
   * @param toFirstFailure begin no further seed once one has failed; those before it have been run
   * @param progress takes lines for people, one thread at a time
   * @throws IllegalStateException a seed was not run to its end, for want of memory say: no outcome
   *     would be that of all seeds
   */
  public static Outcome run(
      Scenario scenario,
      long firstSeed,
      long lastSeed,
      int jobs,
      int told,
      boolean toFirstFailure,
      Consumer<String> progress)
      throws InterruptedException {
    long startNs = System.nanoTime();
    Sum sum = new Sum();
    long count = lastSeed - firstSeed + 1;
    AtomicLong begun = new AtomicLong(); // not the seed: none is beyond the last that there is
    AtomicReference<IllegalStateException> broken = new AtomicReference<>();
    Consumer<String> ofOne = count == 1 ? progress : null;
    Runnable work =
        () -> {
          for (long i = begun.getAndIncrement();
              i < count && broken.get() == null && !(toFirstFailure && sum.hasFailed());
              i = begun.getAndIncrement()) {
            try {
              sum.add(Simulation.run(scenario.options(firstSeed + i), ofOne));
              synchronized (sum) {
                progress.accept(sum.line(count));
              }
            } catch (RuntimeException | Error e) {
              broken.compareAndSet(
                  null,
                  new IllegalStateException(
                      "seed " + (firstSeed + i) + " was not run to its end: " + e, e));
            }
          }
        };
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < Math.min(jobs, count); i++) {
      threads.add(Thread.ofPlatform().name("sim-" + i).start(work));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    if (broken.get() != null) {
      throw broken.get();
    }
    return sum.outcome(scenario, (System.nanoTime() - startNs) / 1e9, told, progress);
  }

  /** Shrinks a failing seed and runs it once more for its last events. */
  static Failure explain(Scenario scenario, long seed, Violation violation) {
    List<Integer> kept = new Shrinker(scenario, seed, violation.kind()).shrink();
    SimResult again = Simulation.run(scenario.withOnly(kept).options(seed).withLog(true));
    return new Failure(
        seed,
        again.violation().toString(),
        scenario.replayCommand(seed, kept),
        again.schedule().faults().stream().map(Object::toString).toList(),
        again.lastEvents(LAST_EVENTS));
  }

  private static final class Sum {
    private final Map<Long, Violation> failed = new TreeMap<>();
    private final Map<String, Long> counters = new TreeMap<>();
    private long seeds;
    private long messages;
    private long delivered;
    private long excused;
    private long lost;
    private long peerDowns;
    private long leaked;
    private long virtualNs;
    private long longestNs;
    private double goodput;
    private long events;
    private long frames;

    synchronized void add(SimResult r) {
      seeds++;
      if (!r.ok()) {
        failed.put(r.seed(), r.violation());
      }
      messages += r.messages();
      delivered += r.delivered();
      excused += r.excused();
      lost += r.lost();
      peerDowns += r.peerDowns();
      leaked += r.leakedBuffers();
      virtualNs += r.virtualNs();
      longestNs = Math.max(longestNs, r.virtualNs());
      goodput += r.goodputRatio();
      events += r.events();
      frames += r.framesSent();
      r.counters().forEach((name, n) -> counters.merge(name, n, Long::sum));
    }

    synchronized boolean hasFailed() {
      return !failed.isEmpty();
    }

    synchronized String line(long all) {
      return "%d of %d seeds, %d failed".formatted(seeds, all, failed.size());
    }

    synchronized Outcome outcome(
        Scenario scenario, double seconds, int limit, Consumer<String> progress) {
      Map<Violation.Kind, Integer> kinds = new TreeMap<>();
      failed.values().forEach(v -> kinds.merge(v.kind(), 1, Integer::sum));
      List<Failure> told = new ArrayList<>();
      failed.entrySet().stream()
          .limit(limit)
          .forEach(
              e -> {
                progress.accept("shrinking seed " + e.getKey());
                told.add(explain(scenario, e.getKey(), e.getValue()));
              });
      return new Outcome(
          seeds,
          List.copyOf(failed.keySet()),
          kinds,
          messages,
          delivered,
          excused,
          lost,
          peerDowns,
          leaked,
          virtualNs / 1e9,
          longestNs,
          seconds,
          goodput / Math.max(1, seeds),
          events,
          frames,
          counters,
          told);
    }
  }
}
