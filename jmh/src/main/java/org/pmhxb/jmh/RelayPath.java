package org.pmhxb.jmh;

import java.util.List;
import java.util.concurrent.TimeUnit;
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
import org.pmhxb.pm.PmNode;
import org.pmhxb.pm.Routing;
import org.pmhxb.pm.port.Burst;
import org.pmhxb.pm.wire.FrameCrc;
import org.pmhxb.pm.wire.FrameHeader;
import org.pmhxb.router.DimensionOrderRouting;
import org.pmhxb.router.Discovery;
import org.pmhxb.router.RailLayout;
import org.pmhxb.router.Shape;

/**
 * A node of a two-dimensional shape relays: receive burst on its X rail, checks, route, hop part
 * rewritten, transmit burst on its Y rail (DESIGN section 4). The frames go round: the generator
 * takes them from the Y ring, sets the hop part back and passes them to the X ring again. The score
 * includes that; {@code path.median} is the relay's share.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 4, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(3)
public class RelayPath {
  private static final int PACKETS = ReceivePath.PACKETS;
  private static final int X_RAIL = 0;
  private static final int Y_RAIL = 1;
  private static final int FRAME_BYTES = FrameHeader.BYTES + ReceivePath.PAYLOAD_BYTES;

  @Param({"32", "1"})
  int burst;

  private Lab lab;
  private PmNode node;
  private long fromMac;

  /** Frames in the burst of {@link #lab}; the others are with the relay. */
  private int inHand;

  @Setup(Level.Trial)
  public void open() {
    lab = new Lab(2, 2_048);
    Shape shape = Shape.parse("2x2");
    node =
        new PmNode(
            Lab.config(0, 64),
            lab.pool,
            routing(shape, 0),
            List.of(lab.port(X_RAIL), lab.port(Y_RAIL)),
            true);
    // Nodes 1 = (1,0) and 2 = (0,1) are the relay's neighbours.
    try (Peers real =
        new Peers(lab, node, 2, new int[] {1, 2}, n -> routing(shape, n), System.nanoTime())) {
      real.until("the neighbours", () -> node.routing().complete());
    }
    lab.drain(X_RAIL);
    lab.drain(Y_RAIL);
    fromMac = Lab.mac(1, X_RAIL);
    lab.allocate(burst);
    for (int i = 0; i < burst; i++) {
      int id = lab.id(i);
      write(lab.pool.frameAt(id));
      lab.burst.set(i, Burst.descriptor(id, FRAME_BYTES));
    }
    inHand = burst;
  }

  private static Routing routing(Shape shape, int number) {
    return new DimensionOrderRouting(
        new Discovery(
            shape,
            shape.coordinates(number),
            new RailLayout(shape, 1),
            Lab.KEY,
            number + 1,
            List.of("x", "y")));
  }

  /** A data frame from node 1 to node 2. */
  private void write(long at) {
    var frames = lab.frames;
    FrameHeader.kindSrc(frames, at, FrameHeader.DATA, 1);
    FrameHeader.flagsDst(frames, at, 0, 2);
    FrameHeader.keySession(frames, at, Lab.KEY, 1);
    FrameHeader.seqAck(frames, at, 1, 1);
    FrameHeader.credit(frames, at, 0);
    FrameHeader.endpointsLengthEcho(frames, at, 7, 7, ReceivePath.PAYLOAD_BYTES, 0);
    FrameHeader.crc(frames, at, new FrameCrc(frames).of(at, ReceivePath.PAYLOAD_BYTES));
    sendAgain(at);
  }

  /** As node 1 would send it. */
  private void sendAgain(long at) {
    FrameHeader.hop(lab.frames, at, 2, 0, 0);
    FrameHeader.ethernet(lab.frames, at, lab.port(X_RAIL).macAddress(), fromMac);
  }

  /** No frame may be lost on its way, or the figure means nothing. */
  @TearDown(Level.Iteration)
  public void check() {
    Accounts.check(node);
  }

  @TearDown(Level.Trial)
  public void close() {
    lab.release(inHand);
    node.close();
    lab.drain(X_RAIL);
    lab.drain(Y_RAIL);
    lab.close();
  }

  @Benchmark
  @OperationsPerInvocation(PACKETS)
  public long relay() {
    long pathNs = 0;
    long generatorNs = 0;
    long from = System.nanoTime();
    for (int done = 0; done < PACKETS; done += inHand) {
      lab.toNode(X_RAIL, inHand);
      long begin = System.nanoTime();
      node.doWork(begin);
      long end = System.nanoTime();
      takeBack();
      generatorNs += begin - from;
      pathNs += end - begin;
      from = end;
    }
    PhaseTimes.CURRENT.add(pathNs, generatorNs, PACKETS);
    lab.drain(X_RAIL);
    return from;
  }

  /** The relay's own announcements are no transit; a frame behind one comes in the next round. */
  private void takeBack() {
    int n = lab.fromNode(Y_RAIL);
    inHand = 0;
    for (int i = 0; i < n; i++) {
      long d = lab.burst.get(i);
      long at = lab.pool.frameAt(Burst.id(d));
      if (FrameHeader.kind(lab.frames, at) == FrameHeader.DATA) {
        sendAgain(at);
        lab.burst.set(inHand++, d);
      } else {
        lab.release(d);
      }
    }
  }
}
