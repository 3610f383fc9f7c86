package org.pmhxb.jmh;

import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.pmhxb.pm.LineRouting;
import org.pmhxb.pm.PmEndpoint;
import org.pmhxb.pm.PmNode;
import org.pmhxb.pm.SendBuffer;

/**
 * Claim, payload, send, header, CRC, hold for resend, transmit burst, acknowledgement and release,
 * by {@link PmNode} and {@link PmEndpoint} as a program uses them inline (DESIGN section 4). The
 * score includes the far end, which takes the frames and acknowledges; {@code path.median} is the
 * node's share.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 4, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(3)
public class SendPath {
  private static final int PACKETS = ReceivePath.PACKETS;

  /** Frames to one peer between two acknowledgements: a quarter of the window; less if many. */
  private static final int ACK_EVERY = 64;

  private static final int ACK_EVERY_OF_MANY = 16;

  @Param({"1", "100"})
  int peers;

  @Param({"32", "1"})
  int burst;

  private Lab lab;
  private PmNode node;
  private PmEndpoint endpoint;
  private AckTemplate[] acks;
  private int ackEvery;
  private int[] order;
  private int turn;

  @Setup(Level.Trial)
  public void open() {
    lab = new Lab(1, peers == 1 ? 2_048 : 8_192);
    long[][] macs = {IntStream.rangeClosed(0, peers).mapToLong(n -> Lab.mac(n, 0)).toArray()};
    node =
        new PmNode(
            Lab.config(0, peers + 1, Lab.grantFrames(peers)),
            lab.pool,
            new LineRouting(0, macs),
            List.of(lab.port(0)),
            true);
    endpoint = node.open(ReceivePath.ENDPOINT);
    // A frame for each message: that is the cost in question.
    endpoint.coalesceUpTo(-1);
    int[] numbers = IntStream.rangeClosed(1, peers).toArray();
    acks = new AckTemplate[peers];
    ackEvery = peers == 1 ? ACK_EVERY : ACK_EVERY_OF_MANY;
    try (Peers real =
        new Peers(lab, node, 1, numbers, n -> new LineRouting(n, macs), System.nanoTime())) {
      real.exchange(endpoint, ReceivePath.PAYLOAD_BYTES);
      for (int i = 0; i < peers; i++) {
        acks[i] = new AckTemplate(lab, real.lastData(i + 1), ReceivePath.ENDPOINT);
      }
    }
    SplittableRandom random = new SplittableRandom(42);
    order = random.ints(1 << 12, 0, peers).toArray();
  }

  /** All that was sent must have been acknowledged without loss, or the figure means nothing. */
  @TearDown(Level.Iteration)
  public void check() {
    Accounts.check(node);
  }

  @TearDown(Level.Trial)
  public void close() {
    node.close();
    lab.drain(0);
    lab.close();
  }

  @Benchmark
  @OperationsPerInvocation(PACKETS)
  public long send() {
    long pathNs = 0;
    long generatorNs = 0;
    long begin = System.nanoTime();
    for (int done = 0; done < PACKETS; done += burst) {
      for (int i = 0; i < burst; i++) {
        send(order[turn + i & order.length - 1]);
      }
      node.doWork(begin);
      long end = System.nanoTime();
      farEnd();
      long next = System.nanoTime();
      pathNs += end - begin;
      generatorNs += next - end;
      begin = next;
    }
    PhaseTimes.CURRENT.add(pathNs, generatorNs, PACKETS);
    return turn;
  }

  private void send(int peer) {
    SendBuffer buffer = endpoint.claim(peer + 1, ReceivePath.PAYLOAD_BYTES);
    if (buffer == null) {
      throw new IllegalStateException("no credit or buffer for node " + (peer + 1));
    }
    buffer.memory().set(ValueLayout.JAVA_LONG_UNALIGNED, buffer.offset(), turn);
    endpoint.send(buffer);
  }

  /** Takes what came and answers as its receivers would. */
  private void farEnd() {
    int arrived = lab.drain(0);
    while (arrived < burst) {
      // A probe took a place in the burst: what was not sent cannot be acknowledged.
      node.doWork(System.nanoTime());
      arrived += lab.drain(0);
    }
    int n = 0;
    for (int i = 0; i < burst; i++) {
      AckTemplate ack = acks[order[turn++ & order.length - 1]];
      if (++ack.unanswered == ackEvery) {
        lab.burst.set(n++, ack.write());
      }
    }
    if (n > 0) {
      lab.toNode(0, n);
    }
  }
}
