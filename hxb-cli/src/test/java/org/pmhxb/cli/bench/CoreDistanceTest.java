package org.pmhxb.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.BitSet;
import org.junit.jupiter.api.Test;
import org.pmhxb.ffi.Threads;

class CoreDistanceTest {
  @Test
  void aStoreTakesSomeTimeToTheOtherProcessorAndTheThreadStaysFree() {
    BitSet before = Threads.affinity();
    assumeTrue(before.cardinality() > 1, "one processor only");
    CoreDistance distance = CoreDistance.here();

    assertThat(distance.ns()).isNull();
    distance.sample();
    distance.sample();

    assertThat(distance.ns().runs()).isEqualTo(2);
    assertThat(distance.ns().min()).isPositive();
    assertThat(Threads.affinity()).isEqualTo(before);
  }
}
