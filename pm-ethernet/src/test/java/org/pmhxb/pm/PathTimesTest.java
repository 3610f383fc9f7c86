package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** What counts as a path's round trip (PROTOCOL.md section 5.5). */
class PathTimesTest {
  private static final long MS = 1_000_000L;

  private final TestNet net = new TestNet(2, 1, 3, 600, NodeConfig.defaults(0x1234, 1, 128));

  private PathState path() {
    Rail rail = net.nodes.getFirst().core.rails[0];
    return new PathState(0, rail, 0, 3, 9_000, net.nowNs, 0, 0);
  }

  /** Whether or not something was measured before; what the peer tells has worn off a little. */
  @Test
  void aStallOfAnEndIsNoRoundTripOfThePath() {
    PathState measured = path();
    assertThat(measured.sampleRtt(80_000, 0, 920 * MS)).isTrue();
    for (PathState state : new PathState[] {measured, path()}) {
      long before = state.smoothedRttNs;
      assertThat(state.sampleRtt(926 * MS, 0, 916 * MS)).isFalse();
      assertThat(state.sampleRtt(101 * MS, 0, 916 * MS)).isFalse();
      assertThat(state.smoothedRttNs).isEqualTo(before);
      assertThat(state.answerTimeNs(0)).isLessThan(10 * MS);
    }
  }

  @Test
  void aLongRoundTripThatNoGapExplainsIsTaken() {
    PathState state = path();
    assertThat(state.sampleRtt(80_000, 0, 0)).isTrue();
    assertThat(state.sampleRtt(400 * MS, 0, 300 * MS)).as("a queue").isTrue();
    assertThat(state.sampleRtt(99 * MS, 0, 300 * MS)).as("polls that are seldom").isTrue();
    assertThat(state.sampleRtt(1_001 * MS, 0, 0)).isFalse();
    PathState far = path();
    assertThat(far.sampleRtt(1_900 * MS, 1_850 * MS, 300 * MS)).as("a long way").isTrue();
  }
}
