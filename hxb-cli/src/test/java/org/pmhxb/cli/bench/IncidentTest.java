package org.pmhxb.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.pmhxb.cli.workload.WorkloadReport;
import org.pmhxb.cli.workload.WorkloadSpec;
import org.pmhxb.router.Shape;

/** What is done to a cluster while it is measured, and what its outcome says of that. */
class IncidentTest {
  private static final int MEASURE_MS = 500;
  private static final long BYTES_A_STEP = 500;

  private final List<String> done = new ArrayList<>();

  /** A node that receives as much in each millisecond. */
  private record Steady(int node, long runMs) implements BenchNode {
    @Override
    public Map<String, Long> counters() {
      return Map.of();
    }

    @Override
    public void prepare(WorkloadSpec spec) {}

    @Override
    public WorkloadReport run(WorkloadSpec spec, long startNs) throws InterruptedException {
      Thread.sleep(Duration.ofNanos(startNs - System.nanoTime()).plusMillis(runMs));
      int steps = spec.timelineMs() == 0 ? 0 : (int) (spec.measureMs() / spec.timelineMs());
      List<Long> timeline = Collections.nCopies(steps, BYTES_A_STEP);
      return new WorkloadReport(node, 0, List.of(), List.of(), "", timeline, List.of());
    }

    @Override
    public void close() {}
  }

  private Benchmark.Incident at(long ms, String name) {
    return new Benchmark.Incident(
        ms,
        () -> {
          done.add(name);
          return System.nanoTime();
        });
  }

  private static Benchmark.Outcome run(long runMs, Benchmark.Incident... incidents)
      throws Exception {
    TrafficPlan plan = TrafficPlan.pair(BenchKind.BANDWIDTH, Shape.of(2), 1, 0, false);
    return new Benchmark(plan, 64, 10, MEASURE_MS, line -> {})
        .startingIn(Duration.ofMillis(20))
        .with(List.of(incidents))
        .run(Map.of(0, new Steady(0, runMs), 1, new Steady(1, runMs)), null);
  }

  @Test
  void happenInOrderAndTheTimelineKnowsWhen() throws Exception {
    Timeline timeline = run(10 + MEASURE_MS, at(20, "cut"), at(60, "mend")).timeline();

    assertThat(done).containsExactly("cut", "mend");
    assertThat(timeline.incidents()).hasSize(2);
    Timeline.Happened cut = timeline.incidents().getFirst();
    assertThat(cut.fromNs() - timeline.beganNs()).isGreaterThanOrEqualTo(20_000_000);
    assertThat(cut.doneNs()).isGreaterThanOrEqualTo(cut.fromNs());
    assertThat(timeline.incidents().getLast().fromNs()).isGreaterThan(cut.doneNs());
    long from = timeline.beganNs();
    assertThat(timeline.bytesPerSecond(from, from + MEASURE_MS * 1_000_000L))
        .isCloseTo(2e3 * BYTES_A_STEP, Percentage.withPercentage(1));
  }

  @Test
  void aRunThatEndsBeforeHasFewerOfThem() throws Exception {
    assertThat(run(300, at(5, "cut"), at(5_000, "mend")).timeline().incidents()).hasSize(1);
    assertThat(done).containsExactly("cut");
  }

  @Test
  void withoutThemThereIsNoTimeline() throws Exception {
    assertThat(run(20).timeline()).isNull();
  }

  @Test
  void oneThatFailsEndsTheRunAtOnce() {
    long startNs = System.nanoTime();
    assertThatThrownBy(
            () ->
                run(
                    60_000,
                    new Benchmark.Incident(
                        5,
                        () -> {
                          throw new IllegalStateException("tc: no such device");
                        })))
        .hasMessage("tc: no such device");
    assertThat(Duration.ofNanos(System.nanoTime() - startNs)).isLessThan(Duration.ofSeconds(30));
  }

  /** An answer that fails because the command is to end is no node that died. */
  @Test
  void anInterruptWhileTheNodesAreAskedEndsTheRun() {
    BenchNode asked =
        new BenchNode() {
          private final Steady node = new Steady(0, 20);

          @Override
          public int node() {
            return 0;
          }

          @Override
          public Map<String, Long> counters() throws IOException {
            Thread.currentThread().interrupt();
            throw new ClosedByInterruptException();
          }

          @Override
          public void prepare(WorkloadSpec spec) {}

          @Override
          public WorkloadReport run(WorkloadSpec spec, long startNs) throws InterruptedException {
            return node.run(spec, startNs);
          }

          @Override
          public void close() {}
        };
    TrafficPlan plan = TrafficPlan.pair(BenchKind.BANDWIDTH, Shape.of(2), 1, 0, false);
    Benchmark benchmark =
        new Benchmark(plan, 64, 1, 10, line -> {}).startingIn(Duration.ofMillis(1));
    assertThatThrownBy(() -> benchmark.run(Map.of(0, asked, 1, new Steady(1, 20)), null))
        .isInstanceOf(InterruptedException.class)
        .hasCauseInstanceOf(ClosedByInterruptException.class);
    assertThat(Thread.interrupted()).isFalse();
  }
}
