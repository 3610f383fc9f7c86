package org.pmhxb.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.pmhxb.cli.control.ControlJson;
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

  @Test
  void whyItFailedIsSaid() throws Exception {
    assertThat(new DemoFailures(3, 6).add(0, "message", "came damaged").all()).isEmpty();
    List<String> failures = new DemoFailures(3, 4).add(2, "message", "came twice").all();
    assertThat(failures)
        .containsExactly(
            "4 of 6 pairs exchanged messages, for one thread works for all nodes: give it more --seconds, or a smaller --shape",
            "2 messages came twice");
    ObjectNode failed;
    try (RingCluster cluster = RingCluster.create(RingCluster.Options.of(Shape.of(2), 1))) {
      DemoReport report = new DemoRun(cluster, 1_024, line -> {}).run(0.1);
      assertThat(report.ok()).isTrue();
      assertThat(report.failures()).isEmpty();
      failed = ControlJson.from(report);
    }
    failures.forEach(failed.putArray("failures")::add);
    StringWriter text = new StringWriter();
    ControlJson.to(failed, DemoReport.class).print(new PrintWriter(text, true));
    assertThat(text.toString()).contains("\n  4 of 6 pairs ", "\n  2 messages came twice\n");
  }

  /** One page too few for all is none for any; of the number that is named the launcher has all. */
  @Test
  void tooFewHugepagesAreNamedWithTheNumberThatWouldDo() throws Exception {
    RingCluster.Options options = RingCluster.Options.of(Shape.of(2), 1);
    long needed;
    try (RingCluster cluster = RingCluster.create(options)) {
      needed = cluster.hugepagesNeeded();
    }
    try (RingCluster cluster = RingCluster.create(options, needed - 1)) {
      DemoReport report = new DemoRun(cluster, 1_024, line -> {}).run(0.1);
      assertThat(report.hugepages()).isFalse();
      StringWriter text = new StringWriter();
      report.print(new PrintWriter(text, true));
      assertThat(text.toString())
          .contains(
              "note      4 KB pages: all pools need %d pages of 2 MB, %d were free; to have them: HXB_HUGEPAGES=%d ./hxb demo --shape 2 --rails 1"
                  .formatted(needed, needed - 1, needed));
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
