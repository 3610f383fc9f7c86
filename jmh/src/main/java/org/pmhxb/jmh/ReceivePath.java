package org.pmhxb.jmh;

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
import org.pmhxb.pm.Message;
import org.pmhxb.pm.MessageHandler;
import org.pmhxb.pm.PmEndpoint;
import org.pmhxb.pm.PmNode;
import org.pmhxb.pm.port.Burst;

/**
 * Receive burst, parse, validate, CRC, order, acknowledge, deliver, handler, credit and buffer
 * return, by {@link PmNode} and {@link PmEndpoint} as a program uses them inline (DESIGN section
 * 4). The score includes the generator; {@code path.median} is the node's share.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 4, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(3)
public class ReceivePath {
  static final int PACKETS = 2_048;
  static final int ENDPOINT = 7;
  static final int PAYLOAD_BYTES = 64;

  @Param({"1", "100"})
  int peers;

  @Param({"32", "1"})
  int burst;

  private Lab lab;
  private PmNode node;
  private PmEndpoint endpoint;
  private FrameTemplate[] templates;
  private int[] order;
  private int turn;
  private final Sum sum = new Sum();

  /** A program that looks at each message. */
  static final class Sum implements MessageHandler {
    long bytes;

    @Override
    public void onMessage(Message message) {
      bytes += message.lengthBytes();
    }
  }

  @Setup(Level.Trial)
  public void open() {
    lab = new Lab(1, peers == 1 ? 2_048 : 8_192);
    long[][] macs = {IntStream.rangeClosed(0, peers).mapToLong(n -> Lab.mac(n, 0)).toArray()};
    node =
        new PmNode(
            Lab.config(0, 64 * peers),
            lab.pool,
            new LineRouting(0, macs),
            List.of(lab.port(0)),
            true);
    endpoint = node.open(ENDPOINT);
    int[] numbers = IntStream.rangeClosed(1, peers).toArray();
    templates = new FrameTemplate[peers];
    try (Peers real =
        new Peers(lab, node, 1, numbers, n -> new LineRouting(n, macs), System.nanoTime())) {
      real.exchange(endpoint, PAYLOAD_BYTES);
      for (int i = 0; i < peers; i++) {
        templates[i] = new FrameTemplate(FrameTemplate.plain(real.lastData(i + 1), 1));
      }
    }
    // Peers take random turns, the same at every run.
    SplittableRandom random = new SplittableRandom(42);
    order = random.ints(1 << 12, 0, peers).toArray();
  }

  /** All that was generated must have been delivered, or the figure means nothing. */
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
  public long receive() {
    long pathNs = 0;
    long generatorNs = 0;
    long from = System.nanoTime();
    for (int done = 0; done < PACKETS; done += burst) {
      generate(burst);
      long begin = System.nanoTime();
      node.doWork(begin);
      endpoint.poll(sum, 64);
      long end = System.nanoTime();
      generatorNs += begin - from;
      pathNs += end - begin;
      from = end;
      if ((done & 255) == 0) {
        lab.drain(0);
      }
    }
    PhaseTimes.CURRENT.add(pathNs, generatorNs, PACKETS);
    return sum.bytes;
  }

  /** What the frames themselves cost: made, passed through the ring, taken and returned. */
  @Benchmark
  @OperationsPerInvocation(PACKETS)
  public long generatorAlone() {
    for (int done = 0; done < PACKETS; done += burst) {
      generate(burst);
      lab.echo(0);
    }
    return turn;
  }

  private void generate(int n) {
    lab.allocate(n);
    for (int i = 0; i < n; i++) {
      FrameTemplate template = templates[order[turn++ & order.length - 1]];
      int id = lab.id(i);
      template.write(lab.frames, lab.pool.frameAt(id));
      lab.burst.set(i, Burst.descriptor(id, template.frameBytes()));
    }
    lab.toNode(0, n);
  }
}
