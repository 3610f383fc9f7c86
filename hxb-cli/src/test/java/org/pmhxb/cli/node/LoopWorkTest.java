package org.pmhxb.cli.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** When what tasks sent leaves, and what orders of other threads come to. */
class LoopWorkTest {
  private final List<Long> sentAtNs = new ArrayList<>();
  private final LoopWork loop = new LoopWork(this::sendNow);

  private int sendNow(long nowNs) {
    sentAtNs.add(nowNs);
    return 1;
  }

  private record Works(int work, boolean isBrief) implements LoopWork.Task {
    @Override
    public int doWork(long nowNs) {
      return work;
    }

    @Override
    public boolean over() {
      return false;
    }
  }

  @Test
  void anAnswerLeavesAtOnce() {
    loop.add(new Works(2, true));

    assertThat(loop.doWork(7)).isEqualTo(2);
    assertThat(sentAtNs).containsExactly(7L);
  }

  @Test
  void nothingDoneSendsNothing() {
    loop.add(new Works(0, true));

    assertThat(loop.doWork(7)).isZero();
    assertThat(sentAtNs).isEmpty();
  }

  @Test
  void aStreamLeavesWithTheRound() {
    loop.add(new Works(3, true));
    loop.add(new Works(2, true));

    assertThat(loop.doWork(7)).isEqualTo(5);
    assertThat(sentAtNs).isEmpty();
  }

  /** Time has passed meanwhile, of which the frames would know nothing. */
  @Test
  void behindATaskThatMayTakeLongTheRoundSends() {
    loop.add(new Works(1, true));
    loop.add(new Works(1, false));

    assertThat(loop.doWork(7)).isEqualTo(2);
    assertThat(sentAtNs).isEmpty();
  }

  private static void giveUpWaiting(ThrowingCallable order) {
    Thread.currentThread().interrupt();
    assertThatThrownBy(order)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("interrupted");
    assertThat(Thread.interrupted()).as("still interrupted").isTrue();
  }

  @Test
  void whatIsMadeWhenNobodyWaitsAnyMoreIsUndone() {
    List<String> undone = new ArrayList<>();
    giveUpWaiting(() -> loop.make(() -> "it", undone::add));
    assertThat(undone).isEmpty();

    assertThat(loop.doWork(7)).isEqualTo(2);
    assertThat(undone).containsExactly("it");
  }

  @Test
  void whatFailedIsNotUndone() {
    List<Object> undone = new ArrayList<>();
    giveUpWaiting(
        () ->
            loop.make(
                () -> {
                  throw new IllegalArgumentException("in use");
                },
                undone::add));

    assertThat(loop.doWork(7)).isEqualTo(2);
    assertThat(undone).isEmpty();
  }

  /** Most of them give something back. */
  @Test
  void otherOrdersAreObeyedAllTheSame() {
    List<String> obeyed = new ArrayList<>();
    giveUpWaiting(() -> loop.call(() -> obeyed.add("it")));

    assertThat(loop.doWork(7)).isEqualTo(1);
    assertThat(obeyed).containsExactly("it");
  }

  @Test
  void whoWaitsWhenThePollThreadEndsIsTold() {
    loop.doorbell(loop::end);
    assertThatThrownBy(() -> loop.call(() -> "it"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("the node's poll thread has ended");
    assertThatThrownBy(() -> loop.call(() -> "it"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("the node's poll thread has ended");
  }
}
