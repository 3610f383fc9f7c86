package org.pmhxb.cli.workload;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Streams to all destinations at once, and verification of the streams from all sources: one-way,
 * both ways, neighbour exchange and all-to-all differ only in who sends to whom.
 */
final class StreamWorkload implements Workload, MessageLink.Receiver {
  /** What goes to one destination before the next has its turn: so many messages or bytes. */
  private static final int SEND_BATCH = 8;

  private static final int SEND_BATCH_BYTES = 16_384;

  private static final int POLL_LIMIT = 512;

  /** Of shorter messages one in so many is timed: the histogram costs as much as the message. */
  private static final int TIMED_BYTES = 1_024;

  private static final int TIMED_ONE_OF = 16;

  private final WorkloadSpec spec;
  private final MessageLink link;
  private final int sendBatch;
  private final StreamSender[] senders;
  private final StreamVerifier[] verifiers;

  /** Verifier index by node number, -1 for a node that is no source. */
  private final int[] verifierOf;

  private final long[] measuredMessages;
  private final long[] measuredBytes;
  private final long[] lastNs;
  private final long[] longestStopNs;

  /** Payload bytes by time; empty when it was not asked for. */
  private final long[] timeline;

  /** Of {@link #measuredBytes} in all, those that stand in {@link #timeline}. */
  private long timelineBytes;

  private final LatencyHistogram latency = new LatencyHistogram();
  private final List<String> failures = new ArrayList<>();
  private final long startNs;
  private final long measureFromNs;
  private final long measureToNs;
  private final long deadlineNs;

  /** Messages are longer than a frame: what comes is counted by its parts. */
  private final boolean fragments;

  private final boolean[] sourceDown;
  private final LongSupplier clock;
  private long nowNs;

  /** When messages of this round are timed: the clock is read at the first of them. */
  private long arrivedNs;

  private boolean isArrivalKnown;
  private boolean done;
  private boolean reported;

  /**
   * @param clock that of {@link #doWork}, read anew
   */
  StreamWorkload(WorkloadSpec spec, MessageLink link, long startNs, LongSupplier clock) {
    this.clock = clock;
    this.fragments = spec.sizeBytes() > link.maxMessageBytes();
    this.spec = spec;
    this.link = link;
    this.sendBatch = Math.max(SEND_BATCH, SEND_BATCH_BYTES / spec.sizeBytes());
    this.startNs = startNs;
    this.measureFromNs = startNs + spec.warmUpMs() * 1_000_000;
    this.measureToNs = measureFromNs + spec.measureMs() * 1_000_000;
    this.deadlineNs = measureToNs + spec.drainMs() * 1_000_000;
    this.senders =
        spec.destinations().stream()
            .map(dst -> new StreamSender(link, dst, spec.sizeBytes()))
            .toArray(StreamSender[]::new);
    this.verifiers =
        spec.sources().stream()
            .map(src -> new StreamVerifier(src, link.self()))
            .toArray(StreamVerifier[]::new);
    this.verifierOf = new int[link.nodes()];
    Arrays.fill(verifierOf, -1);
    for (int i = 0; i < verifiers.length; i++) {
      verifierOf[verifiers[i].source()] = i;
    }
    this.measuredMessages = new long[verifiers.length];
    this.measuredBytes = new long[verifiers.length];
    this.lastNs = new long[verifiers.length];
    Arrays.fill(lastNs, measureFromNs);
    this.longestStopNs = new long[verifiers.length];
    this.sourceDown = new boolean[verifiers.length];
    this.timeline = new long[spec.timelineSteps()];
  }

  @Override
  public int doWork(long nowNs) {
    this.nowNs = nowNs;
    isArrivalKnown = false;
    int work = link.poll(this, POLL_LIMIT);
    if (work > 0 && timeline.length > 0) {
      noteArrival();
    }
    if (nowNs - startNs < 0) {
      return work;
    }
    if (nowNs - measureToNs < 0) {
      for (StreamSender sender : senders) {
        work += sender.send(sendBatch, nowNs);
      }
      return work;
    }
    return work + finish();
  }

  private void noteArrival() {
    long bytes = 0;
    for (long ofOne : measuredBytes) {
      bytes += ofOne;
    }
    if (bytes != timelineBytes) {
      timeline[(int) ((nowNs - measureFromNs) / (spec.timelineMs() * 1_000_000))] +=
          bytes - timelineBytes;
      timelineBytes = bytes;
    }
  }

  private int finish() {
    boolean settled = true;
    for (StreamSender sender : senders) {
      settled &= sender.end(nowNs) && sender.settled();
    }
    for (int i = 0; i < verifiers.length; i++) {
      settled &= verifiers[i].ended() || sourceDown[i];
    }
    done = settled || nowNs - deadlineNs >= 0;
    return 0;
  }

  @Override
  public void onMessage(int src, MemorySegment memory, long offset, int lengthBytes) {
    int i = src >= 0 && src < verifierOf.length ? verifierOf[src] : -1;
    if (i < 0) {
      strayMessage(src);
      return;
    }
    StreamVerifier verifier = verifiers[i];
    long before = verifier.messages();
    long address = PayloadPattern.addressOf(memory, offset, lengthBytes);
    if (!verifier.accept(address, lengthBytes) || verifier.messages() == before) {
      return;
    }
    if (nowNs - measureFromNs >= 0 && nowNs - measureToNs < 0) {
      measuredMessages[i]++;
      longestStopNs[i] = Math.max(longestStopNs[i], nowNs - lastNs[i]);
      lastNs[i] = nowNs;
      measuredBytes[i] += fragments ? 0 : lengthBytes;
      if (lengthBytes >= TIMED_BYTES || (measuredMessages[i] & TIMED_ONE_OF - 1) == 0) {
        recordLatency(address, lengthBytes);
      }
    }
  }

  private void recordLatency(long address, int lengthBytes) {
    long sentNs = PayloadPattern.sentNs(address, lengthBytes);
    if (sentNs >= 0) {
      latency.record(arrivedNs() - sentNs);
    }
  }

  /** Not when the round began: it may have been sent since. What is polled has arrived before. */
  private long arrivedNs() {
    if (!isArrivalKnown) {
      isArrivalKnown = true;
      arrivedNs = clock.getAsLong();
    }
    return arrivedNs;
  }

  @Override
  public void onFragment(int src, int lengthBytes) {
    int i = src >= 0 && src < verifierOf.length ? verifierOf[src] : -1;
    if (i >= 0 && nowNs - measureFromNs >= 0 && nowNs - measureToNs < 0) {
      measuredBytes[i] += lengthBytes;
    }
  }

  private void strayMessage(int src) {
    if (failures.size() < 16) {
      failures.add("node " + link.self() + " got a message from node " + src + ", not a source");
    }
  }

  @Override
  public void onPeerDown(int node, String reason) {
    for (StreamSender sender : senders) {
      if (sender.destination() == node) {
        sender.peerDown();
      }
    }
    if (verifierOf[node] >= 0) {
      sourceDown[verifierOf[node]] = true;
    }
    failures.add("node " + link.self() + " lost its session with node " + node + ": " + reason);
  }

  @Override
  public boolean done() {
    return done;
  }

  @Override
  public WorkloadReport report() {
    List<WorkloadReport.Sent> sent = new ArrayList<>();
    for (StreamSender sender : senders) {
      sent.add(
          new WorkloadReport.Sent(
              sender.destination(), sender.messages(), sender.unacknowledged()));
      if (!reported && !sender.settled()) {
        failures.add(
            "node "
                + link.self()
                + " has "
                + sender.unacknowledged()
                + " messages unacknowledged by node "
                + sender.destination());
      }
    }
    List<WorkloadReport.Received> received = new ArrayList<>();
    for (int i = 0; i < verifiers.length; i++) {
      StreamVerifier v = verifiers[i];
      received.add(
          new WorkloadReport.Received(
              v.source(),
              v.messages(),
              measuredMessages[i],
              measuredBytes[i],
              Math.max(longestStopNs[i], measureToNs - lastNs[i]),
              v.lost(),
              v.duplicated(),
              v.misordered(),
              v.corrupt(),
              v.ended()));
      if (!reported && !v.ended() && !sourceDown[i]) {
        failures.add("node " + link.self() + " saw no end of the stream from node " + v.source());
      }
    }
    reported = true;
    return new WorkloadReport(
        link.self(),
        spec.measureMs() * 1_000_000,
        sent,
        received,
        latency.encoded(),
        Arrays.stream(timeline).boxed().toList(),
        failures);
  }
}
