package org.pmhxb.cli.bench;

import java.io.IOException;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * Measures runs again in which the host of a virtual machine withheld much of its processors: who
 * runs there stands still meanwhile, so such a run says nothing of what was to be measured. Of the
 * tries of a run the one with the least withheld counts; what they measured is not looked at, nor
 * whom they measured. Where nothing is withheld each run is measured once. Owner: one thread.
 */
public final class Undisturbed {
  /** Of the processors, 0 to 1: from here on a run is measured again. */
  static final double DISTURBED = 0.03;

  /** Of one run, at most: a host may withhold for minutes. */
  static final int REPEATS = 2;

  /** Repeats begin until they have taken the suite's time limit by this. */
  static final int PART_OF_LIMIT = 12;

  /** In the journal: whoever goes on with a suite has no more time for repeats than one go has. */
  private static final String KEY = "disturbed runs";

  private final Journal journal;
  private final long mostNs;
  private final BooleanSupplier outOfTime;
  private final Consumer<String> progress;
  private final LongSupplier clockNs;
  private Counts counts;

  /** One run, with its warm-up. */
  @FunctionalInterface
  public interface Run<T> {
    /** Measures it. */
    T measure() throws IOException, InterruptedException;
  }

  /**
   * Of all runs of a suite, those of figures that failed included.
   *
   * @param repeated runs that were measured again, once or twice
   * @param disturbed runs of which no try had less than 3 % of the processors withheld, those that
   *     were not repeated for want of time included
   * @param seconds that the repeats took
   */
  public record Counts(int repeated, int disturbed, double seconds) {
    /** For the head of a page. */
    public String line() {
      return "Disturbed runs: whoever was measured, and whatever it reached, a run in which the host"
          + " withheld 3 % of the processors or more was measured again, at most twice, and of its"
          + " tries the one with the least withheld counts. Measured again: "
          + repeated
          + "; still disturbed: "
          + disturbed
          + '.';
    }
  }

  /**
   * Goes on with the counts of the journal.
   *
   * @param limit how long the whole suite may take; repeats get a twelfth of it
   * @param outOfTime when true, nothing is repeated any more
   * @param progress takes lines for people
   */
  public Undisturbed(
      Journal journal, Duration limit, BooleanSupplier outOfTime, Consumer<String> progress) {
    this(journal, limit, outOfTime, progress, System::nanoTime);
  }

  Undisturbed(
      Journal journal,
      Duration limit,
      BooleanSupplier outOfTime,
      Consumer<String> progress,
      LongSupplier clockNs) {
    this.journal = journal;
    this.mostNs = limit.toNanos() / PART_OF_LIMIT;
    this.outOfTime = outOfTime;
    this.progress = progress;
    this.clockNs = clockNs;
    this.counts = journal.find(KEY, Counts.class).orElse(new Counts(0, 0, 0));
  }

  /** Measures a run of ours. One in which something went wrong counts at once. */
  public Benchmark.Outcome measure(Run<Benchmark.Outcome> run)
      throws IOException, InterruptedException {
    return measure(
        run,
        outcome ->
            outcome.cpu() == null || outcome.faulty() > 0 || !outcome.failures().isEmpty()
                ? null
                : (Double) outcome.cpu().withheld());
  }

  /**
   * Measures a run. A try that fails fails the run.
   *
   * @param withheld of the processors meanwhile, 0 to 1; a try of which it is null, since it is not
   *     known, counts at once
   */
  public <T> T measure(Run<T> run, Function<T, Double> withheld)
      throws IOException, InterruptedException {
    T best = run.measure();
    Double least = withheld.apply(best);
    for (int repeats = 0;
        isDisturbed(least)
            && repeats < REPEATS
            && 1e9 * counts.seconds() < mostNs
            && !outOfTime.getAsBoolean();
        repeats++) {
      progress.accept(
          "the host withheld %.0f %% of the processors: measured again".formatted(100 * least));
      T next = again(run, repeats == 0 ? 1 : 0);
      Double share = withheld.apply(next);
      if (share == null || share < least) {
        best = next;
        least = share;
      }
    }
    if (isDisturbed(least)) {
      count(0, 1, 0);
    }
    return best;
  }

  private <T> T again(Run<T> run, int repeated) throws IOException, InterruptedException {
    long startNs = clockNs.getAsLong();
    try {
      return run.measure();
    } finally {
      count(repeated, 0, (clockNs.getAsLong() - startNs) / 1e9);
    }
  }

  private void count(int repeated, int disturbed, double seconds) throws IOException {
    counts =
        new Counts(
            counts.repeated() + repeated,
            counts.disturbed() + disturbed,
            counts.seconds() + seconds);
    journal.add(KEY, counts);
  }

  /**
   * Whether a run says little, as the host withheld much.
   *
   * @param withheld of the processors, 0 to 1; null: not known, so it counts
   */
  public static boolean isDisturbed(Double withheld) {
    return withheld != null && withheld >= DISTURBED;
  }

  /** Until now, earlier goes at the same suite included. */
  public Counts counts() {
    return counts;
  }
}
