package org.pmhxb.mpi.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.router.Shape;
import org.pmhxb.router.fabric.RingCluster;

/** Ranks that leave, each with its node, while others are late. */
class DepartureTest {
  private static final int RANKS = 6;
  private static final int ROUNDS_MAX = 4_000_000;

  private static final long PEER_TIMEOUT_NS = 20_000_000;

  /** Some of its rounds belong to the barriers of who rests nowhere. */
  private static final int RESTS_FROM_MAX = 60;

  private static final int REST_ROUNDS = 2_000;

  /** What who quits has time for, to tell its peers. */
  private static final int LAST_ROUNDS = 500;

  /**
   * Round by round all ranks take the steps that are due; who may go closes its node, which is gone
   * a while later.
   */
  private static void allLeave(EngineRig rig, int late, int restsFrom) {
    List<Departure> departures = new ArrayList<>();
    for (int rank = 0; rank < RANKS; rank++) {
      rig.engine(rank).started();
      departures.add(new Departure(rig.engine(rank)));
    }
    int[] endsIn = new int[RANKS];
    int left = RANKS;
    for (int round = 0; left > 0; round++) {
      assertThat(round).as("ranks left: %d", left).isLessThan(ROUNDS_MAX);
      if (round == restsFrom || round == restsFrom + REST_ROUNDS) {
        rig.rest(late, round == restsFrom);
      }
      for (int rank = 0; rank < RANKS; rank++) {
        if (endsIn[rank] == 0 && departures.get(rank).awaited() == null) {
          endsIn[rank] = round + LAST_ROUNDS;
          left--;
          rig.cluster.node(rank).quit();
        }
        if (endsIn[rank] == round && round > 0) {
          rig.end(rank);
        }
      }
      rig.round();
    }
  }

  /**
   * In 3x2 node 4 is two dimensions from node 0: nodes 1 and 3 relay what rank 0 sends to it, and
   * neither waits for it.
   */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 4, 5})
  void noRankMissesAnotherThatHasLeftBefore(int late) {
    RingCluster.Options options =
        RingCluster.Options.of(Shape.parse("3x2"), 1).withPeerTimeoutNs(PEER_TIMEOUT_NS);
    for (int restsFrom = 0; restsFrom < RESTS_FROM_MAX; restsFrom += 3) {
      Random random = new Random(restsFrom);
      try (EngineRig rig = new EngineRig(options, RANKS, EngineRig.limits())) {
        List<Operation> messages = new ArrayList<>();
        for (int from = 0; from < RANKS; from++) {
          int to = random.nextInt(RANKS);
          int length = random.nextInt(40_000);
          messages.add(rig.receive(to, from, 7, rig.room(length)));
          messages.add(rig.send(from, to, 7, length, from));
        }

        allLeave(rig, late, restsFrom);

        assertThat(messages).allMatch(op -> op.isDone() && op.failure() == null);
      }
    }
  }

  @Test
  void whoDiesBeforeAllHaveComeIsMissed() {
    try (EngineRig rig = new EngineRig("3", 1, 3, EngineRig.limits())) {
      Departure departure = new Departure(rig.engine(0));
      Departure other = new Departure(rig.engine(2));
      for (int i = 0; i < 1_000; i++) {
        assertThat(departure.awaited()).isNotNull();
        assertThat(other.awaited()).isNotNull();
        rig.round();
      }

      rig.cluster.node(1).quit();

      rig.until(() -> fails(departure) && fails(other));
    }
  }

  private static boolean fails(Departure departure) {
    try {
      assertThat(departure.awaited()).isNotNull();
      return false;
    } catch (OperationException e) {
      assertThat(e).hasMessageContaining("rank 1");
      return true;
    }
  }
}
