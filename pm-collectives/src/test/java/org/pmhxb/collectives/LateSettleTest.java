package org.pmhxb.collectives;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.collectives.algorithm.StandardAlgorithms;
import org.pmhxb.router.Shape;
import org.pmhxb.router.fabric.RingCluster;

/** Who closes its collectives first must not keep others from settling. */
class LateSettleTest {
  @ParameterizedTest
  @ValueSource(ints = {1_000, 40_000})
  void whoIsSlowerSettlesAfterTheOtherHasClosed(int bytes) {
    try (RingCluster cluster = RingCluster.create(RingCluster.Options.of(Shape.of(2), 1))) {
      long[] now = {1_000_000_000L};
      List<Collectives> all = new ArrayList<>();
      for (int n = 0; n < 2; n++) {
        all.add(
            new Collectives(
                cluster.node(n),
                5,
                StandardAlgorithms.registry(),
                CostModel.gigabit(),
                new CollectiveLimits(1 << 16, 1 << 16)));
      }
      Communicator a = all.get(0).join(Group.of(1, 0, 0, 1), Topology.flat());
      Communicator b = all.get(1).join(Group.of(1, 1, 0, 1), Topology.flat());
      CollectiveCall sends = b.broadcast(MemorySegment.ofArray(new byte[bytes]), 1);
      for (int i = 0; i < 1_000_000 && !(sends.isDone() && all.get(1).isSettled()); i++) {
        cluster.doWork(now[0] += 2_000);
        all.get(1).poll();
      }
      assertThat(sends.isDone() && all.get(1).isSettled()).isTrue();
      b.close();
      assertThat(all.get(1).isSettled()).isTrue();
      all.get(1).close(); // the node goes on

      CollectiveCall gets = a.broadcast(MemorySegment.ofArray(new byte[bytes]), 1);
      for (int i = 0; i < 100_000 && !gets.isDone(); i++) {
        cluster.doWork(now[0] += 2_000);
        all.get(0).poll();
      }
      gets.check();
      a.close();
      int rounds = 0;
      while (!all.get(0).isSettled()) {
        assertThat(rounds++).isLessThan(5_000_000);
        cluster.doWork(now[0] += 2_000);
        all.get(0).poll();
      }
      all.get(0).close();
    }
  }
}
