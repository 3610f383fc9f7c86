package org.pmhxb.cli.bench;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.pmhxb.cli.workload.LatencyHistogram;
import org.pmhxb.cli.workload.WorkloadReport;
import org.pmhxb.cli.workload.WorkloadSpec;

/** Runs a {@link TrafficPlan} on nodes that are ready and puts their reports together. */
public final class Benchmark {
  /** Endpoint number of benchmark traffic, the same on all nodes. */
  public static final int ENDPOINT = 1;

  /** How long what is under way may take at the end: above the time-out of a silent peer. */
  private static final long DRAIN_MS = 8_000;

  /** From the last node's readiness to the first message: the start orders travel meanwhile. */
  private static final Duration LEAD = Duration.ofMillis(300);

  private static final long PROGRESS_MS = 500;
  private static final long STEP_MS = 20;

  /** A moment that comes so late says that this process was held up. */
  private static final long HELD_UP_NS = 50_000_000L;

  private final TrafficPlan plan;
  private final int sizeBytes;
  private final long warmUpMs;
  private final long measureMs;
  private final Duration lead;
  private final List<Incident> incidents;
  private final Consumer<String> progress;

  /**
   * @param warmUpMs traffic before the measurement: sessions open, the code is compiled
   * @param progress takes lines for people
   */
  public Benchmark(
      TrafficPlan plan, int sizeBytes, long warmUpMs, long measureMs, Consumer<String> progress) {
    this(plan, sizeBytes, warmUpMs, measureMs, LEAD, List.of(), progress);
  }

  private Benchmark(
      TrafficPlan plan,
      int sizeBytes,
      long warmUpMs,
      long measureMs,
      Duration lead,
      List<Incident> incidents,
      Consumer<String> progress) {
    this.plan = plan;
    this.sizeBytes = sizeBytes;
    this.warmUpMs = warmUpMs;
    this.measureMs = measureMs;
    this.lead = lead;
    this.incidents = incidents;
    this.progress = progress;
  }

  /** The same that begins so soon: for nodes which hear of it at once. */
  public Benchmark startingIn(Duration other) {
    return new Benchmark(plan, sizeBytes, warmUpMs, measureMs, other, incidents, progress);
  }

  /**
   * The same in which something happens, by whose time its outcome tells what arrived when.
   *
   * @param others in order
   */
  public Benchmark with(List<Incident> others) {
    return new Benchmark(plan, sizeBytes, warmUpMs, measureMs, lead, others, progress);
  }

  /**
   * What happens to the cluster while it is measured. A run that ends early ends without it.
   *
   * @param afterMs since the measurement began
   * @param what does it; returns by when it had taken effect, on the machine's monotonic clock
   */
  public record Incident(long afterMs, LongSupplier what) {}

  /** One stream as its receiver saw it, during the measurement but for the faults. */
  public record Pair(
      int src,
      int dst,
      long messages,
      double bytesPerSecond,
      long lost,
      long duplicated,
      long misordered,
      long corrupt) {}

  /**
   * What came out. The faults are those of the whole run, as are resends; the rest is of the
   * measurement.
   *
   * @param resent frames sent again, from before the warm-up until all had come
   * @param messagesInAll delivered meanwhile
   * @param longestStopNs longest time without a message of one stream
   * @param latency half round trips, or one-way times; null when nothing was timed
   * @param cpu processor time during the measurement; null when it was not asked for
   * @param timeline what arrived when; null of a run without incidents
   * @param failures what did not go as it should, for people
   */
  public record Outcome(
      double seconds,
      long messages,
      double bytesPerSecond,
      double messagesPerSecond,
      long lost,
      long duplicated,
      long misordered,
      long corrupt,
      long resent,
      long messagesInAll,
      long longestStopNs,
      LatencyHistogram.Summary latency,
      CpuUse cpu,
      Timeline timeline,
      List<Pair> pairs,
      List<String> failures) {
    /** Messages that were lost, came twice, out of order, or changed. */
    public long faulty() {
      return lost + duplicated + misordered + corrupt;
    }
  }

  /**
   * Runs it. A node that fails is named in the outcome's failures; the others' figures stand.
   *
   * @param nodes by number, at least those of the plan; relays among them count resends too
   * @param meter of the nodes' processes; null when they are none of their own
   */
  public Outcome run(Map<Integer, ? extends BenchNode> nodes, CpuMeter meter)
      throws IOException, InterruptedException {
    long timelineMs = incidents.isEmpty() ? 0 : 1 + measureMs / WorkloadSpec.TIMELINE_STEPS_MAX;
    Map<Integer, WorkloadSpec> specs =
        plan.specs(ENDPOINT, sizeBytes, warmUpMs, measureMs, DRAIN_MS, timelineMs);
    Map<Integer, Long> resentBefore = resent(nodes);
    for (Map.Entry<Integer, WorkloadSpec> entry : specs.entrySet()) {
      nodes.get(entry.getKey()).prepare(entry.getValue());
    }
    List<String> failures = new ArrayList<>();
    Map<Integer, WorkloadReport> reports = new TreeMap<>();
    long startNs = System.nanoTime() + lead.toNanos();
    Timeline timeline =
        incidents.isEmpty()
            ? null
            : new Timeline(startNs + warmUpMs * 1_000_000, timelineMs * 1_000_000);
    Map<Integer, Future<WorkloadReport>> runs = new TreeMap<>();
    try (ExecutorService pool = Executors.newCachedThreadPool()) {
      specs.forEach(
          (node, spec) -> runs.put(node, pool.submit(() -> nodes.get(node).run(spec, startNs))));
      try {
        follow(runs, startNs, meter, timeline);
      } catch (InterruptedException | RuntimeException e) {
        pool.shutdownNow();
        throw e;
      }
    }
    for (Map.Entry<Integer, Future<WorkloadReport>> run : runs.entrySet()) {
      try {
        reports.put(run.getKey(), run.getValue().get());
      } catch (ExecutionException e) {
        failures.add("node " + run.getKey() + ": " + e.getCause().getMessage());
      }
    }
    long resent = 0;
    for (Map.Entry<Integer, Long> after : resent(nodes).entrySet()) {
      resent += after.getValue() - resentBefore.getOrDefault(after.getKey(), 0L);
    }
    return outcome(reports, failures, resent, meter == null ? null : meter.use(), timeline);
  }

  private void follow(
      Map<Integer, Future<WorkloadReport>> runs, long startNs, CpuMeter meter, Timeline timeline)
      throws InterruptedException {
    Deque<Incident> ahead = new ArrayDeque<>(incidents);
    long shownMs = -PROGRESS_MS;
    long endMs = warmUpMs + measureMs;
    while (!runs.values().stream().allMatch(Future::isDone)) {
      long ms = (System.nanoTime() - startNs) / 1_000_000;
      if (meter != null) {
        meter.follow(ms >= warmUpMs, ms >= endMs);
      }
      if (ms - shownMs >= PROGRESS_MS) {
        shownMs = ms;
        showProgress(ms);
      }
      if (!ahead.isEmpty() && ms - warmUpMs >= ahead.peek().afterMs()) {
        long fromNs = System.nanoTime();
        timeline.incident(fromNs, ahead.remove().what().getAsLong());
      } else {
        long nextMs =
            Math.min(
                nextMs(ms, endMs),
                ahead.isEmpty() ? Long.MAX_VALUE : warmUpMs + ahead.peek().afterMs());
        sleep(Math.clamp(nextMs - ms, 1, STEP_MS), timeline);
      }
    }
    if (meter != null) {
      meter.follow(false, true); // nodes that spin let this thread come late to the end
    }
  }

  private static void sleep(long ms, Timeline timeline) throws InterruptedException {
    long dueNs = System.nanoTime() + ms * 1_000_000;
    Thread.sleep(ms);
    long nowNs = System.nanoTime();
    if (timeline != null && nowNs - dueNs >= HELD_UP_NS) {
      timeline.heldUp(dueNs, nowNs);
    }
  }

  /** The next instant that the processor meter must not miss. */
  private long nextMs(long ms, long endMs) {
    return ms < warmUpMs ? warmUpMs : ms < endMs ? endMs : Long.MAX_VALUE;
  }

  private void showProgress(long ms) {
    if (ms < warmUpMs) {
      progress.accept(
          String.format("warming up, %.1f of %.1f s", Math.max(0, ms) / 1e3, warmUpMs / 1e3));
    } else {
      long measured = Math.min(ms - warmUpMs, measureMs);
      progress.accept(String.format("measuring, %.1f of %.1f s", measured / 1e3, measureMs / 1e3));
    }
  }

  /** Frames sent again so far, by node; without the nodes that do not answer. */
  private static Map<Integer, Long> resent(Map<Integer, ? extends BenchNode> nodes)
      throws InterruptedException {
    Map<Integer, Long> counts = new TreeMap<>();
    for (BenchNode node : nodes.values()) {
      try {
        counts.put(node.node(), node.counters().getOrDefault("resent", 0L));
      } catch (IOException e) {
        SuiteTime.throwIfInterrupted(e);
        // Else it died during the run, which its report's absence tells.
      }
    }
    return counts;
  }

  private Outcome outcome(
      Map<Integer, WorkloadReport> reports,
      List<String> failures,
      long resent,
      CpuUse cpu,
      Timeline timeline) {
    double seconds = measureMs / 1e3;
    LatencyHistogram latency = new LatencyHistogram();
    List<Pair> pairs = new ArrayList<>();
    for (WorkloadReport report : reports.values()) {
      failures.addAll(report.failures());
      latency.add(report.latency());
      if (timeline != null) {
        timeline.add(report.timeline());
      }
      for (WorkloadReport.Received in : report.received()) {
        pairs.add(
            new Pair(
                in.src(),
                report.node(),
                in.measuredMessages(),
                in.measuredBytes() / seconds,
                lost(in, reports.get(in.src()), report.node()),
                in.duplicated(),
                in.misordered(),
                in.corrupt()));
      }
    }
    List<WorkloadReport.Received> received =
        reports.values().stream().flatMap(report -> report.received().stream()).toList();
    long messages = pairs.stream().mapToLong(Pair::messages).sum();
    return new Outcome(
        seconds,
        messages,
        pairs.stream().mapToDouble(Pair::bytesPerSecond).sum(),
        messages / seconds,
        pairs.stream().mapToLong(Pair::lost).sum(),
        pairs.stream().mapToLong(Pair::duplicated).sum(),
        pairs.stream().mapToLong(Pair::misordered).sum(),
        pairs.stream().mapToLong(Pair::corrupt).sum(),
        resent,
        received.stream().mapToLong(WorkloadReport.Received::messages).sum(),
        received.stream().mapToLong(WorkloadReport.Received::longestStopNs).max().orElse(0),
        latency.summary(),
        cpu,
        timeline,
        pairs,
        failures);
  }

  /** A stream whose end did not come has lost what its source says it sent and was not seen. */
  private static long lost(WorkloadReport.Received in, WorkloadReport source, int dst) {
    if (in.ended() || source == null) {
      return in.lost();
    }
    return source.sent().stream()
        .filter(out -> out.dst() == dst)
        .mapToLong(out -> Math.max(in.lost(), out.messages() - in.messages()))
        .findFirst()
        .orElse(in.lost());
  }
}
