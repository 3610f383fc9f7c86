package org.pmhxb.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.pmhxb.cli.node.PolledNode;
import org.pmhxb.pm.PollIdle;
import org.pmhxb.router.Shape;
import org.pmhxb.router.fabric.RingCluster;

/** Messages of 4 B over rings: sharing frames, or each in its own. */
class OwnFramesTest {
  private static final Shape TWO = Shape.of(2);

  /** Of node 0: messages in shared frames. */
  private static long shared(TrafficPlan plan) throws Exception {
    List<PolledNode> nodes =
        PolledNode.launch(RingCluster.create(RingCluster.Options.of(TWO, 1)), PollIdle.YIELD);
    try {
      long deadlineNs = System.nanoTime() + Duration.ofSeconds(60).toNanos();
      while (!nodes.stream().allMatch(PolledNode::ready)) {
        assertThat(System.nanoTime()).as("ready in time").isLessThan(deadlineNs);
        Thread.sleep(5);
      }
      Map<Integer, LocalNode> byNumber = new TreeMap<>();
      nodes.forEach(node -> byNumber.put(node.self(), new LocalNode(node)));
      Benchmark.Outcome outcome = new Benchmark(plan, 4, 0, 200, line -> {}).run(byNumber, null);
      byNumber.values().forEach(LocalNode::close);
      assertThat(outcome.failures()).isEmpty();
      assertThat(outcome.faulty()).isZero();
      assertThat(outcome.messages()).isGreaterThan(1_000);
      return nodes.getFirst().status().counters().get("messages-coalesced");
    } finally {
      nodes.getFirst().close();
    }
  }

  @Test
  void smallMessagesShareFramesUnlessTheyMayNot() throws Exception {
    TrafficPlan plan = TrafficPlan.pair(BenchKind.BANDWIDTH, TWO, 1, 0, false);

    assertThat(shared(plan)).isPositive();
    assertThat(shared(plan.withOwnFrames())).isZero();
  }
}
