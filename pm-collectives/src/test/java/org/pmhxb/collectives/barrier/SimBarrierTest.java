package org.pmhxb.collectives.barrier;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.collectives.barrier.plan.BarrierAlgorithm;
import org.pmhxb.collectives.barrier.plan.BarrierSpec;
import org.pmhxb.collectives.barrier.plan.Participants;
import org.pmhxb.collectives.barrier.plan.Planner;
import org.pmhxb.router.Shape;
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

/**
 * Barriers on whole simulated machines with faults by seed: nobody leaves before the last arrives,
 * nothing hangs, a death is told to everyone. A failure names its seed, which repeats it.
 */
class SimBarrierTest {
  private static final long MS = 1_000_000L;
  private static final long PEER_TIMEOUT_NS = 5_000 * MS;
  private static final int BARRIERS = 3;
  private static final String[] SHAPES = {"4", "7", "2x3", "2x2x2", "3x3", "9", "2x2x3"};

  /** One machine of a seed. */
  private static final class Run {
    final Shape shape;
    final int rails;
    final Participants[] groups = new Participants[BARRIERS];
    final BarrierSpec[] specs = new BarrierSpec[BARRIERS];
    final SplittableRandom random;
    final BarrierJudge judge;
    final long seed;
    int epochs = 12;
    int lives;
    long workNs = 2 * MS;
    long peerTimeoutNs = PEER_TIMEOUT_NS;

    Run(long seed) {
      this.seed = seed;
      random = new SplittableRandom(seed);
      shape = Shape.parse(SHAPES[random.nextInt(SHAPES.length)]);
      rails = 1 + random.nextInt(2);
      for (int i = 0; i < BARRIERS; i++) {
        BarrierAlgorithm algorithm =
            BarrierAlgorithm.values()[random.nextInt(BarrierAlgorithm.values().length)];
        specs[i] =
            new BarrierSpec(
                algorithm, 1 + random.nextInt(rails), random.nextInt(3) > 0, 2 + random.nextInt(3));
        boolean all = i == 0 || algorithm == BarrierAlgorithm.EXCHANGE;
        BitSet mask = new BitSet();
        for (int node = 0; node < shape.nodes(); node++) {
          mask.set(node, all || random.nextInt(3) > 0);
        }
        mask.set(random.nextInt(shape.nodes()));
        groups[i] = Participants.of(shape, rails, mask.stream().toArray());
      }
      judge = new BarrierJudge(groups);
    }

    SimResult run(List<Fault> faults) {
      SimOptions options =
          new SimOptions(
              shape,
              rails,
              seed,
              NodeOptions.small().withPeerTimeoutNs(peerTimeoutNs),
              List.of(LinkSpec.gigabit(), LinkSpec.gigabit(), LinkSpec.gigabit()),
              new Schedule(shape, rails, peerTimeoutNs, faults),
              host -> List.of(program(host)),
              20_000 * MS,
              16,
              false);
      SimResult result = Simulation.run(options);
      assertThat(result.violation()).as(what(faults)).isNull();
      assertThat(judge.wrong()).as(what(faults)).isEmpty();
      assertThat(result.leakedBuffers()).as(what(faults)).isZero();
      return result;
    }

    private BarrierProgram program(Host host) {
      if (++lives > shape.nodes()) {
        judge.startsAgain(host.self());
      }
      return new BarrierProgram(host, judge, groups, specs, epochs, workNs, 0);
    }

    String what(List<Fault> faults) {
      return "seed %d: %s, %d rails, %s of %s, faults %s"
          .formatted(seed, shape, rails, List.of(specs), List.of(groups), faults);
    }

    Fault fault(
        FaultKind kind, Place place, long startNs, long lengthNs, double rate, long amount) {
      return new Fault(kind, place, startNs, lengthNs, rate, amount, random.nextLong());
    }

    /** Loss, copies, reordering, damage, standing still, slowness, full queues: one to five. */
    List<Fault> faults() {
      List<Fault> faults = new ArrayList<>();
      for (int n = 1 + random.nextInt(5); n > 0; n--) {
        long startNs = random.nextLong(30 * MS);
        long lengthNs = (1 + random.nextLong(200)) * MS;
        Place place = random.nextBoolean() ? Place.ALL : Place.node(random.nextInt(shape.nodes()));
        Place node = Place.node(random.nextInt(shape.nodes()));
        double rate = 0.4 * random.nextDouble();
        switch (random.nextInt(9)) {
          case 0, 1 -> faults.add(fault(FaultKind.LOSS, place, startNs, lengthNs, rate, 0));
          case 2 -> faults.add(fault(FaultKind.DUPLICATION, place, startNs, lengthNs, rate, 0));
          case 3 ->
              faults.add(
                  fault(FaultKind.LATE_DUPLICATION, place, startNs, lengthNs, rate, 20 * MS));
          case 4 -> faults.add(fault(FaultKind.REORDERING, place, startNs, lengthNs, rate, 5 * MS));
          case 5 -> faults.add(fault(FaultKind.STALL, node, startNs, lengthNs * 5, 0, 0));
          case 6 -> faults.add(fault(FaultKind.SLOW_CONSUMER, node, startNs, lengthNs, 0, 3 * MS));
          case 7 -> faults.add(fault(FaultKind.POOL, node, startNs, lengthNs, 0.99, 0));
          default -> faults.add(fault(FaultKind.CORRUPTION, place, startNs, lengthNs, rate, 0));
        }
      }
      return faults;
    }

    void everyoneFinished(List<Fault> faults) {
      assertThat(judge.ends()).as(what(faults)).isEmpty();
      for (int b = 0; b < BARRIERS; b++) {
        for (int rank = 0; rank < groups[b].size(); rank++) {
          assertThat(judge.leftBy(b, groups[b].node(rank))).as(what(faults)).isEqualTo(epochs);
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 4, 5})
  void faultsDelayAndNoMore(int part) {
    for (long seed = 1 + 50L * part; seed <= 50L * (part + 1); seed++) {
      Run run = new Run(seed);
      List<Fault> faults = run.faults();
      run.run(faults);
      run.everyoneFinished(faults);
    }
  }

  /** A node dies for good, in half of the runs on a lossy network: everyone else hears of it. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3})
  void aDeathEndsTheBarrierForAllOthers(int part) {
    for (long seed = 10_001 + 25L * part; seed <= 10_000 + 25L * (part + 1); seed++) {
      Run run = new Run(seed);
      run.epochs = 1_000_000;
      run.peerTimeoutNs = 1_000 * MS; // no other node is silent for long
      int dead = run.random.nextInt(run.shape.nodes());
      long diesNs = 30 * MS + run.random.nextLong(50 * MS); // after its first epochs
      List<Fault> faults = new ArrayList<>(seed % 2 == 0 ? List.of() : run.faults());
      faults.removeIf(f -> f.kind() == FaultKind.STALL);
      faults.add(run.fault(FaultKind.CRASH, Place.node(dead), diesNs, 0, 0, 0));
      // Groups without the dead node go on for ever: they are left out.
      for (int b = 0; b < BARRIERS; b++) {
        if (run.groups[b].rank(dead) < 0 || run.groups[b].size() == 1) {
          run.groups[b] = run.groups[0];
          run.specs[b] =
              run.specs[0].algorithm() == BarrierAlgorithm.CONCURRENT
                  ? dissemination()
                  : concurrent();
        }
      }
      run.run(faults);
      everyOtherHeardOf(run, dead, faults);
    }
  }

  /**
   * Every member but the dead one broke off each of its barriers, once, and names the dead node.
   */
  private static void everyOtherHeardOf(Run run, int dead, List<Fault> faults) {
    List<String> expected = new ArrayList<>();
    for (int b = 0; b < BARRIERS; b++) {
      for (int rank = 0; rank < run.groups[b].size(); rank++) {
        int node = run.groups[b].node(rank);
        if (node != dead) {
          expected.add(b + ":" + node + ":" + dead);
        }
      }
    }
    assertThat(run.judge.ends()).as(run.what(faults)).containsExactlyInAnyOrderElementsOf(expected);
  }

  private static BarrierSpec dissemination() {
    return BarrierSpec.of(BarrierAlgorithm.DISSEMINATION);
  }

  private static BarrierSpec concurrent() {
    return BarrierSpec.of(BarrierAlgorithm.CONCURRENT);
  }

  /**
   * A node dies and comes back: its old life's barriers end, and its new life, which counts from 1
   * again, leaves none of those that the others left with the old one.
   */
  @Test
  void aNodeThatStartsAgainIsNoParticipantOfOldBarriers() {
    for (long seed = 20_001; seed <= 20_040; seed++) {
      Run run = new Run(seed);
      run.epochs = 1_000_000;
      int dead = run.random.nextInt(run.shape.nodes());
      for (int b = 0; b < BARRIERS; b++) {
        run.groups[b] = run.groups[0];
      }
      long diesNs = 30 * MS + run.random.nextLong(50 * MS); // after its first epochs
      List<Fault> faults =
          List.of(run.fault(FaultKind.RESTART, Place.node(dead), diesNs, 20 * MS, 0, 0));
      run.run(faults);
      assertThat(run.judge.ends()).as(run.what(faults)).hasSize(BARRIERS * run.groups[0].size());
      assertThat(run.judge.ends()).as(run.what(faults)).allMatch(e -> e.endsWith(":" + dead));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "7, dissemination, 1", "8, binary, 1", "9, ternary/r2, 2", "16, quaternary, 1",
    "5, concurrent/r2, 2", "3x4, crossbar, 1", "2x2x2, crossbar/unicast, 2", "3x3, exchange, 1",
    "2x3x2, exchange, 2", "13, chassis/k3, 1", "4x4, chassis/unicast/k4, 1", "2x2x3, binary, 2",
  })
  void withoutLossNoFrameBeyondTheCount(String text, String spec, int rails) {
    Shape shape = Shape.parse(text);
    Participants group = Participants.of(shape, rails, IntStream.range(0, shape.nodes()).toArray());
    Participants[] groups = {group};
    BarrierSpec[] specs = {BarrierSpec.parse(spec)};
    BarrierJudge judge = new BarrierJudge(groups);
    int epochs = 40;
    SimOptions options =
        new SimOptions(
            shape,
            rails,
            7,
            NodeOptions.small(),
            List.of(LinkSpec.gigabit(), LinkSpec.gigabit(), LinkSpec.gigabit()),
            new Schedule(shape, rails, PEER_TIMEOUT_NS, List.of()),
            host ->
                List.of(
                    new BarrierProgram(host, judge, groups, specs, epochs, 50_000, group.size())),
            4_000 * MS,
            16,
            false);
    SimResult result = Simulation.run(options);
    assertThat(result.violation()).isNull();
    assertThat(judge.wrong()).isEmpty();
    assertThat(judge.ends()).isEmpty();
    assertThat(result.counters().get("collectives-sent"))
        .isEqualTo((long) epochs * Planner.frames(group, specs[0]));
  }
}
