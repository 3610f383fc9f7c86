package org.pmhxb.mpi.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Eight ranks on 2x2x2, relays on the way. */
class EngineAllToAllTest {
  @Test
  void everyRankSendsToEveryRankAtOnce() {
    int ranks = 8;
    try (EngineRig rig = new EngineRig("2x2x2", 1, ranks, EngineRig.limits())) {
      Random random = new Random(1);
      for (int round = 0; round < 3; round++) {
        ReceiveOperation[][] receives = new ReceiveOperation[ranks][ranks];
        MemorySegment[][] rooms = new MemorySegment[ranks][ranks];
        int[][] lengths = new int[ranks][ranks];
        for (int from = 0; from < ranks; from++) {
          for (int to = 0; to < ranks; to++) {
            lengths[from][to] = random.nextInt(80_000);
            rig.send(from, to, round, lengths[from][to], from * 8 + to);
            rooms[from][to] = rig.room(80_000);
            receives[from][to] = rig.receive(to, from, round, rooms[from][to]);
          }
        }
        for (int from = 0; from < ranks; from++) {
          for (int to = 0; to < ranks; to++) {
            rig.untilDone(receives[from][to]);
            assertThat(receives[from][to].arrival().staticBytes()).isEqualTo(lengths[from][to]);
            int wrong = EngineRig.firstWrong(rooms[from][to], lengths[from][to], from * 8 + to);
            assertThat(wrong).isEqualTo(-1);
          }
        }
      }
      assertThat(rig.engines).allMatch(engine -> engine.counters().malformed() == 0);
    }
  }
}
