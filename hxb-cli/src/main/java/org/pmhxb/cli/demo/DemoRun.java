package org.pmhxb.cli.demo;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.HdrHistogram.Histogram;
import org.pmhxb.cli.workload.PayloadPattern;
import org.pmhxb.cli.workload.StreamVerifier;
import org.pmhxb.pm.Counter;
import org.pmhxb.pm.Message;
import org.pmhxb.pm.MessageHandler;
import org.pmhxb.pm.PmEndpoint;
import org.pmhxb.pm.SendBuffer;
import org.pmhxb.router.fabric.RingCluster;

/**
 * All nodes send to all others over the ring fabric; every byte is verified. One thread runs nodes,
 * wire and program in turn (inline mode). Owner: that thread.
 */
public final class DemoRun {
  private static final int ENDPOINT = 1;
  private static final int SEND_BATCH = 8;
  private static final int POLL_LIMIT = 64;
  private static final long OPEN_LIMIT_NS = 10_000_000_000L;
  static final int DRAIN_S = 20;
  private static final long DRAIN_LIMIT_NS = DRAIN_S * 1_000_000_000L;
  private static final long SETTLE_LIMIT_NS = 5_000_000_000L;
  private static final long PROGRESS_INTERVAL_NS = 200_000_000L;
  private static final long MAX_LATENCY_NS = 60_000_000_000L;

  private final RingCluster cluster;
  private final int n;
  private final int sizeBytes;
  private final Consumer<String> progress;
  private final PmEndpoint[] endpoints;
  private final Receiver[] receivers;
  private final long[][] sent;
  private final StreamVerifier[][] verifiers;
  private final PayloadPattern[][] patterns;
  private final int[][] relays;
  private final Histogram[] latency;
  private long nowNs;

  /** When the node whose messages come was asked. */
  private long polledNs;

  private long nodesNs;
  private long wireNs;
  private long programNs;
  private int downs;

  public DemoRun(RingCluster cluster, int sizeBytes, Consumer<String> progress) {
    this.cluster = cluster;
    this.n = cluster.size();
    this.sizeBytes = sizeBytes;
    this.progress = progress;
    endpoints = new PmEndpoint[n];
    receivers = new Receiver[n];
    sent = new long[n][n];
    verifiers = new StreamVerifier[n][n];
    patterns = new PayloadPattern[n][n];
    relays = new int[n][n];
    int most = 0;
    for (int i = 0; i < n; i++) {
      endpoints[i] = cluster.node(i).open(ENDPOINT);
      receivers[i] = new Receiver(i);
      cluster.node(i).tap(receivers[i].copies);
      for (int j = 0; j < n; j++) {
        if (i != j) {
          verifiers[i][j] = new StreamVerifier(i, j);
          patterns[i][j] = new PayloadPattern(i, j);
          relays[i][j] = cluster.node(i).routing().hops(j) - 1;
          most = Math.max(most, relays[i][j]);
        }
      }
    }
    latency = new Histogram[most + 1];
    for (int r = 0; r <= most; r++) {
      latency[r] = new Histogram(MAX_LATENCY_NS, 3);
    }
  }

  /** What arrives at one node. */
  private final class Receiver implements MessageHandler {
    private final int self;
    final CopyWatch copies;

    Receiver(int self) {
      this.self = self;
      var pool = cluster.pool(self);
      this.copies = new CopyWatch(self, pool.capacity(), pool.memory());
    }

    @Override
    public void onMessage(Message m) {
      int source = m.source();
      long at = m.offset();
      copies.onMessage(m);
      int length = m.lengthBytes();
      long address = PayloadPattern.addressOf(m.memory(), at, length);
      if (verifiers[source][self].accept(address, length)) {
        long sentNs = PayloadPattern.sentNs(address, length);
        if (sentNs > 0) {
          latency[relays[source][self]].recordValue(
              Math.clamp(polledNs - sentNs, 0, MAX_LATENCY_NS));
        }
      }
    }

    @Override
    public void onPeerDown(int node, int session) {
      downs++;
    }
  }

  /**
   * Runs for so long and until every pair has sent, then until everything has arrived.
   *
   * @throws InterruptedException the thread was interrupted, as {@code TakeDown} does
   */
  public DemoReport run(double seconds) throws InterruptedException {
    open();
    long startNs = System.nanoTime();
    long endNs = startNs + (long) (seconds * 1e9);
    long progressNs = startNs;
    do {
      round(true);
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      if (nowNs - progressNs >= 0) {
        progressNs = nowNs + PROGRESS_INTERVAL_NS;
        say(startNs, seconds);
      }
    } while (nowNs - endNs < 0 || nowNs - endNs < OPEN_LIMIT_NS && !everyPairSent());
    long drainUntilNs = nowNs + DRAIN_LIMIT_NS;
    while (missing() > 0 && nowNs - drainUntilNs < 0) {
      round(false);
    }
    double took = (nowNs - startNs) / 1e9;
    Totals totals = new Totals();
    settle();
    cluster.closeTraffic();
    return report(took, totals);
  }

  /** First contact of all pairs, so that the time of discovery is not measured. */
  private void open() {
    long untilNs = System.nanoTime() + OPEN_LIMIT_NS;
    while (!cluster.isComplete() && System.nanoTime() - untilNs < 0) {
      cluster.doWork(System.nanoTime());
    }
    if (!cluster.isComplete()) {
      throw new IllegalStateException(
          "after 10 s some node has not heard all its neighbours: "
              + cluster.discovery(0).missing(System.nanoTime()));
    }
  }

  private void round(boolean sending) {
    nowNs = System.nanoTime();
    if (sending) {
      send();
    }
    long a = System.nanoTime();
    cluster.wire().carryAll();
    long b = System.nanoTime();
    for (int i = 0; i < n; i++) {
      cluster.node(i).doWork(b);
    }
    long c = System.nanoTime();
    for (int i = 0; i < n; i++) {
      polledNs =
          System.nanoTime(); // not the round's begin: a round is as long as many messages take
      endpoints[i].poll(receivers[i], POLL_LIMIT);
    }
    long d = System.nanoTime();
    programNs += a - nowNs + d - c;
    wireNs += b - a;
    nodesNs += c - b;
  }

  private void send() {
    for (int s = 0; s < n; s++) {
      for (int d = 0; d < n; d++) {
        if (s != d) {
          send(s, d);
        }
      }
    }
  }

  private void send(int source, int destination) {
    PmEndpoint endpoint = endpoints[source];
    for (int i = 0; i < SEND_BATCH; i++) {
      SendBuffer buffer = endpoint.claim(destination, sizeBytes);
      if (buffer == null) {
        return;
      }
      long address = PayloadPattern.addressOf(buffer.memory(), buffer.offset(), sizeBytes);
      long seq = sent[source][destination]++;
      patterns[source][destination].write(
          address, sizeBytes, PayloadPattern.DATA, seq, System.nanoTime());
      endpoint.send(buffer);
    }
  }

  /** A pair's first claims are refused until its session is open, which may outlast a short run. */
  private boolean everyPairSent() {
    for (int s = 0; s < n; s++) {
      for (int d = 0; d < n; d++) {
        if (s != d && sent[s][d] == 0) {
          return false;
        }
      }
    }
    return true;
  }

  private long missing() {
    long missing = 0;
    for (int s = 0; s < n; s++) {
      for (int d = 0; d < n; d++) {
        if (s != d) {
          missing += verifiers[s][d].lostOf(sent[s][d]);
        }
      }
    }
    return missing;
  }

  /** Lets the last acknowledgements arrive. */
  private void settle() {
    long untilNs = System.nanoTime() + SETTLE_LIMIT_NS;
    while (inFlight() > 0 && System.nanoTime() - untilNs < 0) {
      cluster.doWork(System.nanoTime());
    }
  }

  private int inFlight() {
    int inFlight = 0;
    for (int i = 0; i < n; i++) {
      inFlight += cluster.node(i).inFlight();
    }
    return inFlight;
  }

  private void say(long startNs, double seconds) {
    long bytes = 0;
    for (int s = 0; s < n; s++) {
      for (int d = 0; d < n; d++) {
        bytes += s == d ? 0 : verifiers[s][d].bytes();
      }
    }
    double t = Math.max(1e-9, (nowNs - startNs) / 1e9);
    String of = t <= seconds ? "of %.1f s".formatted(seconds) : "s, until all pairs have sent";
    progress.accept(
        String.format(
            "demo: %4.1f %s, %.2f GB verified, %.2f Gbit/s",
            t, of, bytes / 1e9, bytes * 8 / t / 1e9));
  }

  /** Counts of the run itself, taken before sessions close. */
  private final class Totals {
    final Map<String, Long> counters = new LinkedHashMap<>();
    final long received = sum(Counter.FRAMES_RECEIVED);
    final long resent = sum(Counter.RESENT);
    final long relayed = sum(Counter.RELAYED);
    final long wireCopies = cluster.wire().copies();
    final long wireLost = cluster.framesLost();

    Totals() {
      for (int i = 0; i < n; i++) {
        cluster.node(i).counters().snapshot().forEach((k, v) -> counters.merge(k, v, Long::sum));
      }
      counters.put("wire.no-buffer", cluster.wire().noBuffer());
      counters.put("wire.ring-full", cluster.wire().ringFull());
      counters.put("wire.unknown-address", cluster.wire().unknownAddress());
    }

    private long sum(Counter counter) {
      long sum = 0;
      for (int i = 0; i < n; i++) {
        sum += cluster.node(i).counters().get(counter);
      }
      return sum;
    }
  }

  private DemoReport report(double seconds, Totals totals) {
    long messages = 0;
    long bytes = 0;
    long lost = 0;
    long duplicated = 0;
    long misordered = 0;
    long corrupt = 0;
    long copies = 0;
    long[] messagesBy = new long[latency.length];
    long[] bytesBy = new long[latency.length];
    int[] pairsBy = new int[latency.length];
    int pairs = 0;
    for (int s = 0; s < n; s++) {
      copies += receivers[s].copies.copies();
      for (int d = 0; d < n; d++) {
        StreamVerifier v = verifiers[s][d];
        if (v != null) {
          messages += v.messages();
          bytes += v.bytes();
          lost += v.lostOf(sent[s][d]);
          duplicated += v.duplicated();
          misordered += v.misordered();
          corrupt += v.corrupt();
          messagesBy[relays[s][d]] += v.messages();
          bytesBy[relays[s][d]] += v.bytes();
          if (v.messages() > 0) {
            pairsBy[relays[s][d]]++;
            pairs++;
          }
        }
      }
    }
    long leaked = cluster.leakedBuffers();
    List<String> failures =
        new DemoFailures(n, pairs)
            .add(lost, "message", "had not arrived " + DRAIN_S + " s after the last was sent")
            .add(downs, "time", "a node reported another down")
            .add(duplicated, "message", "came twice")
            .add(misordered, "message", "came out of order")
            .add(corrupt, "message", "came damaged")
            .add(copies, "message", "took a copy between receive burst and callback")
            .add(leaked, "buffer", "leaked")
            .all();
    return new DemoReport(
        failures.isEmpty(),
        "ring",
        cluster.options().shape().toString(),
        n,
        cluster.options().rails(),
        sizeBytes,
        cluster.options().faults().loss(),
        pairs,
        messages,
        bytes,
        lost,
        duplicated,
        misordered,
        corrupt,
        totals.resent,
        totals.relayed,
        totals.wireCopies,
        totals.wireLost,
        copies,
        seconds,
        bytes * 8 / seconds / 1e9,
        totals.received / seconds,
        seconds * 1e9 / totals.received,
        (double) nodesNs / totals.received,
        (double) wireNs / totals.received,
        (double) programNs / totals.received,
        leaked,
        cluster.pool(0).hugepages(),
        cluster.hugepagesNeeded(),
        cluster.hugepagesFree(),
        byHops(seconds, messagesBy, bytesBy, pairsBy),
        totals.counters,
        failures);
  }

  private List<DemoReport.Hops> byHops(double seconds, long[] messages, long[] bytes, int[] pairs) {
    List<DemoReport.Hops> list = new ArrayList<>();
    for (int r = 0; r < latency.length; r++) {
      Histogram h = latency[r];
      list.add(
          new DemoReport.Hops(
              r,
              pairs[r],
              messages[r],
              bytes[r] * 8 / seconds / 1e9,
              new DemoReport.Latency(
                  h.getValueAtPercentile(50),
                  h.getValueAtPercentile(99),
                  h.getValueAtPercentile(99.9),
                  h.getMaxValue())));
    }
    return list;
  }
}
