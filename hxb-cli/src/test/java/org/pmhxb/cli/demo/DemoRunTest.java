package org.pmhxb.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.pmhxb.pm.Counter;
import org.pmhxb.router.Shape;
import org.pmhxb.router.fabric.RingCluster;

class DemoRunTest {
  private static long sum(RingCluster cluster, Counter counter) {
    long sum = 0;
    for (int node = 0; node < cluster.size(); node++) {
      sum += cluster.node(node).counters().get(counter);
    }
    return sum;
  }

  /** More frames are sent than received, though nothing is lost: the rest comes after the end. */
  @Test
  void whatWasSentAndNotReceivedWasUnderWay() throws Exception {
    RingCluster.Options options = RingCluster.Options.of(Shape.of(2, 2), 2);
    try (RingCluster cluster = RingCluster.create(options)) {
      assertThat(cluster.node(0).maxFramePayloadBytes())
          .as("the limit of --size, which is checked before there is a cluster")
          .isEqualTo(DemoCommand.SIZE_MAX);
      DemoReport report = new DemoRun(cluster, 1_024, line -> {}).run(0.3);

      long sent = report.counters().get("frames-sent");
      assertThat(report.counters().get("frames-received")).isLessThanOrEqualTo(sent);
      assertThat(sum(cluster, Counter.FRAMES_RECEIVED) + report.wireLost())
          .isGreaterThanOrEqualTo(sent);
      StringWriter text = new StringWriter();
      report.print(new PrintWriter(text, true));
      assertThat(text.toString())
          .contains("counters  (some acknowledgements were still on their way)");
    }
  }

  /** So that Ctrl-C ends a soak, which waits for what it has built to be taken down. */
  @Test
  void endsWhenItIsInterrupted() throws Exception {
    try (RingCluster cluster = RingCluster.create(RingCluster.Options.of(Shape.of(2), 1))) {
      DemoRun run = new DemoRun(cluster, 1_024, line -> {});
      Thread.currentThread().interrupt();
      assertThatThrownBy(() -> run.run(0.3)).isInstanceOf(InterruptedException.class);
      assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }
  }
}
