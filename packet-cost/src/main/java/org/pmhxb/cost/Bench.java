package org.pmhxb.cost;

import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.pmhxb.pm.LineRouting;
import org.pmhxb.pm.PmEndpoint;
import org.pmhxb.pm.PmNode;
import org.pmhxb.pm.Routing;
import org.pmhxb.router.DimensionOrderRouting;
import org.pmhxb.router.Discovery;
import org.pmhxb.router.RailLayout;
import org.pmhxb.router.Shape;

/**
 * A scenario set up twice over the same rings and buffers: the production node and its twin in C,
 * each with traffic of its own that begins alike, so that after equally many batches both must have
 * delivered, emitted and counted the same. Owner: the thread that opened it.
 */
public final class Bench implements AutoCloseable {
  static final int ENDPOINT = 7;
  private static final int CONTROL_BUFFERS = 2_048;
  private static final Shape RELAY_SHAPE = Shape.parse("2x2");

  private final Scenario scenario;
  private final Lab lab;
  private final PacketLoop java;

  /** Null: there is none. */
  private final PacketLoop twin;

  private Bench(Scenario scenario, Lab lab, PacketLoop java, PacketLoop twin) {
    this.scenario = scenario;
    this.lab = lab;
    this.java = java;
    this.twin = twin;
  }

  /** Sets a scenario up; the caller's thread becomes its owner. */
  public static Bench open(Scenario scenario) {
    return open(scenario, true);
  }

  /**
   * The same without the twin, and so without its library: there is nothing to compare with, so
   * that {@link #twin}, {@link #verify} and {@link #compare} throw an IllegalStateException.
   */
  public static Bench openAlone(Scenario scenario) {
    return open(scenario, false);
  }

  private static Bench open(Scenario scenario, boolean both) {
    return scenario.path() == Path.RELAY ? openRelay(scenario, both) : openLine(scenario, both);
  }

  private static Bench openLine(Scenario s, boolean both) {
    int nodes = s.peers() + 1;
    int grant = Lab.grantFrames(s.peers());
    Lab lab = new Lab(s.rails(), buffers(s));
    long[][] macs = new long[s.rails()][];
    for (int r = 0; r < s.rails(); r++) {
      macs[r] = Lab.macs(nodes, r);
    }
    PmNode node = node(lab, nodes, grant, s.payloadBytes(), new LineRouting(0, macs));
    PmEndpoint endpoint = node.open(ENDPOINT);
    // A frame for each message: that is the cost in question.
    endpoint.coalesceUpTo(-1);
    FarPeers far = new FarPeers(lab, node, s.peers(), grant, ENDPOINT);
    long nowNs = far.open(endpoint, FarPeers.ROUND_NS);
    Turns turns = new Turns(s.peers());
    PacketLoop ours =
        loop(s, lab, new JavaNode(node, endpoint, s.payloadBytes()), nowNs, turns, far);
    if (!both) {
      return new Bench(s, lab, ours, null);
    }
    Twin c =
        new Twin(
            lab,
            new Twin.Config(
                nodes,
                Lab.WINDOW_FRAMES,
                Integer.highestOneBit(2 * grant * nodes),
                ENDPOINT,
                0,
                new int[] {nodes, 1, 1},
                nowNs,
                s.payloadBytes()));
    for (int peer = 1; peer <= s.peers(); peer++) {
      c.addPeer(peer, far.session(peer), far.granted(peer), grant);
    }
    return new Bench(s, lab, ours, loop(s, lab, c, nowNs, turns, far));
  }

  /** In flight, in handlers and in batches, of both subjects. */
  private static int buffers(Scenario s) {
    int heldForResend = 2 * SendLoop.ackEvery(s.peers()) * s.peers();
    return CONTROL_BUFFERS + (s.path() == Path.SEND ? heldForResend : 0);
  }

  static PmNode node(Lab lab, int nodes, int grant, int payloadBytes, Routing routing) {
    return new PmNode(
        Lab.config(nodes, grant, payloadBytes),
        lab.pool,
        routing,
        IntStream.range(0, lab.rails()).mapToObj(lab::port).toList(),
        true);
  }

  private static PacketLoop loop(
      Scenario s, Lab lab, Subject subject, long nowNs, Turns turns, FarPeers far) {
    if (s.path() == Path.RECEIVE) {
      var change = new FrameTemplate.SeqCrc(s.payloadBytes());
      FrameTemplate[] templates = new FrameTemplate[s.peers() + 1];
      for (int peer = 1; peer <= s.peers(); peer++) {
        templates[peer] =
            new FrameTemplate(lab, peer, far.session(peer), ENDPOINT, s.payloadBytes(), change);
      }
      return new ReceiveLoop(lab, subject, s.burst(), nowNs, turns, templates);
    }
    AckTemplate[] acks = new AckTemplate[s.peers() + 1];
    for (int peer = 1; peer <= s.peers(); peer++) {
      acks[peer] =
          new AckTemplate(lab, peer, far.session(peer), ENDPOINT, Lab.grantFrames(s.peers()));
    }
    return s.path() == Path.SEND
        ? new SendLoop(lab, subject, s.burst(), nowNs, turns, acks, SendLoop.ackEvery(s.peers()))
        : new AckLoop(lab, subject, s.burst(), nowNs, turns, acks);
  }

  private static Bench openRelay(Scenario s, boolean both) {
    Lab lab = new Lab(2 * s.rails(), CONTROL_BUFFERS);
    int nodes = RELAY_SHAPE.nodes();
    PmNode node = node(lab, nodes, Lab.grantFrames(nodes), s.payloadBytes(), routing(s, 0));
    long nowNs = Neighbours.introduce(lab, node, s.rails(), n -> routing(s, n));
    JavaNode j = new JavaNode(node, null, s.payloadBytes());
    RelayLoop ours = new RelayLoop(lab, j, s.burst(), nowNs, s.rails(), s.payloadBytes());
    if (!both) {
      return new Bench(s, lab, ours, null);
    }
    Twin c =
        new Twin(
            lab,
            new Twin.Config(
                nodes,
                Lab.WINDOW_FRAMES,
                64,
                ENDPOINT,
                s.rails(),
                new int[] {2, 2, 1},
                nowNs,
                s.payloadBytes()));
    for (int r = 0; r < s.rails(); r++) {
      c.addNeighbour(0, 1, r, Lab.mac(RelayLoop.SRC, r));
      c.addNeighbour(1, 1, r, Lab.mac(RelayLoop.DST, s.rails() + r));
    }
    return new Bench(
        s, lab, ours, new RelayLoop(lab, c, s.burst(), nowNs, s.rails(), s.payloadBytes()));
  }

  private static Routing routing(Scenario s, int number) {
    List<String> devices =
        IntStream.range(0, 2 * s.rails()).mapToObj(rail -> "rail" + rail).toList();
    return new DimensionOrderRouting(
        new Discovery(
            RELAY_SHAPE,
            RELAY_SHAPE.coordinates(number),
            new RailLayout(RELAY_SHAPE, s.rails()),
            Lab.KEY,
            number + 1,
            devices));
  }

  public Scenario scenario() {
    return scenario;
  }

  /** The production node's loop. */
  public PacketLoop java() {
    return java;
  }

  /** The C twin's loop. */
  public PacketLoop twin() {
    if (twin == null) {
      throw new IllegalStateException("this bench has no twin: open it by Bench.open");
    }
    return twin;
  }

  /** Runs batches of both that read all contents, then compares. */
  public void verify(int batches) {
    for (PacketLoop loop : List.of(java, twin())) {
      loop.subject.readContents(true);
      for (int i = 0; i < batches; i++) {
        loop.batch();
      }
      loop.subject.readContents(false);
    }
    compare();
  }

  /**
   * After equally many batches of both. Over several rails the node's timer may leave a rail's
   * probes to the next duty cycle, where the twin sends them at once: when a batch ends just then,
   * another one of both is run first.
   *
   * @throws IllegalStateException they did not do the same, or met what a benchmark must not meet
   */
  public void compare() {
    if (java.emitted() != twin().emitted()) {
      java.batch();
      twin.batch();
    }
    twin.check();
    java.check();
    Map<String, Long> ours = java.subject.counters();
    Map<String, Long> theirs = twin.subject.counters();
    if (!ours.equals(theirs)) {
      throw new IllegalStateException(
          "%s: Java counted %s, C counted %s".formatted(scenario, ours, theirs));
    }
    requireSame("delivered messages", java.subject.digest(), twin.subject.digest());
    requireSame("emitted frames", java.emitted(), twin.emitted());
  }

  private void requireSame(String what, long ours, long theirs) {
    if (ours != theirs) {
      throw new IllegalStateException(
          "%s: digest of %s is %x in Java and %x in C".formatted(scenario, what, ours, theirs));
    }
  }

  /** Digests of what was delivered and emitted: equal in both after {@link #compare}. */
  public long[] digests() {
    return new long[] {java.subject.digest(), java.emitted()};
  }

  @Override
  public void close() {
    if (java instanceof RelayLoop ours) {
      ours.close();
    }
    if (twin instanceof RelayLoop theirs) {
      theirs.close();
    }
    if (twin != null) {
      twin.subject.close();
    }
    java.subject.close();
    lab.close();
  }
}
