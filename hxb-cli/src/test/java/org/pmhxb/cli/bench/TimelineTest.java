package org.pmhxb.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
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
  }

  @Test
  void addsWhatSeveralNodesReceived() {
    timeline.add(List.of(1_000L));
    timeline.add(List.of(500L, 700L));
    timeline.add(List.of());

    assertThat(bytesPerSecond(0, 1)).isEqualTo(1.5e6);
    assertThat(bytesPerSecond(1, 2)).isEqualTo(0.7e6);
  }

  /** A thousand bytes in each of so many steps, and nothing in as many behind them. */
  private void stopsAfter(int steps) {
    List<Long> received = new ArrayList<>(Collections.nCopies(steps, 1_000L));
    received.addAll(Collections.nCopies(steps, 0L));
    timeline.add(received);
  }

  @Test
  void aStopOfDeliveryIsMissing() {
    stopsAfter(100);

    Timeline.Happened at50 = new Timeline.Happened(at(50), at(50));
    assertThat(timeline.missingNs(at50, at(100), 1e6, 1e6)).isZero();
    assertThat(timeline.missingNs(at50, at(150), 1e6, 1e6)).isEqualTo(50 * MS);
    assertThat(timeline.missingNs(at50, at(100), 1e6, 0.5e6)).isEqualTo(-50 * MS);
    assertThat(timeline.missingNs(at50, at(150), 1e6, 0)).isEqualTo(100 * MS);
    assertThat(timeline.uncertaintyNs(at50, 2e6, 1e6)).isEqualTo(MS);
  }

  /** A stop counts whole, beside the rest of the time; and whole lengths only are looked at. */
  @Test
  void whatIsMissingOfItselfIsToldByTheLength() {
    List<Long> received = new ArrayList<>(Collections.nCopies(45, 1_000L));
    Collections.fill(received.subList(12, 16), 0L);
    timeline.add(received);

    List<Long> missing = timeline.missingOfItself(at(0), at(35), 10 * MS);
    assertThat(missing).hasSize(3);
    assertThat(missing.get(0)).as("4 of 25 ms stood elsewhere").isEqualTo(-1_904_762L);
    assertThat(missing.get(1)).isEqualTo(4 * MS);
    assertThat(timeline.missingOfItself(at(0), at(9), 10 * MS)).isEmpty();
  }

  @Test
  void aLengthThroughWhichTheLeadingProcessWasHeldUpTellsNothing() {
    timeline.add(Collections.nCopies(40, 1_000L));
    timeline.heldUp(at(9), at(21));

    assertThat(timeline.missingOfItself(at(0), at(40), 10 * MS)).containsExactly(0L, 0L, 0L);
  }

  /** What is cut goes on until the tool is at it, and nothing is missing for that. */
  @Test
  void whatGoesOnUntilAnIncidentIsDoneIsExpected() {
    List<Long> received = new ArrayList<>(Collections.nCopies(10, 1_200L));
    received.addAll(Collections.nCopies(10, 0L));
    timeline.add(received);
    Timeline.Happened late = new Timeline.Happened(at(0), at(10));

    assertThat(timeline.missingNs(late, at(10), 1.2e6, 1e6)).isZero();
    assertThat(timeline.missingNs(late, at(15), 1.2e6, 1e6)).isEqualTo(5 * MS);
    assertThat(timeline.uncertaintyNs(late, 1.2e6, 1e6)).isEqualTo(3 * MS);
  }

  /** A machine whose host withholds its processors for 300 ms has not carried less meanwhile. */
  @Test
  void aTimeInWhichTheLeadingProcessWasHeldUpDoesNotCount() {
    stopsAfter(20);
    timeline.heldUp(at(20), at(50));
    timeline.heldUp(at(-70), at(-10));
    timeline.heldUp(at(60), at(300));

    assertThat(timeline.heldUpNs()).as("within the timeline").isEqualTo(20 * MS);
    assertThat(bytesPerSecond(0, 40)).isCloseTo(1e6, Offset.offset(1.0));
    assertThat(bytesPerSecond(25, 35)).isZero();
  }
}
