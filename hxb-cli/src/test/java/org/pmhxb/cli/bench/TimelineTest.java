package org.pmhxb.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collections;
import java.util.List;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

class TimelineTest {
  private static final long MS = 1_000_000L;

  /** Wherever the machine's clock stands. */
  private static final long FROM_NS = Long.MAX_VALUE - 3 * MS;

  private final Timeline timeline = new Timeline(FROM_NS, MS);

  private double bytesPerSecond(double fromMs, double toMs) {
    return timeline.bytesPerSecond(at(fromMs), at(toMs));
  }

  private static long at(double ms) {
    return FROM_NS + Math.round(ms * MS);
  }

  @Test
  void isTheMeanOfWhatLiesBetweenTheMoments() {
    timeline.add(List.of(1_000L, 1_000L, 3_000L));

    assertThat(bytesPerSecond(0, 2)).isEqualTo(1e6);
    assertThat(bytesPerSecond(0, 3)).isEqualTo(5e6 / 3);
    assertThat(bytesPerSecond(1.5, 2.25)).isEqualTo((500 + 750) / 0.75e-3);
    assertThat(bytesPerSecond(1, 1)).isZero();
    assertThat(bytesPerSecond(4, 9)).isZero();
    assertThat(timeline.resolutionNs()).isEqualTo(MS);
  }

  @Test
  void addsWhatSeveralNodesReceived() {
    timeline.add(List.of(1_000L));
    timeline.add(List.of(500L, 700L));
    timeline.add(List.of());

    assertThat(bytesPerSecond(0, 1)).isEqualTo(1.5e6);
    assertThat(bytesPerSecond(1, 2)).isEqualTo(0.7e6);
  }

  @Test
  void aStopOfDeliveryIsMissing() {
    timeline.add(Collections.nCopies(100, 1_000L));
    timeline.add(Collections.nCopies(100, 0L));

    assertThat(timeline.missingNs(at(0), at(100), 1e6)).isZero();
    assertThat(timeline.missingNs(at(0), at(100), 2e6)).isEqualTo(50 * MS);
    assertThat(timeline.missingNs(at(0), at(100), 0.5e6)).isEqualTo(-100 * MS);
  }

  /** A machine whose host withholds its processors for 300 ms has not carried less meanwhile. */
  @Test
  void aTimeInWhichTheLeadingProcessWasHeldUpDoesNotCount() {
    timeline.add(Collections.nCopies(100, 1_000L));
    timeline.add(Collections.nCopies(100, 0L));
    timeline.heldUp(at(20), at(50));

    assertThat(timeline.heldUpNs()).isEqualTo(30 * MS);
    assertThat(bytesPerSecond(0, 100)).isCloseTo(1e6, Offset.offset(1.0));
    assertThat(bytesPerSecond(25, 45)).isZero();
  }
}
