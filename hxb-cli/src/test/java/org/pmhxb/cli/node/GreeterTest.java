package org.pmhxb.cli.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.pmhxb.cli.bench.BenchKind;
import org.pmhxb.cli.bench.Benchmark;
import org.pmhxb.cli.bench.LocalNode;
import org.pmhxb.cli.bench.TrafficPlan;
import org.pmhxb.pm.DownReason;
import org.pmhxb.pm.PeerListener;
import org.pmhxb.pm.PeerState;
import org.pmhxb.pm.PollIdle;
import org.pmhxb.router.MissingNeighbour;
import org.pmhxb.router.Shape;
import org.pmhxb.router.fabric.RingCluster;

/** Clusters over rings of which something is dead when they start, under a given clock. */
class GreeterTest {
  private static final long STEP_NS = 500_000L;
  private static final double UNTIL_S = 12;

  private RingCluster cluster;
  private final List<Greeter> greeters = new ArrayList<>();
  private long nowNs = 7_000_000_000L;
  private long startNs;

  private void start(String shape, int rails) {
    cluster = RingCluster.create(RingCluster.Options.of(Shape.parse(shape), rails));
    for (int n = 0; n < cluster.size(); n++) {
      greeters.add(new Greeter(cluster.node(n), cluster.discovery(n)));
    }
    startNs = nowNs;
  }

  @AfterEach
  void close() {
    if (cluster != null) {
      cluster.close();
    }
  }

  /** Seconds since the start when the condition holds, or {@link #UNTIL_S}. */
  private double secondsUntil(BooleanSupplier condition) {
    while (!condition.getAsBoolean() && seconds() < UNTIL_S) {
      nowNs += STEP_NS;
      cluster.doWork(nowNs);
      greeters.forEach(greeter -> greeter.doWork(nowNs));
    }
    return seconds();
  }

  private double seconds() {
    return (nowNs - startNs) / 1e9;
  }

  private boolean allReady() {
    return greeters.stream().allMatch(Greeter::ready);
  }

  @Test
  void aWholeClusterIsReadyAtOnce() {
    start("2x2x2", 2);
    assertThat(secondsUntil(this::allReady)).isLessThan(0.1);
    assertThat(greeters).allMatch(Greeter::over);
    assertThat(cluster.node(0).peerState(4)).isEqualTo(PeerState.UP);
  }

  @Test
  void aRailThatIsDeadFromTheStartIsWaitedForShortly() {
    start("2", 2);
    cluster.wire().lines().get(1).cut(true);
    assertThat(secondsUntil(this::allReady)).isBetween(2.0, 2.5);
    assertThat(cluster.node(0).peerState(1)).isEqualTo(PeerState.UP);
    assertThat(cluster.discovery(0).missing(nowNs))
        .extracting(MissingNeighbour::railName, MissingNeighbour::how)
        .containsExactly(tuple("x1", MissingNeighbour.How.NEVER_HEARD));
  }

  @Test
  void anAbsentNeighbourHoldsUpNobodyAndIsGreetedWhenItComes() {
    start("2x2", 1);
    // Lines of X first; these two are those of Y.
    cluster.wire().lines().get(2).cut(true);
    cluster.wire().lines().get(3).cut(true);
    assertThat(secondsUntil(() -> cluster.node(0).peerState(1) == PeerState.UP)).isLessThan(0.1);
    assertThat(secondsUntil(this::allReady)).isBetween(10.0, 10.1);
    assertThat(greeters).noneMatch(Greeter::over);
    assertThat(cluster.node(0).peerState(2)).isNotEqualTo(PeerState.UP);
    cluster.wire().lines().get(2).cut(false);
    cluster.wire().lines().get(3).cut(false);
    secondsUntil(() -> greeters.stream().allMatch(Greeter::over));
    assertThat(cluster.node(0).peerState(2)).isEqualTo(PeerState.UP);
  }

  /** While it is away nothing is asked of it: why its session ended stays known. */
  @Test
  void whoIsBackIsGreetedAgain() {
    start("2", 1);
    for (int n = 0; n < 2; n++) {
      Greeter greeter = greeters.get(n);
      cluster.node(n).peerListener(new Losses(peer -> greeter.lost(peer, nowNs)));
    }
    secondsUntil(this::allReady);
    cluster.wire().lines().getFirst().cut(true);
    assertThat(secondsUntil(() -> cluster.node(0).peerState(1) == PeerState.DOWN)).isLessThan(6);
    startNs = nowNs;
    secondsUntil(() -> cluster.node(0).peerState(1) != PeerState.DOWN);
    assertThat(cluster.node(0).peerState(1)).isEqualTo(PeerState.DOWN);
    assertThat(cluster.node(0).peerStatus().getFirst().reason()).isEqualTo(DownReason.SILENCE);

    cluster.wire().lines().getFirst().cut(false);
    startNs = nowNs;
    assertThat(secondsUntil(() -> cluster.node(0).peerState(1) == PeerState.UP)).isLessThan(2);
  }

  /** Hears of ended sessions. */
  private record Losses(IntConsumer lost) implements PeerListener {
    @Override
    public void onPeerUp(int node, int session) {}

    @Override
    public void onPeerDown(int node, int session, DownReason reason, int lastAcknowledgedSeq) {
      lost.accept(node);
    }
  }

  @Test
  void whoHearsNobodyIsNotReady() {
    start("2", 1);
    cluster.wire().lines().get(0).cut(true);
    assertThat(secondsUntil(this::allReady)).isGreaterThanOrEqualTo(UNTIL_S);
  }

  /** The same by the clock of the machine: messages go, and the status names the dead rail. */
  @Test
  void nodesWithADeadRailExchangeMessagesAndNameIt() throws Exception {
    RingCluster two = RingCluster.create(RingCluster.Options.of(Shape.of(2), 2));
    two.wire().lines().get(1).cut(true);
    List<PolledNode> nodes = PolledNode.launch(two, PollIdle.YIELD);
    try {
      long deadlineNs = System.nanoTime() + Duration.ofSeconds(60).toNanos();
      while (!nodes.stream().allMatch(PolledNode::ready)) {
        assertThat(System.nanoTime()).as("ready in time").isLessThan(deadlineNs);
        Thread.sleep(20);
      }
      Map<Integer, LocalNode> byNumber = new TreeMap<>();
      nodes.forEach(node -> byNumber.put(node.self(), new LocalNode(node)));
      TrafficPlan plan = TrafficPlan.pair(BenchKind.BANDWIDTH, Shape.of(2), 1, 0, false);
      Benchmark.Outcome outcome =
          new Benchmark(plan, 8_192, 0, 200, line -> {}).run(byNumber, null);
      byNumber.values().forEach(LocalNode::close);
      assertThat(outcome.faulty()).isZero();
      assertThat(outcome.messages()).isPositive();
      String missing = "node 1 at (1,0,0) not heard on rail x1 (";
      assertThat(nodes.getFirst().signs().missing()).isEqualTo(nodes.getFirst().status().missing());
      assertThat(nodes.getFirst().status().missing())
          .singleElement()
          .asString()
          .startsWith(missing);
    } finally {
      nodes.getFirst().close();
    }
  }
}
