package org.pmhxb.cost;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ClockCostTest {
  /** Of many phases with nothing in them little is left, whatever speed the machine runs at. */
  @Test
  void takesOffWhatReadingTheClockTakes() {
    ClockCost clock = new ClockCost();
    double least = Double.MAX_VALUE;
    for (int batch = 0; batch < 2_000; batch++) {
      double clockNs = clock.readNs();
      assertThat(clockNs).isPositive();
      long emptyNs = 0;
      for (int phase = 0; phase < 256; phase++) {
        long begin = System.nanoTime();
        emptyNs += System.nanoTime() - begin;
      }
      least = Math.min(least, Math.abs(emptyNs / 256.0 - clockNs));
    }
    assertThat(least).isLessThan(5);
  }
}
