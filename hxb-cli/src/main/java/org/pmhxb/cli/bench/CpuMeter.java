package org.pmhxb.cli.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.pmhxb.cli.process.ProcStat;

/**
 * Measures the processor time of processes over an interval, from {@code /proc}: {@link ProcStat},
 * and the first line of {@code /proc/stat} for the machine. Owner: one thread.
 */
public final class CpuMeter {
  /** Between two looks at the processors' distance: they take a hundredth of it at most. */
  private static final long DISTANCE_INTERVAL_NS = 200_000_000L;

  private final Path proc;
  private final Supplier<List<Long>> pids;

  /** Null: it is not looked at. */
  private final CoreDistance distance;

  private long sampledNs = System.nanoTime() - DISTANCE_INTERVAL_NS;

  /** What each process had used when it was last seen. */
  private final Map<Long, Long> ticksOf = new HashMap<>();

  private Sample from;
  private Sample to;

  private record Sample(
      long nowNs, long processTicks, long busyTicks, long stolenTicks, long allTicks) {}

  /**
   * @param pids the processes, asked at each sample: one that has come since the start counts
   *     whole, one that has ended with what it had used at the last sample before
   */
  public CpuMeter(Supplier<List<Long>> pids) {
    this(pids, null);
  }

  /**
   * @param distance looked at while {@link #follow} or {@link #look} is called; null: it is not
   */
  public CpuMeter(Supplier<List<Long>> pids, CoreDistance distance) {
    this(Path.of("/proc"), pids, distance);
  }

  CpuMeter(Path proc, Supplier<List<Long>> pids, CoreDistance distance) {
    this.proc = proc;
    this.pids = pids;
    this.distance = distance;
  }

  /** Begins the interval. */
  public void start() {
    from = sample();
    to = null;
  }

  /** Ends it; may be called again for a later end. */
  public void stop() {
    to = sample();
  }

  /** Begins when it is due and ends when it is due; call often. */
  void follow(boolean begun, boolean over) {
    if (begun && from == null) {
      start();
    }
    if (over && from != null && to == null) {
      stop();
    }
    if (from != null && to == null) {
      look();
    }
  }

  /** Looks at the processors' distance when that is due; call often within the interval. */
  public void look() {
    long nowNs = System.nanoTime();
    if (distance != null && nowNs - sampledNs >= DISTANCE_INTERVAL_NS) {
      sampledNs = nowNs;
      distance.sample();
    }
  }

  /** What the interval cost; null when it had no beginning or no end. */
  public CpuUse use() {
    if (from == null || to == null || to.nowNs == from.nowNs) {
      return null;
    }
    long all = Math.max(1, to.allTicks - from.allTicks);
    return new CpuUse(
        (to.nowNs - from.nowNs) / 1e9,
        (double) (to.processTicks - from.processTicks) / ProcStat.TICKS_PER_SECOND,
        (double) (to.busyTicks - from.busyTicks) / all,
        (double) (to.stolenTicks - from.stolenTicks) / all,
        Runtime.getRuntime().availableProcessors(),
        distance == null ? null : distance.ns());
  }

  private Sample sample() {
    for (long pid : pids.get()) {
      long used = ProcStat.ofProcess(proc, pid).map(ProcStat::cpuTicks).orElse(0L);
      ticksOf.merge(pid, used, Math::max);
    }
    long ticks = ticksOf.values().stream().mapToLong(Long::longValue).sum();
    // cpu user nice system idle iowait irq softirq steal guest guest_nice; guests count as user.
    String[] words = machineLine().split(" +");
    long all = 0;
    long idle = 0;
    long stolen = 0;
    for (int i = 1; i < Math.min(words.length, 9); i++) {
      long value = Long.parseLong(words[i]);
      all += value;
      idle += i == 4 || i == 5 ? value : 0;
      stolen += i == 8 ? value : 0;
    }
    return new Sample(System.nanoTime(), ticks, all - idle, stolen, all);
  }

  private String machineLine() {
    Path file = proc.resolve("stat");
    try {
      return Files.readString(file).lines().findFirst().orElse("");
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + file, e);
    }
  }
}
