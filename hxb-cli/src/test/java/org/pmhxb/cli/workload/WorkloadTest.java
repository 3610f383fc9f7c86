package org.pmhxb.cli.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.cli.workload.WorkloadSpec.Kind;

class WorkloadTest {
  private static final long STEP_NS = 10_000;

  private long nowNs = -5;

  private static WorkloadSpec spec(Kind kind, List<Integer> to, List<Integer> from, int sizeBytes) {
    return new WorkloadSpec(7, kind, to, from, sizeBytes, false, 1, 5, 3, 2);
  }

  private static List<Integer> others(int self, int nodes) {
    return IntStream.range(0, nodes).filter(node -> node != self).boxed().toList();
  }

  private List<WorkloadReport> run(MemoryLinks links, List<WorkloadSpec> specs) {
    List<Workload> workloads = new ArrayList<>();
    for (int node = 0; node < specs.size(); node++) {
      workloads.add(Workload.of(specs.get(node), links.link(node), nowNs + STEP_NS, () -> nowNs));
    }
    while (!workloads.stream().allMatch(Workload::done)) {
      for (Workload workload : workloads) {
        workload.doWork(nowNs);
        nowNs += STEP_NS;
      }
    }
    return workloads.stream().map(Workload::report).toList();
  }

  @ParameterizedTest
  @ValueSource(ints = {4, 8, 39, 40, 64, 8_192, 100_000})
  void everyMessageOfAnAllToAllArrivesOnceInOrderAndIntact(int sizeBytes) {
    int nodes = 4;
    List<WorkloadSpec> specs =
        IntStream.range(0, nodes)
            .mapToObj(n -> spec(Kind.STREAM, others(n, nodes), others(n, nodes), sizeBytes))
            .toList();

    List<WorkloadReport> reports = run(new MemoryLinks(nodes, (s, d, n, queue) -> {}), specs);

    for (WorkloadReport report : reports) {
      assertThat(report.failures()).isEmpty();
      assertThat(report.received()).hasSize(3);
      assertThat(report.timeline()).hasSize(3).allMatch(bytes -> bytes > 0);
      assertThat(report.timeline().stream().mapToLong(Long::longValue).sum())
          .isEqualTo(
              report.received().stream().mapToLong(WorkloadReport.Received::measuredBytes).sum());
      for (WorkloadReport.Received in : report.received()) {
        long sent =
            reports.get(in.src()).sent().stream()
                .filter(out -> out.dst() == report.node())
                .findFirst()
                .orElseThrow()
                .messages();
        assertThat(in.messages()).isEqualTo(sent).isPositive();
        // Of messages longer than a frame the parts count, of one at each edge only some.
        long edgeBytes = sizeBytes > MemoryLinks.MAX_BYTES ? sizeBytes : 0;
        assertThat(in.measuredBytes())
            .isCloseTo(in.measuredMessages() * sizeBytes, within(edgeBytes))
            .isPositive();
        assertThat(in.lost() + in.duplicated() + in.misordered() + in.corrupt()).isZero();
        assertThat(in.ended()).isTrue();
      }
      assertThat(report.latency().isEmpty()).isEqualTo(sizeBytes < 40);
    }
  }

  @Test
  void aOneWayStreamReportsEachKindOfFaultAsItself() {
    MemoryLinks links =
        new MemoryLinks(
            2,
            (src, dst, count, queue) -> {
              if (count == 10) {
                queue.removeLast();
              } else if (count == 20) {
                queue.addLast(queue.getLast());
              } else if (count == 31 && queue.size() >= 2) {
                MemoryLinks.Frame last = queue.removeLast();
                MemoryLinks.Frame before = queue.removeLast();
                queue.addLast(last);
                queue.addLast(before);
              } else if (count == 40) {
                queue.getLast().bytes()[77] ^= 4;
              }
            });

    WorkloadReport.Received in =
        run(
                links,
                List.of(
                    spec(Kind.STREAM, List.of(1), List.of(), 100),
                    spec(Kind.STREAM, List.of(), List.of(0), 100)))
            .get(1)
            .received()
            .getFirst();

    // The damaged message is corrupt, and as such not there: it counts as lost too.
    assertThat(in.lost()).isEqualTo(2);
    assertThat(in.duplicated()).isEqualTo(1);
    assertThat(in.misordered()).isEqualTo(1);
    assertThat(in.corrupt()).isEqualTo(1);
  }

  /** What stops and does not go on before the measurement's end stood still until then. */
  @Test
  void aStopCountsAtTheMeasurementsEndAndFromItsBeginning() {
    long measureFromNs = nowNs + STEP_NS + 1_000_000;
    List<WorkloadSpec> oneWay =
        List.of(
            spec(Kind.STREAM, List.of(1), List.of(), 100),
            spec(Kind.STREAM, List.of(), List.of(0), 100));

    MemoryLinks links =
        new MemoryLinks(
            2,
            (s, d, n, queue) -> {
              if (nowNs - measureFromNs >= 2_000_000) {
                queue.removeLast();
              }
            });
    WorkloadReport.Received in = run(links, oneWay).get(1).received().getFirst();
    assertThat(in.measuredMessages()).isPositive();
    assertThat(in.longestStopNs()).isCloseTo(3_000_000L, within(3 * STEP_NS));

    MemoryLinks dead = new MemoryLinks(2, (s, d, n, queue) -> queue.removeLast());
    assertThat(run(dead, oneWay).get(1).received().getFirst().longestStopNs()).isEqualTo(5_000_000);
  }

  @Test
  void aPeerThatGoesDownIsNamedAndTheOthersFinish() {
    MemoryLinks links = new MemoryLinks(3, (s, d, n, queue) -> {});
    links.kill(2);
    List<WorkloadSpec> specs =
        List.of(
            spec(Kind.STREAM, List.of(1, 2), List.of(1, 2), 64),
            spec(Kind.STREAM, List.of(0, 2), List.of(0, 2), 64));

    List<WorkloadReport> reports = run(links, specs);

    assertThat(reports.get(0).failures())
        .containsExactly("node 0 lost its session with node 2: killed");
    assertThat(reports.get(0).received().get(0).ended()).isTrue();
    assertThat(reports.get(0).received().get(0).lost()).isZero();
  }

  @Test
  void aStreamWithoutItsEndIsAFailure() {
    MemoryLinks links = new MemoryLinks(2, (s, d, n, queue) -> {});

    List<WorkloadReport> reports =
        run(
            links,
            List.of(
                spec(Kind.STREAM, List.of(), List.of(), 64),
                spec(Kind.STREAM, List.of(), List.of(0), 64)));

    assertThat(reports.get(1).failures())
        .containsExactly("node 1 saw no end of the stream from node 0");
  }

  @ParameterizedTest
  @ValueSource(ints = {4, 64})
  void aPingPongMeasuresHalfRoundTrips(int sizeBytes) {
    MemoryLinks links = new MemoryLinks(2, (s, d, n, queue) -> {});

    List<WorkloadReport> reports =
        run(
            links,
            List.of(
                spec(Kind.PING, List.of(1), List.of(1), sizeBytes),
                spec(Kind.PONG, List.of(0), List.of(0), sizeBytes)));

    WorkloadReport asking = reports.get(0);
    assertThat(asking.failures()).isEmpty();
    assertThat(reports.get(1).failures()).isEmpty();
    assertThat(asking.received().getFirst().measuredMessages()).isPositive();
    assertThat(asking.received().getFirst().messages())
        .isEqualTo(reports.get(1).received().getFirst().messages());
    LatencyHistogram latency = new LatencyHistogram();
    latency.add(asking.latency());
    // Asked at one step, answered at the next, received at the one after.
    assertThat(latency.summary().p50()).isBetween(STEP_NS - 20, STEP_NS + 20);
  }

  @Test
  void refusesWhatANodeCannotServe() {
    MemoryLinks links = new MemoryLinks(2, (s, d, n, queue) -> {});
    assertThatThrownBy(
            () ->
                Workload.of(
                    spec(Kind.PING, List.of(1), List.of(1), MemoryLinks.MAX_BYTES + 1),
                    links.link(0),
                    0,
                    () -> 0))
        .hasMessageContaining("sizeBytes is 8937")
        .hasMessageContaining("8936");
    assertThatThrownBy(
            () ->
                Workload.of(
                    spec(Kind.STREAM, List.of(1), List.of(), WorkloadSpec.LARGEST_BYTES + 1),
                    links.link(0),
                    0,
                    () -> 0))
        .hasMessageContaining("sizeBytes is 16777217")
        .hasMessageContaining("16777216");
    assertThatThrownBy(
            () ->
                Workload.of(
                    spec(Kind.STREAM, List.of(0), List.of(), 64), links.link(0), 0, () -> 0))
        .hasMessageContaining("node is 0");
    assertThatThrownBy(() -> spec(Kind.PING, List.of(1, 2), List.of(1), 39))
        .hasMessageContaining("1 of a ping-pong");
    assertThatThrownBy(() -> spec(Kind.STREAM, List.of(1), List.of(), 3))
        .hasMessageContaining("sizeBytes is 3");
    assertThatThrownBy(
            () ->
                new WorkloadSpec(7, Kind.STREAM, List.of(1), List.of(), 64, false, 0, 65_536, 0, 1))
        .hasMessage("timelineMs is 1; must be 0, or more than measureMs / 65536");
  }
}
