package org.pmhxb.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A host, a clock and runs that only pretend. */
class UndisturbedTest {
  private static final double RUN_SECONDS = 4;

  @TempDir private Path directory;
  private final List<String> said = new ArrayList<>();
  private long nowNs;
  private boolean outOfTime;
  private int measured;
  private Undisturbed undisturbed;

  @BeforeEach
  void begin() throws IOException {
    undisturbed = open(Duration.ofHours(1), false);
  }

  private Undisturbed open(Duration limit, boolean resume) throws IOException {
    Journal journal = Journal.open(directory.resolve("journal"), "settings", resume);
    return new Undisturbed(journal, limit, () -> outOfTime, said::add, () -> nowNs);
  }

  /** What the bytes say names the run. */
  private static Benchmark.Outcome run(double bytes, double withheld, long lost) {
    CpuUse cpu = new CpuUse(1, 1, 0.7, withheld, 2, null);
    return run(bytes, cpu, lost, List.of());
  }

  private static Benchmark.Outcome run(double bytes, CpuUse cpu, long lost, List<String> failures) {
    return new Benchmark.Outcome(
        1, 1, bytes, 1, lost, 0, 0, 0, 0, 1, 0, null, cpu, null, List.of(), failures);
  }

  /** The bytes of the one that counts. */
  private double measure(Benchmark.Outcome... tries) throws Exception {
    measured = 0;
    return undisturbed
        .measure(
            () -> {
              nowNs += (long) (1e9 * RUN_SECONDS);
              return tries[measured++];
            })
        .bytesPerSecond();
  }

  private void counted(int repeated, int disturbed, double repeats) {
    assertThat(undisturbed.counts())
        .isEqualTo(new Undisturbed.Counts(repeated, disturbed, repeats * RUN_SECONDS));
  }

  @Test
  void whereTheHostWithholdsNothingEachRunIsMeasuredOnce() throws Exception {
    for (int i = 0; i < 100; i++) {
      assertThat(measure(run(i, 0.0299, 0))).isEqualTo(i);
      assertThat(measured).isEqualTo(1);
    }
    counted(0, 0, 0);
    assertThat(said).isEmpty();
    assertThat(Journal.open(directory.resolve("journal"), "settings", true).size()).isZero();
  }

  @Test
  void aDisturbedRunIsRepeatedUntilOneIsNotDisturbed() throws Exception {
    assertThat(measure(run(90, 0.03, 0), run(10, 0.0299, 0), run(99, 0, 0))).isEqualTo(10);
    counted(1, 0, 1);
    assertThat(measure(run(50, 0.4, 0), run(9, 0.03, 0), run(8, 0, 0))).isEqualTo(8);
    counted(2, 0, 3);
    assertThat(said).contains("the host withheld 40 % of the processors: measured again");
  }

  @Test
  void theLeastDisturbedTryCountsWhateverItMeasured() throws Exception {
    assertThat(measure(run(90, 0.5, 0), run(10, 0.1, 0), run(80, 0.2, 0))).isEqualTo(10);
    counted(1, 1, 2);
    assertThat(measure(run(10, 0.5, 0), run(50, 0.2, 0), run(90, 0.1, 0))).isEqualTo(90);
    assertThat(measure(run(10, 0.1, 0), run(90, 0.2, 0), run(50, 0.3, 0))).isEqualTo(10);
    assertThat(measure(run(10, 0.1, 0), run(90, 0.1, 0), run(50, 0.1, 0)))
        .as("the first of equals")
        .isEqualTo(10);
    counted(4, 4, 8);
  }

  @Test
  void aRunIsRepeatedTwiceAtMost() throws Exception {
    measure(run(1, 0.9, 0), run(2, 0.8, 0), run(3, 0.7, 0), run(4, 0, 0));
    assertThat(measured).isEqualTo(3);
    counted(1, 1, 2);
  }

  @Test
  void repeatsOfASuiteTakeATwelfthOfItsTimeAtMost() throws Exception {
    undisturbed = open(Duration.ofSeconds(240), false);
    int all = 0;
    for (int i = 0; i < 20; i++) {
      measure(run(1, 0.9, 0), run(2, 0.8, 0), run(3, 0.7, 0));
      all += measured;
    }
    assertThat(all).as("20 runs and 20 s of repeats, 4 s each").isEqualTo(20 + 5);
    counted(3, 20, 5);

    undisturbed = open(Duration.ofSeconds(240), true);
    measure(run(1, 0.9, 0), run(2, 0.8, 0));
    assertThat(measured).as("who goes on gets no more").isEqualTo(1);
    counted(3, 21, 5);
  }

  @Test
  void nothingIsRepeatedWhenTimeIsUp() throws Exception {
    outOfTime = true;
    assertThat(measure(run(7, 0.9, 0), run(8, 0, 0))).isEqualTo(7);
    counted(0, 1, 0);
  }

  @Test
  void whatWentWrongIsNotMeasuredAway() throws Exception {
    assertThat(measure(run(5, 0.9, 1), run(6, 0, 0))).isEqualTo(5);
    assertThat(measure(run(5, 0.1, 0), run(6, 0.9, 1), run(7, 0, 0))).isEqualTo(6);
    CpuUse much = new CpuUse(1, 1, 0.7, 0.9, 2, null);
    assertThat(measure(run(4, much, 0, List.of("node 1: ended")), run(6, 0, 0))).isEqualTo(4);

    assertThatThrownBy(
            () ->
                undisturbed.<Double>measure(
                    () -> {
                      nowNs += (long) (1e9 * RUN_SECONDS);
                      if (said.size() > 1) {
                        throw new IOException("fell over");
                      }
                      return 0.5;
                    },
                    share -> share))
        .hasMessage("fell over");
    counted(2, 0, 2);
  }

  @Test
  void whereTheProcessorsAreNotWatchedEachRunIsMeasuredOnce() throws Exception {
    assertThat(measure(run(3, null, 0, List.of()), run(4, 0, 0))).isEqualTo(3);
    counted(0, 0, 0);
  }

  @Test
  void aPageSaysHowManyAndByWhatTheyWereChosen() {
    assertThat(new Undisturbed.Counts(14, 3, 40).line())
        .contains("whoever was measured, and whatever it reached", "3 % of the processors or more")
        .endsWith("Measured again: 14; still disturbed: 3.");
  }
}
