package org.pmhxb.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BoundedTest {
  private static Bounded of(double... runs) {
    return Bounded.atMost(Spread.of(Arrays.stream(runs).boxed().toList()), 5, 1);
  }

  @ParameterizedTest
  @CsvSource({"-2, aim", "1, aim", "1.01, must", "5, must", "5.01, missed", "NaN, missed"})
  void theMedianIsJudgedAndItsBoundsBelongToIt(double median, String met) {
    assertThat(of(median).met()).isEqualTo(met);
  }

  @ParameterizedTest
  @CsvSource({"0, 0, 90, aim", "0, 6, 6, missed", "-9, 3, 90, must"})
  void oneRunThatStoodStillIsShownAndDoesNotDecide(double a, double b, double c, String met) {
    Bounded bounded = of(c, a, b);
    assertThat(bounded.met()).isEqualTo(met);
    assertThat(bounded.measured().max()).isEqualTo(c);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          0.5 | 0.5 ms (0.5 to 0.5, 1 run); must 5.0, aim 1.0: aim
          7   | 7.0 ms (7.0 to 7.0, 1 run); must 5.0, aim 1.0: missed
          """)
  void itIsOneLine(double value, String line) {
    assertThat(of(value).line("ms")).isEqualTo(line);
  }

  @ParameterizedTest
  @CsvSource({"99.2, aim", "99, aim", "98.9, must", "98, must", "97.99, missed", "NaN, missed"})
  void moreCanBeBetter(double median, String met) {
    assertThat(Bounded.atLeast(Spread.of(List.of(median)), 98, 99).met()).isEqualTo(met);
  }

  @Test
  void whatIsMissedIsSaidWithItsLimit() {
    assertThat(of(5.0126).missed("start", "s")).hasValue("start: 5.0126 s; must be 5 at most");
    assertThat(of(5).missed("start", "s")).isEmpty();
    Spread share = Spread.of(List.of(97.1));
    assertThat(Bounded.atLeast(share, 98.5, 99).missed("share", "%"))
        .hasValue("share: 97.1 %; must be 98.5 at least");
    assertThat(Bounded.missed("share", Double.NaN, "%", 98, false))
        .isEqualTo("share: NaN %; must be 98 at least");
  }
}
