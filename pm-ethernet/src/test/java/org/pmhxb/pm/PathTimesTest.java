package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What counts as a path's round trip (PROTOCOL.md section 5.5). */
class PathTimesTest {
  private static final long MS = 1_000_000L;

  private final TestNet net = new TestNet(2, 1, 3, 600, NodeConfig.defaults(0x1234, 1, 128));
  private final PathState path = path();
  private long nowNs = 10_000 * MS;

  @AfterEach
  void close() {
    net.close();
  }

  private PathState path() {
    Rail rail = net.nodes.getFirst().core.rails[0];
    return new PathState(0, rail, 0, 3, 9_000, net.nowNs, 0, 0);
  }

  /** An answer to what was sent at a time. */
  private boolean answer(PathState to, long sentNs, long gapsNs) {
    return to.sampleRtt(nowNs - sentNs, 0, gapsNs, nowNs);
  }

  /** Whether or not something was measured before; what the peer tells has worn off a little. */
  @Test
  void aStallOfAnEndIsNoRoundTripOfThePath() {
    assertThat(path.sampleRtt(80_000, 0, 920 * MS, nowNs)).isTrue();
    for (PathState state : new PathState[] {path, path()}) {
      for (int stall = 0; stall < 2; stall++) {
        long before = state.smoothedRttNs;
        long beganNs = nowNs;
        nowNs += 926 * MS;
        for (int ms = 0; ms < 800; ms += 10) {
          nowNs += 1_000;
          assertThat(answer(state, beganNs + ms * MS, 916 * MS)).as("after %d ms", ms).isFalse();
        }
        assertThat(state.smoothedRttNs).isEqualTo(before);
        assertThat(state.answerTimeNs(0)).isLessThan(10 * MS);
        assertThat(answer(state, nowNs - 80_000, 916 * MS)).isTrue();
      }
    }
  }

  @Test
  void whoPollsSeldomAllTheTimeHasLongRoundTrips() {
    int taken = 0;
    for (int i = 0; i < 100; i++) {
      nowNs += 150 * MS;
      taken += answer(path, nowNs - (150 + i % 2 * 150) * MS, 300 * MS) ? 1 : 0;
    }
    assertThat(taken).isGreaterThan(95);
    assertThat(path.smoothedRttNs).isBetween(150 * MS, 300 * MS);
  }

  /** Behind a queue, or a relay that stood still: up and down again. */
  @Test
  void aLongRoundTripThatNoGapExplainsIsTaken() {
    assertThat(path.sampleRtt(80_000, 0, 0, nowNs)).isTrue();
    for (int i = 0; i < 50; i++) {
      nowNs += 400 * MS;
      assertThat(answer(path, nowNs - 400 * MS, 1_000)).isTrue();
    }
    for (int i = 0; i < 50; i++) {
      nowNs += 150 * MS;
      assertThat(answer(path, nowNs - 150 * MS, 1_000)).isTrue();
    }
    assertThat(path.smoothedRttNs).isBetween(150 * MS, 160 * MS);
    assertThat(path.sampleRtt(99 * MS, 0, 300 * MS, nowNs)).isTrue();
    assertThat(path.sampleRtt(1_001 * MS, 0, 0, nowNs)).isFalse();
  }

  @Test
  void aStallCountsFromTheLengthOfALongWay() {
    assertThat(path.sampleRtt(2_300 * MS, 1_850 * MS, 450 * MS, nowNs)).isFalse();
    assertThat(path.sampleRtt(1_900 * MS, 1_850 * MS, 450 * MS, nowNs)).isTrue();
  }
}
