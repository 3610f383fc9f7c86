package org.pmhxb.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class WithheldTest {
  private static Spread runs(double... shares) {
    return Spread.of(Arrays.stream(shares).boxed().toList());
  }

  @Test
  void aLineSaysWhatItsWorstRunLost() {
    assertThat(Withheld.note(runs(0, 0.019, 0.01))).isEmpty();
    assertThat(Withheld.note(runs(0, 0.02, 0))).isEqualTo(", host took 0 to 2 %");
    assertThat(Withheld.note(runs(0.068, 0.071, 0.069))).isEqualTo(", host took 7 %");
    assertThat(Withheld.note(null)).as("not known").isEmpty();
  }

  @Test
  void aPageSaysHowManyOfItsFiguresAreConcerned() {
    assertThat(Withheld.of(Arrays.asList(runs(0, 0.01), null, runs(0.12, 0.03))))
        .isEqualTo(new Withheld(2, 1, 0.12));
    assertThat(Withheld.of(Arrays.asList(runs(0.12), null)).line())
        .startsWith(
            "Host: withheld 2 % of the processors or more in a run of 1 of 1 figures, 12 %");
    assertThat(Withheld.of(List.of(runs(0.01))).line()).contains("less than 2 %");
    assertThat(Withheld.of(Arrays.asList((Spread) null)).line()).contains("not known");
  }

  @Test
  void ofRunsThatWereNotAllMeteredItIsNotKnown() {
    CpuUse metered = new CpuUse(1, 1, 0.5, 0.04, 2, null);

    assertThat(Withheld.of(List.of(metered, metered), cpu -> cpu).median()).isEqualTo(0.04);
    assertThat(Withheld.of(Arrays.asList(metered, null), cpu -> cpu)).isNull();
  }
}
