package org.pmhxb.collectives.probe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.collectives.barrier.Barriers;
import org.pmhxb.collectives.barrier.EchoListener;
import org.pmhxb.collectives.barrier.plan.Participants;
import org.pmhxb.router.Shape;
import org.pmhxb.router.fabric.RingCluster;
import org.pmhxb.sim.NodeOptions;
import org.pmhxb.sim.SimOptions;
import org.pmhxb.sim.SimResult;
import org.pmhxb.sim.Simulation;
import org.pmhxb.sim.fault.Fault;
import org.pmhxb.sim.fault.FaultKind;
import org.pmhxb.sim.fault.Place;
import org.pmhxb.sim.fault.Schedule;
import org.pmhxb.sim.net.LinkSpec;
import org.pmhxb.sim.work.Host;
import org.pmhxb.sim.work.Program;

/** What is measured in the simulator, whose links and costs are known. */
class FabricProbeTest {
  private static final int RAILS = 2;

  /** A frame and what Ethernet adds take 0.09 us at 10 Gbit/s, 9 us at 100 Mbit/s. */
  private static final LinkSpec QUICK = new LinkSpec(10_000_000_000L, 5_000, 256 * 1024, 128);

  private static final LinkSpec SLOW = new LinkSpec(100_000_000L, 20_000, 256 * 1024, 128);

  /** What the simulator charges for each frame that a node receives. */
  private static final double FRAME_NS = 100;

  /** A COLLECTIVE frame to one node. */
  private static final int FRAME_BYTES = 88;

  @Test
  void findsWhatTheSimulatorIsMadeOf() {
    FabricLogp found = measure(QUICK, List.of());

    double wayNs = QUICK.latencyNs() + 2 * QUICK.sendNs(FRAME_BYTES);
    assertThat(found.lost()).isZero();
    assertThat(found.wakeNs()).as("who polls never sleeps").isZero();
    assertThat(found.logp().osNs()).as("time stands still while a node sends").isZero();
    assertThat(found.logp().orNs()).isCloseTo(FRAME_NS, within(0.1 * FRAME_NS));
    assertThat(found.ways()).hasSize(3 * RAILS);
    for (FabricLogp.Way way : found.ways()) {
      double expected = (way.relays() + 1) * wayNs;
      assertThat(way.latencyNs()).as("%s", way).isCloseTo(expected, within(0.05 * expected));
    }
    assertThat(found.logp().latencyNs(2)).isGreaterThan(2 * found.logp().latencyNs(0));
  }

  @Test
  void theGapIsThatOfTheWireAndRailsShareIt() {
    FabricLogp found = measure(SLOW, List.of());

    double frameNs = SLOW.sendNs(FRAME_BYTES);
    assertThat(found.gaps()).extracting(FabricLogp.Gap::rails).containsExactly(1, RAILS);
    assertThat(found.gaps().getFirst().gapNs()).isCloseTo(frameNs, within(0.05 * frameNs));
    assertThat(found.gaps().getLast().gapNs()).isCloseTo(frameNs / RAILS, within(0.05 * frameNs));
    assertThat(found.notes()).isEmpty();
  }

  @Test
  void lostEchoesAreLeftOut() {
    Fault loss = new Fault(FaultKind.LOSS, Place.ALL, 0, 1_000_000_000L, 0.05, 0, 7);
    FabricLogp found = measure(QUICK, List.of(loss));

    double wayNs = QUICK.latencyNs() + 2 * QUICK.sendNs(FRAME_BYTES);
    assertThat(found.lost()).isPositive();
    assertThat(found.logp().latencyNs(0)).isCloseTo(wayNs, within(0.05 * wayNs));
  }

  private static FabricLogp measure(LinkSpec link, List<Fault> faults) {
    Shape shape = Shape.of(2, 2, 2);
    FabricLogp[] found = new FabricLogp[1];
    SimOptions options =
        new SimOptions(
            shape,
            RAILS,
            1,
            NodeOptions.small(),
            List.of(link, link, link),
            new Schedule(shape, RAILS, 5_000_000_000L, faults),
            host -> List.of(new Probing(host, found)),
            SimOptions.PROGRESS_BOUND_NS,
            1_000_000,
            false);
    SimResult result = Simulation.run(options);
    assertThat(result.violation()).isNull();
    assertThat(found[0]).isNotNull();
    return found[0];
  }

  /** A process that stands still for longer than an echo may take finds it when it goes on. */
  @Test
  void whoWasHeldUpHasLostNothing() {
    long[] nowNs = {1_000_000_000L};
    try (RingCluster cluster = RingCluster.create(RingCluster.Options.of(Shape.of(2), 1))) {
      Barriers.of(cluster.node(1));
      Participants group = Participants.of(Shape.of(2), 1, 0, 1);
      FabricProbe probe =
          new FabricProbe(
              cluster.node(0), group, ProbeClock.polling(() -> nowNs[0]), timeNs -> {}, 20);
      while (!probe.isConnected()) {
        cluster.doWork(nowNs[0] += 2_000);
      }
      for (int round = 0; !probe.isOver(); round++) {
        assertThat(round).isLessThan(1_000_000);
        cluster.doWork(nowNs[0] += round % 50 == 0 ? 300_000_000L : 2_000);
        probe.step();
      }
      assertThat(probe.found().lost()).isZero();
    }
  }

  @Test
  void aCountThatNoArrayHoldsIsRefused() {
    try (RingCluster cluster = RingCluster.create(RingCluster.Options.of(Shape.of(2), 1))) {
      Participants group = Participants.of(Shape.of(2), 1, 0, 1);
      for (int count : new int[] {Integer.MIN_VALUE, 0, FabricProbe.COUNT_MAX + 1}) {
        assertThatThrownBy(
                () ->
                    new FabricProbe(
                        cluster.node(0), group, ProbeClock.polling(() -> 0), timeNs -> {}, count))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessage("count is " + count + "; must be 1 to 1000000");
      }
    }
  }

  private static FabricProbe connected(RingCluster cluster, long[] nowNs) {
    Barriers.of(cluster.node(1));
    Participants group = Participants.of(Shape.of(2), 1, 0, 1);
    FabricProbe probe =
        new FabricProbe(
            cluster.node(0), group, ProbeClock.polling(() -> nowNs[0]), timeNs -> {}, 1_000);
    while (!probe.isConnected()) {
      cluster.doWork(nowNs[0] += 2_000);
    }
    return probe;
  }

  private static FabricProbe underWay(RingCluster cluster, long[] nowNs, int rounds) {
    FabricProbe probe = connected(cluster, nowNs);
    for (int round = 0; round < rounds; round++) {
      cluster.doWork(nowNs[0] += 2_000);
      probe.step();
    }
    assertThat(probe.isOver()).isFalse();
    return probe;
  }

  /** At every stage of the measurement, of which the last is that of receiving. */
  @ParameterizedTest
  @ValueSource(ints = {0, 100, 3_000, 12_000})
  void aPeerThatDiesIsNamed(int rounds) {
    long[] nowNs = {1_000_000_000L};
    try (RingCluster cluster = RingCluster.create(RingCluster.Options.of(Shape.of(2), 1))) {
      FabricProbe probe = underWay(cluster, nowNs, rounds);
      long diedNs = nowNs[0];
      assertThatThrownBy(
              () -> {
                while (!probe.isOver() && nowNs[0] - diedNs < 60_000_000_000L) {
                  cluster.node(0).doWork(nowNs[0] += 1_000_000);
                  if (probe.isConnected()) {
                    probe.step();
                  }
                }
              })
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("session with node 1 ended");
    }
  }

  /** The session lives on, as where one rail of several is cut. */
  @ParameterizedTest
  @ValueSource(ints = {1, 100, 3_000, 12_000})
  void aPeerThatAnswersNothingIsNamed(int rounds) {
    long[] nowNs = {1_000_000_000L};
    try (RingCluster cluster = RingCluster.create(RingCluster.Options.of(Shape.of(2), 1))) {
      FabricProbe probe = underWay(cluster, nowNs, rounds);
      Barriers.of(cluster.node(0)).echoListener(EchoListener.NONE);
      long goneNs = nowNs[0];
      assertThatThrownBy(
              () -> {
                while (!probe.isOver() && nowNs[0] - goneNs < 60_000_000_000L) {
                  cluster.doWork(nowNs[0] += 1_000_000);
                  if (probe.isConnected()) {
                    probe.step();
                  }
                }
              })
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("nothing came back for 10 s from node 1, by rail 0");
      assertThat(nowNs[0] - goneNs).isLessThan(20_000_000_000L);
    }
  }

  @Test
  void aPeerThatNeverCameIsNamed() {
    long[] nowNs = {1_000_000_000L};
    try (RingCluster cluster = RingCluster.create(RingCluster.Options.of(Shape.of(2), 1))) {
      Participants group = Participants.of(Shape.of(2), 1, 0, 1);
      FabricProbe probe =
          new FabricProbe(
              cluster.node(0), group, ProbeClock.polling(() -> nowNs[0]), timeNs -> {}, 10);
      assertThatThrownBy(
              () -> {
                for (int round = 0; round < 60_000; round++) {
                  cluster.node(0).doWork(nowNs[0] += 1_000_000);
                  assertThat(probe.isConnected()).isFalse();
                }
              })
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("no session with node 1 in 20 s");
    }
  }

  /** Node 0 probes; the others answer until it is done. */
  private static final class Probing implements Program {
    private final FabricLogp[] found;
    private final FabricProbe probe;
    private long nowNs;

    Probing(Host host, FabricLogp[] found) {
      this.found = found;
      Barriers.of(host.node());
      int[] all = IntStream.range(0, host.shape().nodes()).toArray();
      Participants group = Participants.of(host.shape(), RAILS, all);
      probe =
          host.self() != 0
              ? null
              : new FabricProbe(
                  host.node(), group, ProbeClock.polling(() -> nowNs), timeNs -> {}, 101);
    }

    @Override
    public int step(long timeNs) {
      nowNs = timeNs;
      if (probe == null || found[0] != null || !probe.isConnected()) {
        return 0;
      }
      int work = probe.step();
      if (probe.isOver()) {
        found[0] = probe.found();
      }
      return work;
    }

    @Override
    public boolean isDone() {
      return found[0] != null;
    }

    @Override
    public void close() {}
  }
}
