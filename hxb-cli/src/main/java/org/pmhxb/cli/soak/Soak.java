package org.pmhxb.cli.soak;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import org.pmhxb.pm.port.PortFaults;

/** What all parts of a soak add to: sums, failures, growth. Owner: the main thread. */
final class Soak {
  /** A collector, a compiler and glibc's arenas breathe; a leak grows with the rounds. */
  private static final long RESIDENT_MAX = 96L << 20;

  private static final long HEAP_MAX = 16L << 20;
  private static final int DESCRIPTORS_MAX = 4;
  private static final int THREADS_MAX = 4;

  final long seed;
  final SplittableRandom random;
  final List<String> failures = new ArrayList<>();
  int rounds;
  long messages;
  long lost;
  long duplicated;
  long misordered;
  long corrupt;
  long resent;
  int stops;
  int kills;

  /** By itself: no round of its cluster can follow. */
  boolean nodeEnded;

  long leakedBuffers;
  private long heapAtFirst;
  private long heapAtLast;
  private Vitals worst = new Vitals(0, 0, 0);

  Soak(long seed) {
    this.seed = seed;
    this.random = new SplittableRandom(seed);
  }

  /** Each kind by itself, then all at once. */
  PortFaults nextFaults() {
    String[] kinds = {
      "loss=0.01",
      "loss=0.05",
      "reorder=0.1",
      "duplicate=0.01",
      "corrupt=0.001",
      "loss=0.02,duplicate=0.01,reorder=0.1,corrupt=0.001"
    };
    return PortFaults.parse(
        kinds[rounds % kinds.length] + ",seed=" + (1 + random.nextInt(1 << 20)));
  }

  void count(
      String what, long got, long missing, long twice, long disordered, long damaged, long again) {
    rounds++;
    messages += got;
    lost += missing;
    duplicated += twice;
    misordered += disordered;
    corrupt += damaged;
    resent += again;
    if (missing + twice + disordered + damaged > 0 || got == 0) {
      failures.add(
          String.format(
              Locale.ROOT,
              "%s: %d messages, lost %d, duplicated %d, misordered %d, corrupt %d",
              what,
              got,
              missing,
              twice,
              disordered,
              damaged));
    }
  }

  /** The heap after a collection, at the end of a ring round. */
  void heapNow() {
    System.gc();
    Runtime runtime = Runtime.getRuntime();
    heapAtLast = runtime.totalMemory() - runtime.freeMemory();
    heapAtFirst = heapAtFirst == 0 ? heapAtLast : heapAtFirst;
  }

  void grown(String process, Vitals growth) {
    worst =
        new Vitals(
            Math.max(worst.residentBytes(), growth.residentBytes()),
            Math.max(worst.descriptors(), growth.descriptors()),
            Math.max(worst.threads(), growth.threads()));
    if (growth.residentBytes() > RESIDENT_MAX
        || growth.descriptors() > DESCRIPTORS_MAX
        || growth.threads() > THREADS_MAX) {
      failures.add(process + " grew: " + growth);
    }
  }

  SoakReport report(double minutes) {
    long heap = Math.max(0, heapAtLast - heapAtFirst);
    if (heap > HEAP_MAX) {
      failures.add("the heap grew by " + heap + " B");
    }
    if (leakedBuffers > 0) {
      failures.add(leakedBuffers + " buffers leaked");
    }
    return new SoakReport(
        failures.isEmpty(),
        seed,
        minutes,
        rounds,
        messages,
        lost,
        duplicated,
        misordered,
        corrupt,
        resent,
        stops,
        kills,
        leakedBuffers,
        heap,
        new SoakReport.Growth(worst.residentBytes(), worst.descriptors(), worst.threads()),
        failures);
  }
}
