package org.pmhxb.cli.bench;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Reads over and over how many bytes a node has delivered, on a thread of its own, so that moments
 * within a run can be told apart.
 */
public final class GoodputSampler implements AutoCloseable {
  private static final long INTERVAL_NS = 1_000_000L;

  /**
   * A question that comes so long behind the last answer says that this process was held up, and
   * perhaps the whole machine, links included: what was delivered meanwhile tells nothing of the
   * goodput. An answer that is late is the node's doing, and counts.
   */
  static final long HELD_UP_NS = 50_000_000L;

  private record Sample(long askedNs, long answeredNs, long bytes) {
    /** The best guess of when so many bytes were delivered. */
    long atNs() {
      return askedNs + (answeredNs - askedNs) / 2;
    }

    boolean isHeldUpAfter(Sample before) {
      return askedNs - before.answeredNs >= HELD_UP_NS;
    }
  }

  private final BenchNode node;
  private final List<Sample> samples = new ArrayList<>();
  private final Thread thread = new Thread(this::run, "goodput");
  private volatile boolean stopped;
  private volatile IOException failure;

  /**
   * @param node used by this sampler alone; closed with it
   */
  public GoodputSampler(BenchNode node) {
    this.node = node;
  }

  public void start() {
    thread.start();
  }

  private void run() {
    try {
      while (!stopped) {
        long askedNs = System.nanoTime();
        long bytes = node.counters().getOrDefault("bytes-delivered", 0L);
        add(askedNs, System.nanoTime(), bytes);
        LockSupport.parkNanos(INTERVAL_NS);
      }
    } catch (IOException e) {
      failure = e;
    }
  }

  /** A sample: so many bytes were delivered at some moment between question and answer. */
  void add(long askedNs, long answeredNs, long bytes) {
    synchronized (samples) {
      samples.add(new Sample(askedNs, answeredNs, bytes));
    }
  }

  /**
   * Mean goodput between two moments, bytes per second, without the time that this process was held
   * up ({@link #heldUpNs}); 0 without two samples between them.
   */
  public double bytesPerSecond(long fromNs, long toNs) {
    Sample before = null;
    long bytes = 0;
    long ns = 0;
    for (Sample sample : snapshot()) {
      if (sample.atNs() - fromNs >= 0 && sample.atNs() - toNs <= 0) {
        if (before != null && !sample.isHeldUpAfter(before)) {
          bytes += sample.bytes - before.bytes;
          ns += sample.atNs() - before.atNs();
        }
        before = sample;
      }
    }
    return ns == 0 ? 0 : bytes * 1e9 / ns;
  }

  /** Time between samples that no goodput counts, nanoseconds, of all that was sampled. */
  public long heldUpNs() {
    Sample before = null;
    long ns = 0;
    for (Sample sample : snapshot()) {
      if (before != null && sample.isHeldUpAfter(before)) {
        ns += sample.atNs() - before.atNs();
      }
      before = sample;
    }
    return ns;
  }

  /**
   * What is missing between two moments against a goodput, as the time that it takes.
   *
   * @return nanoseconds; below 0 when more came
   */
  public long missingNs(long fromNs, long toNs, double bytesPerSecond) {
    double share = bytesPerSecond(fromNs, toNs) / bytesPerSecond;
    return Math.round((toNs - fromNs) * (1 - share));
  }

  /** Mean time between samples: what the figures can tell apart. */
  public long resolutionNs() {
    List<Sample> all = snapshot();
    return all.size() < 2
        ? Long.MAX_VALUE
        : (all.getLast().atNs() - all.getFirst().atNs()) / (all.size() - 1);
  }

  private List<Sample> snapshot() {
    synchronized (samples) {
      return List.copyOf(samples);
    }
  }

  /** Ends sampling; the figures stay. */
  @Override
  public void close() throws IOException {
    stopped = true;
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    node.close();
    if (failure != null) {
      throw failure;
    }
  }
}
