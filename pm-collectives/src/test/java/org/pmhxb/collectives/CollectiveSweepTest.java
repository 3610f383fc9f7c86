package org.pmhxb.collectives;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.pmhxb.pm.PeerDownException;
import org.pmhxb.router.Shape;
import org.pmhxb.sim.NodeOptions;
import org.pmhxb.sim.SimResult;
import org.pmhxb.sim.fault.Fault;
import org.pmhxb.sim.fault.FaultKind;
import org.pmhxb.sim.fault.Place;

/**
 * Collectives by seed under loss, duplication, reordering, a node that stands still, one whose
 * program is slow, and one that dies or is started again: right results or {@link
 * PeerDownException}, never a hang.
 */
class CollectiveSweepTest {
  private static final long MS = 1_000_000L;
  private static final String[] SHAPES = {"5", "8", "3x2", "2x2x2", "3x3", "4x2x2"};
  private static final String[] NETWORKS = {"flat", "crossbar", "clusters-0", "clusters-1"};
  private static final int SEEDS = 40;

  @Test
  void resultsAreRightWhateverTheWireDoes() {
    for (long seed = 1; seed <= SEEDS; seed++) {
      SplittableRandom random = new SplittableRandom(seed * 77);
      SimMachine sim = machine(random, seed);
      if (seed % 2 == 0) {
        sim.closeAtEnd();
      }
      SimResult result = sim.run(seed, node(random), wire(random, sim, seed));

      assertThat(result.violation()).as("seed %d", seed).isNull();
      for (RankRun run : sim.runs()) {
        assertThat(run.failure()).as("seed %d, %s", seed, run.where()).isNull();
      }
    }
  }

  @Test
  void aDyingMemberEndsTheCallAtAllOthers() {
    int broken = 0;
    for (long seed = 1; seed <= SEEDS; seed++) {
      SplittableRandom random = new SplittableRandom(seed * 99);
      SimMachine sim = machine(random, seed);
      if (seed % 4 < 2) {
        sim.closeAtEnd();
      }
      List<Fault> faults =
          new ArrayList<>(random.nextBoolean() ? wire(random, sim, seed) : List.of());
      int dying = random.nextInt(sim.members().length);
      long atNs = (long) (MS / 10 * Math.exp(random.nextDouble() * Math.log(300)));
      FaultKind how = random.nextBoolean() ? FaultKind.CRASH : FaultKind.RESTART;
      faults.add(new Fault(how, Place.node(sim.members()[dying]), atNs, 20 * MS, 0, 0, seed));
      SimResult result = sim.run(seed, node(random), faults);

      assertThat(result.violation()).as("seed %d: %s", seed, faults).isNull();
      for (int rank = 0; rank < sim.runs().length; rank++) {
        RankRun run = sim.runs()[rank];
        if (rank != dying && run.failure() != null) {
          broken++;
          assertThat(run.failure())
              .as("seed %d, %s", seed, run.where())
              .isInstanceOf(PeerDownException.class);
          int named = ((PeerDownException) run.failure()).node();
          int gone = sim.members()[dying];
          assertThat(IntStream.of(sim.members()).filter(m -> m != gone).boxed())
              .as("seed %d, %s: node %d is dead or cut off by the dead", seed, run.where(), named)
              .anyMatch(m -> sim.schedule(faults).mayEverEndSession(m, named));
        }
      }
    }
    assertThat(broken).as("members that were told, over all seeds").isGreaterThan(2 * SEEDS);
  }

  /** One member sends to a group that the others have not joined, and is started again. */
  @Test
  void whatAMemberSentInItsLifeBeforeIsNobodysData() {
    long released = 0;
    Set<Long> broken = new TreeSet<>();
    for (long seed = 1; seed <= SEEDS; seed++) {
      SplittableRandom random = new SplittableRandom(seed * 111);
      Shape shape = Shape.parse(SHAPES[random.nextInt(SHAPES.length)]);
      int ranks = 2 + random.nextInt(shape.nodes() - 1);
      Script script = Script.random(seed, ranks, 12, 20_000);
      SimMachine sim = machine(random, seed, shape, ranks, script);
      int early = random.nextInt(ranks);
      sim.joinLater(early, script.withSeed(seed + 1_000), 1_000 * MS);
      List<Fault> faults = new ArrayList<>(wire(random, sim, seed));
      Place node = Place.node(sim.members()[early]);
      long atNs = 10 * MS + random.nextLong(50 * MS);
      faults.add(new Fault(FaultKind.RESTART, node, atNs, 20 * MS, 0, 0, seed));
      SimResult result = sim.run(seed, node(random), faults);

      assertThat(result.violation()).as("seed %d: %s", seed, faults).isNull();
      for (RankRun run : sim.runs()) {
        if (run.failure() != null) {
          // A session that was begun with the life before may end behind the next one's first.
          assertThat(run.failure())
              .as("seed %d, %s", seed, run.where())
              .isInstanceOf(PeerDownException.class);
          broken.add(seed);
        }
        released += run.collectives().strangersReleased();
      }
    }
    assertThat(released).as("messages of the lives before, over all seeds").isGreaterThan(SEEDS);
    assertThat(broken).as("seeds in which somebody was down").hasSizeLessThan(SEEDS / 8);
  }

  /** One member calls at once and is cut off until its sessions end, and then the others join. */
  @Test
  void nobodyWaitsForWhatWasSentBeforeACut() {
    int broken = 0;
    for (long seed = 1; seed <= SEEDS; seed++) {
      SplittableRandom random = new SplittableRandom(seed * 123);
      Shape shape = Shape.parse(SHAPES[random.nextInt(SHAPES.length)]);
      int ranks = 2 + random.nextInt(shape.nodes() - 1);
      Script script = Script.random(seed, ranks, 12, 20_000);
      SimMachine sim = machine(random, seed, shape, ranks, script);
      int early = random.nextInt(ranks);
      sim.joinLater(early, script, 9_000 * MS);
      if (seed % 2 == 0) {
        sim.closeAtEnd();
      }
      List<Fault> faults = new ArrayList<>(wire(random, sim, seed));
      Place node = Place.node(sim.members()[early]);
      long atNs = 10 * MS + random.nextLong(50 * MS);
      faults.add(new Fault(FaultKind.CUT, node, atNs, 8_000 * MS, 0, 0, seed));
      SimResult result = sim.run(seed, node(random), faults);

      assertThat(result.violation()).as("seed %d: %s", seed, faults).isNull();
      for (RankRun run : sim.runs()) {
        if (run.failure() != null) {
          assertThat(run.failure())
              .as("seed %d, %s", seed, run.where())
              .isInstanceOf(PeerDownException.class);
          broken++;
        }
      }
    }
    assertThat(broken).as("members that were told, over all seeds").isGreaterThan(2 * SEEDS);
  }

  private static SimMachine machine(SplittableRandom random, long seed) {
    Shape shape = Shape.parse(SHAPES[random.nextInt(SHAPES.length)]);
    int ranks = 2 + random.nextInt(shape.nodes() - 1);
    return machine(random, seed, shape, ranks, Script.random(seed, ranks, 12, 20_000));
  }

  private static SimMachine machine(
      SplittableRandom random, long seed, Shape shape, int ranks, Script script) {
    String network = NETWORKS[random.nextInt(NETWORKS.length)];
    Topology topology = CollectivesTest.topology(network, shape, seed);
    return new SimMachine(
        shape,
        1 + random.nextInt(2),
        CollectivesTest.members(shape, ranks, seed + 1),
        topology,
        script,
        new CollectiveLimits(random.nextBoolean() ? 4_096 : 1 << 20, 8_192));
  }

  private static NodeOptions node(SplittableRandom random) {
    NodeOptions n = NodeOptions.small();
    return new NodeOptions(
        random.nextBoolean() ? 16 : 64,
        random.nextBoolean() ? 96 : 512,
        n.claimBuffers(),
        n.loanBuffers(),
        n.ringBuffers(),
        n.reserveBuffers(),
        n.strideBytes(),
        n.peerTimeoutNs(),
        -1,
        random.nextBoolean(),
        n.idleGapNs(),
        n.parkGapNs());
  }

  private static List<Fault> wire(SplittableRandom random, SimMachine sim, long seed) {
    List<Fault> faults = new ArrayList<>();
    long all = 100 * MS;
    faults.add(new Fault(FaultKind.LOSS, Place.ALL, 0, all, 0.02 * random.nextDouble(), 0, seed));
    faults.add(new Fault(FaultKind.DUPLICATION, Place.ALL, 0, all, 0.05, 0, seed + 1));
    faults.add(new Fault(FaultKind.REORDERING, Place.ALL, 0, all, 0.05, 200_000, seed + 2));
    int slow = sim.members()[random.nextInt(sim.members().length)];
    faults.add(
        random.nextBoolean()
            ? new Fault(
                FaultKind.STALL, Place.node(slow), MS, 1 + random.nextLong(300 * MS), 0, 0, 1)
            : new Fault(FaultKind.SLOW_CONSUMER, Place.node(slow), 0, all, 0, MS, 1));
    return faults;
  }
}
