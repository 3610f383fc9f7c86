package org.pmhxb.cli.workload;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * The two sides of a ping-pong. A pong repeats its ping's number, and either is verified like a
 * message of a stream. The asking side ends the run with a message of kind {@link
 * PayloadPattern#END}.
 */
final class PingPongWorkload implements Workload, MessageLink.Receiver {
  private static final int POLL_LIMIT = 4;

  private final WorkloadSpec spec;
  private final MessageLink link;
  private final LongSupplier clock;
  private final boolean asking;
  private final int other;
  private final PayloadPattern sends;
  private final PayloadPattern receives;
  private final LatencyHistogram latency = new LatencyHistogram();
  private final List<String> failures = new ArrayList<>();
  private final long startNs;
  private final long measureFromNs;
  private final long measureToNs;
  private final long deadlineNs;

  private long nowNs;

  /** Round trips begun. */
  private long asked;

  /** Messages that came: pongs to the asking side, pings to the other. */
  private long came;

  private long askedNs;
  private long measured;
  private long duplicated;
  private long misordered;
  private long corrupt;
  private boolean answerDue;
  private boolean ended;
  private boolean down;
  private boolean done;
  private long lastTicket;

  PingPongWorkload(WorkloadSpec spec, MessageLink link, long startNs, LongSupplier clock) {
    this.clock = clock;
    this.spec = spec;
    this.link = link;
    this.asking = spec.kind() == WorkloadSpec.Kind.PING;
    this.other = spec.destinations().getFirst();
    this.sends = new PayloadPattern(link.self(), other);
    this.receives = new PayloadPattern(other, link.self());
    this.startNs = startNs;
    this.measureFromNs = startNs + spec.warmUpMs() * 1_000_000;
    this.measureToNs = measureFromNs + spec.measureMs() * 1_000_000;
    this.deadlineNs = measureToNs + spec.drainMs() * 1_000_000;
  }

  @Override
  public int doWork(long nowNs) {
    this.nowNs = nowNs;
    int work = link.poll(this, POLL_LIMIT);
    if (answerDue) {
      answerDue = !send(PayloadPattern.DATA, spec.sizeBytes(), came - 1);
      work++;
    } else if (asking && asked == came && nowNs - startNs >= 0 && !down) {
      work += ask();
    }
    boolean settled = lastTicket == link.acknowledged(other);
    done = down || ended && settled || nowNs - deadlineNs >= 0;
    return work;
  }

  private int ask() {
    if (nowNs - measureToNs >= 0) {
      ended = ended || send(PayloadPattern.END, PayloadPattern.HEADER_BYTES, asked);
      return 0;
    }
    askedNs = clock.getAsLong();
    if (!send(PayloadPattern.DATA, spec.sizeBytes(), asked)) {
      return 0;
    }
    asked++;
    return 1;
  }

  private boolean send(int kind, int lengthBytes, long seq) {
    if (!link.claim(other, lengthBytes)) {
      return false;
    }
    long address = PayloadPattern.addressOf(link.memory(), link.offset(), lengthBytes);
    sends.write(address, lengthBytes, kind, seq, nowNs);
    lastTicket = link.send();
    return true;
  }

  @Override
  public void onMessage(int src, MemorySegment memory, long offset, int lengthBytes) {
    long address = PayloadPattern.addressOf(memory, offset, lengthBytes);
    long seq = receives.verify(address, lengthBytes, came);
    if (src != other || seq == PayloadPattern.CORRUPT) {
      corrupt++;
      return;
    }
    if (PayloadPattern.kind(address, lengthBytes) == PayloadPattern.END) {
      ended = true;
      return;
    }
    if (seq < came) {
      duplicated++;
      return;
    }
    misordered += seq == came ? 0 : 1;
    came = seq + 1;
    if (asking) {
      answered();
    } else {
      answerDue = true;
    }
  }

  @Override
  public void onFragment(int src, int lengthBytes) {
    // Neither side sends any; the whole is then judged as a message of a wrong length.
  }

  private void answered() {
    if (nowNs - measureFromNs >= 0 && nowNs - measureToNs < 0) {
      latency.record((clock.getAsLong() - askedNs) / 2);
      measured++;
    }
  }

  @Override
  public void onPeerDown(int node, String reason) {
    if (node == other) {
      down = true;
      failures.add("node " + link.self() + " lost its session with node " + node + ": " + reason);
    }
  }

  @Override
  public boolean done() {
    return done;
  }

  @Override
  public WorkloadReport report() {
    if (!ended && !down) {
      failures.add(
          "node "
              + link.self()
              + (asking ? " got no answer to ping " : " waited for ping ")
              + came);
    }
    long lost = asking ? asked - came : 0;
    long bytes = measured * spec.sizeBytes();
    return new WorkloadReport(
        link.self(),
        spec.measureMs() * 1_000_000,
        List.of(
            new WorkloadReport.Sent(
                other, asking ? asked : came, lastTicket - link.acknowledged(other))),
        List.of(
            new WorkloadReport.Received(
                other, came, measured, bytes, 0, lost, duplicated, misordered, corrupt, ended)),
        latency.encoded(),
        List.of(),
        failures);
  }
}
