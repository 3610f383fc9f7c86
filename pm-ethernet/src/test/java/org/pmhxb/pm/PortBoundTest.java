package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a port is offered follows from what leaves it. */
class PortBoundTest {
  private static final int FRAME_BYTES = 8_256;

  /**
   * Keeps a port of a rate as full as the bound allows, for a while; the largest backlog of the
   * end.
   */
  private static long backlogOf(PortBound bound, double bytesPerNs, long pollGapNs) {
    double backlog = 0;
    long most = 0;
    for (long now = 0; now < 200_000_000L; now += pollGapNs) {
      backlog = Math.max(0, backlog - bytesPerNs * pollGapNs);
      long spare = bound.spareBytes((long) backlog, now, pollGapNs);
      for (int frames = 0; frames < 32 && spare > 0; frames++) {
        bound.handedOver(FRAME_BYTES);
        backlog += FRAME_BYTES;
        spare -= FRAME_BYTES;
      }
      most = now > 100_000_000L ? Math.max(most, (long) backlog) : 0;
    }
    return most;
  }

  @Test
  void keepsAFewFramesAndWhatLeavesBetweenTwoPolls() {
    PortBound bound = new PortBound(FRAME_BYTES);
    assertThat(backlogOf(bound, 0.025, 100_000)).isBetween(4L * FRAME_BYTES, 6L * FRAME_BYTES);
    assertThat(bound.frameNs()).isBetween(300_000L, 360_000L);
    PortBound seldomPolled = new PortBound(FRAME_BYTES);
    assertThat(backlogOf(seldomPolled, 0.025, 2_000_000)).isBetween(80_000L, 100_000L);
  }

  /** By a flow control of the link, or a driver that stands: what left before is still the rate. */
  @ParameterizedTest
  @ValueSource(ints = {3, 45, 60, 95, 400})
  void aPortThatIsHeldUpKeepsItsRate(int heldUpMs) {
    PortBound bound = new PortBound(FRAME_BYTES);
    backlogOf(bound, 0.025, 100_000);
    long frameNs = bound.frameNs();
    long boundBytes = bound.spareBytes(1, 200_100_000L, 100_000);
    long now = 200_000_000L;
    for (int i = 0; i < 10 * heldUpMs; i++) {
      bound.spareBytes(20_000, now += 100_000, 100_000);
    }
    bound.spareBytes(0, now += 100_000, 100_000);
    assertThat(bound.frameNs()).isBetween(frameNs * 7 / 8, frameNs * 9 / 8);
    assertThat(bound.spareBytes(1, now + 100_000, 100_000))
        .isBetween(boundBytes * 7 / 8, boundBytes * 9 / 8);
  }

  @Test
  void doesNotBindAPortThatCannotTell() {
    PortBound bound = new PortBound(FRAME_BYTES);
    for (int i = 0; i < 10; i++) {
      bound.handedOver(1_000_000);
      assertThat(bound.spareBytes(0, i * 1_000_000L, 1_000)).isEqualTo(Long.MAX_VALUE);
    }
  }
}
