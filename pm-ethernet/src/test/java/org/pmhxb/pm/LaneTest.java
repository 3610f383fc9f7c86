package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;

/** Credit of a lane: claims and grant of one session, each a count that passes 2^32. */
class LaneTest {
  private static final int MARGIN = 70;

  @Test
  void creditIsWhatIsGrantedAndNotClaimed() {
    Lane lane = lane();

    assertThat(lane.hasCreditInline()).isFalse();
    assertThat(lane.takeCredit()).isFalse();

    lane.closeSession();
    lane.publishLimit(2);
    assertThat(lane.hasCreditInline()).as("of a session that nothing was claimed in").isFalse();
    assertThat(lane.takeCredit()).isTrue();
    assertThat(lane.hasCreditInline()).isTrue();
    lane.useCredit();
    assertThat(lane.hasCreditInline()).isFalse();
    assertThat(lane.takeCredit()).isFalse();
    assertThat(lane.isWithinCredit()).isTrue();

    lane.giveCreditBack(lane.epoch() - 1);
    assertThat(lane.hasCreditInline()).as("of an ended session").isFalse();
    lane.giveCreditBack(lane.epoch());
    assertThat(lane.hasCreditInline()).isTrue();
  }

  @Test
  void claimsOfAnEndedSessionAreNoneOfTheNext() {
    Random random = new Random(7);
    for (int i = 0; i < 10_000; i++) {
      Lane lane = lane();
      lane.publishLimit(random.nextInt());
      lane.used = lane.grant - 1 - random.nextInt(MARGIN) & 0xFFFF_FFFFL;
      lane.closeSession();
      lane.publishLimit(1 + random.nextInt(MARGIN));

      assertThat(lane.hasCreditInline()).as("claims %d", (int) lane.used).isFalse();
      assertThat(lane.takeCredit()).isTrue();
      assertThat(lane.epoch()).isEqualTo(lane.grantEpoch);
      assertThat((int) lane.used).isEqualTo(1);
    }
  }

  @Test
  void claimsPassTwoToTheThirtySecond() {
    Lane lane = lane();
    int limit = -MARGIN / 2;
    lane.publishLimit(limit);
    lane.used = lane.grant;
    for (int i = 0; i < MARGIN; i++) {
      assertThat(lane.takeCredit()).isFalse();
      lane.publishLimit(++limit);
      // It may say no where takeCredit() says yes, never the other way round.
      boolean plain = lane.hasCreditInline();
      if (plain) {
        lane.useCredit();
      } else {
        assertThat(lane.takeCredit()).isTrue();
      }
      assertThat(plain).isEqualTo(limit != 0);
      assertThat((int) lane.used).isEqualTo(limit);
      assertThat(lane.epoch()).isEqualTo(lane.grantEpoch);
      assertThat(lane.isWithinCredit()).isTrue();
    }
    lane.giveCreditBack(lane.epoch());
    assertThat((int) lane.used).isEqualTo(limit - 1);
    assertThat(lane.epoch()).isEqualTo(lane.grantEpoch);
  }

  @Test
  void sessionsPassTheEpochsEnd() {
    Lane lane = lane();
    lane.grantEpoch = Integer.MAX_VALUE;
    lane.publishLimit(1);
    assertThat(lane.takeCredit()).isTrue();
    assertThat(lane.epoch()).isEqualTo(Integer.MAX_VALUE);

    lane.closeSession();
    lane.publishLimit(1);

    assertThat(lane.hasCreditInline()).isFalse();
    assertThat(lane.takeCredit()).isTrue();
    assertThat(lane.epoch()).isEqualTo(lane.grantEpoch).isZero();
  }

  private static Lane lane() {
    return new Lane(null, 1, 0, 3, 2);
  }
}
