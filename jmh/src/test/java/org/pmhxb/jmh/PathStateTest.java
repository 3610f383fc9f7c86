package org.pmhxb.jmh;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.pmhxb.cost.Path;

/** The parameters of the packet paths' benchmarks. */
class PathStateTest {
  /** JMH divides a batch's time by the packets of a whole one. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          7   | 1 | burst is 7; must divide the batch of 2048 packets, as 1, 2, 4, 8, 16, 32 and 64 do
          63  | 1 | burst is 63; must divide the batch
          0   | 1 | burst is 0; must be in 1..64
          128 | 1 | burst is 128; must be in 1..64
          32  | 0 | rails is 0; must be in 1..9
          """)
  void whatMakesNoWholeBatchIsRefused(int burst, int rails, String message) {
    ReceivePath path = new ReceivePath();
    path.burst = burst;
    path.rails = rails;
    path.payload = 64;
    assertThatThrownBy(() -> path.open(Path.RECEIVE, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(message);
  }
}
