package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
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

  /** Nobody is to go on asking for what came while the question was on its way. */
  @Test
  void creditThatCameMeanwhileIsSeen() {
    Lane lane = lane();
    lane.publishLimit(2);
    long none = lane.used;
    assertThat(lane.grantsBeyond(none)).isTrue();
    assertThat(lane.takeCredit()).isTrue();
    assertThat(lane.takeCredit()).isTrue();
    assertThat(lane.takeCredit()).isFalse();
    long all = lane.used;
    assertThat(lane.grantsBeyond(all)).isFalse();
    lane.publishLimit(3);
    assertThat(lane.grantsBeyond(all)).isTrue();
    lane.closeSession();
    assertThat(lane.grantsBeyond(all)).as("in the next session").isFalse();
    lane.publishLimit(1);
    assertThat(lane.grantsBeyond(all)).as("whose claims begin anew").isTrue();
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
      assertThat(lane.epoch()).isEqualTo(lane.grantEpoch());
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
      assertThat(lane.epoch()).isEqualTo(lane.grantEpoch());
      assertThat(lane.isWithinCredit()).isTrue();
    }
    lane.giveCreditBack(lane.epoch());
    assertThat((int) lane.used).isEqualTo(limit - 1);
    assertThat(lane.epoch()).isEqualTo(lane.grantEpoch());
  }

  @Test
  void whoAskedForCreditAsksAgainOnceThereWasSome() {
    for (int limit : new int[] {0, 5, -1, Integer.MIN_VALUE}) {
      Lane lane = lane();
      lane.publishLimit(limit);
      lane.used = lane.grant;
      assertThat(lane.isAsked()).isFalse();
      lane.asked();
      assertThat(lane.takeCredit()).isFalse();
      assertThat(lane.isAsked()).as("refused again").isTrue();

      lane.takeLimit(limit + 1);
      assertThat(lane.takeCredit()).isTrue();
      assertThat(lane.takeCredit()).isFalse();
      assertThat(lane.isAsked()).as("what was granted is used up").isFalse();

      lane.asked();
      lane.closeSession();
      assertThat(lane.takeCredit()).isFalse();
      assertThat(lane.isAsked()).as("another session").isFalse();

      lane.asked();
      lane.beginAnew();
      assertThat(lane.isAsked()).as("another endpoint").isFalse();
    }
  }

  @Test
  void sessionsPassTheEpochsEnd() {
    Lane lane = lane();
    lane.grant = (long) Integer.MAX_VALUE << LaneState.EPOCH_SHIFT;
    lane.publishLimit(1);
    assertThat(lane.takeCredit()).isTrue();
    assertThat(lane.epoch()).isEqualTo(Integer.MAX_VALUE);

    lane.closeSession();
    lane.publishLimit(1);

    assertThat(lane.hasCreditInline()).isFalse();
    assertThat(lane.takeCredit()).isTrue();
    assertThat(lane.epoch()).isEqualTo(lane.grantEpoch()).isZero();
  }

  /** Against a list of all messages: on their way, stored, lost; in sessions of random lives. */
  @Test
  void noLostTicketIsEverTakenForStored() {
    Random random = new Random(11);
    for (int life = 0; life < 300; life++) {
      Lane lane = lane();
      List<Fate> fates = new ArrayList<>();
      int ends = 0;
      for (int i = 0; i < 200; i++) {
        int step = random.nextInt(ends < LostTickets.RANGES_MAX / 2 ? 20 : 19);
        int onTheirWay = Collections.frequency(fates, Fate.PENDING);
        if (step < 9) {
          fates.add(Fate.PENDING);
          lane.nextTicket();
        } else if (step < 17) {
          int n = random.nextInt(onTheirWay + 1);
          if (n > 0) {
            settle(fates, n, Fate.STORED);
            lane.acknowledge(n);
          }
        } else if (step < 18 && ends < LostTickets.RANGES_MAX / 2) {
          ends++;
          fates.add(Fate.UNKNOWN);
          lane.nextTicket();
          lane.loseBehind(onTheirWay);
        } else if (step < 19) {
          lane.passLost();
        } else {
          ends++;
          settle(fates, onTheirWay, Fate.UNKNOWN);
          for (int k = 0; k < onTheirWay; k++) {
            lane.lose(1);
          }
          lane.closeSession();
          lane.publishLimit(10);
          assertThat(lane.takeCredit()).isTrue();
        }
        lane.passLost();
        check(lane, fates);
      }
    }
  }

  /** Claims of an ended session, each sent between two of the next. */
  @Test
  void whatIsOnItsWayIsNotTakenForLostHoweverManyAreAroundIt() {
    Lane lane = lane();
    lane.publishLimit(100);
    int pairs = 3 * LostTickets.RANGES_MAX;
    for (int i = 1; i <= pairs; i++) {
      lane.nextTicket();
      lane.nextTicket();
      lane.loseBehind(i);
    }
    for (int i = 0; i < pairs; i++) {
      assertThat(lane.fate(2 * i + 1)).isEqualTo(Fate.PENDING);
      assertThat(lane.fate(2 * i + 2)).isEqualTo(Fate.UNKNOWN);
    }
    for (int i = 0; i < pairs; i++) {
      lane.acknowledge(1);
      lane.passLost();
    }
    for (int i = 0; i < pairs; i++) {
      assertThat(lane.fate(2 * i + 1)).isEqualTo(Fate.STORED);
      assertThat(lane.fate(2 * i + 2)).isEqualTo(Fate.UNKNOWN);
    }
  }

  private static void settle(List<Fate> fates, int count, Fate as) {
    for (int i = 0, n = count; n > 0; i++) {
      if (fates.get(i) == Fate.PENDING) {
        fates.set(i, as);
        n--;
      }
    }
  }

  private static void check(Lane lane, List<Fate> fates) {
    for (int ticket = 1; ticket <= fates.size(); ticket++) {
      assertThat(lane.fate(ticket))
          .as("ticket %d of %s", ticket, fates)
          .isEqualTo(fates.get(ticket - 1));
    }
    // All up to the last that is stored, with those that were lost before it.
    assertThat(lane.acknowledged()).isEqualTo(fates.lastIndexOf(Fate.STORED) + 1);
  }

  /** It may still lie in the ring to the node when the program has credit of the next session. */
  @Test
  void aTicketOfASessionThatEndedIsNotPendingAgainInTheNext() {
    Lane lane = lane();
    lane.publishLimit(1);
    assertThat(lane.takeCredit()).isTrue();
    long inRing = lane.nextTicket();
    assertThat(lane.fate(inRing)).isEqualTo(Fate.PENDING);
    lane.closeSession();
    assertThat(lane.fate(inRing)).isEqualTo(Fate.UNKNOWN);
    lane.publishLimit(1);
    assertThat(lane.takeCredit()).isTrue();
    assertThat(lane.fate(inRing)).as("with credit of the next session").isEqualTo(Fate.UNKNOWN);
    long next = lane.nextTicket();
    assertThat(lane.fate(next)).isEqualTo(Fate.PENDING);
    lane.loseBehind(0);
    lane.acknowledge(1);
    assertThat(lane.fate(inRing)).isEqualTo(Fate.UNKNOWN);
    assertThat(lane.fate(next)).isEqualTo(Fate.STORED);
  }

  /** They are bounded: the oldest grow together, and stored ones between count as lost. */
  @Test
  void oldRangesOfLostTicketsBecomeOne() {
    LostTickets lost = LostTickets.NONE;
    int ends = 3 * LostTickets.RANGES_MAX;
    for (int i = 1; i <= ends; i++) {
      lost = lost.and(10 * i, 10 * i + 2, Long.MAX_VALUE);
    }
    int oldest = ends - LostTickets.RANGES_MAX + 1;
    for (int ticket = 0; ticket < 10 * ends + 10; ticket++) {
      boolean old = ticket >= 10 && ticket < 10 * oldest;
      boolean expected = old || ticket >= 10 && ticket % 10 < 3;
      assertThat(lost.has(ticket)).as("ticket %d", ticket).isEqualTo(expected);
    }
    assertThat(lost.and(15, 10 * ends, Long.MAX_VALUE).has(10 * ends - 1)).isTrue();
    assertThat(lost.and(15, 10 * ends, Long.MAX_VALUE).has(9)).isFalse();
  }

  private static Lane lane() {
    return new Lane(null, 1, 0, 3, 2);
  }
}
