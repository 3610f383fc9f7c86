package org.pmhxb.cli.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** When what tasks sent leaves. */
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

  /** An endpoint, say, which nobody could close. */
  @Test
  void whatNobodyWaitsForAnyMoreIsNotDone() {
    List<String> done = new ArrayList<>();
    loop.doorbell(() -> {});
    Thread.currentThread().interrupt();

    assertThatThrownBy(() -> loop.call(() -> done.add("opened")))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageStartingWith("interrupted");
    assertThat(Thread.interrupted()).isTrue();
    loop.doWork(7);
    assertThat(done).isEmpty();
  }

  /** Time has passed meanwhile, of which the frames would know nothing. */
  @Test
  void behindATaskThatMayTakeLongTheRoundSends() {
    loop.add(new Works(1, true));
    loop.add(new Works(1, false));

    assertThat(loop.doWork(7)).isEqualTo(2);
    assertThat(sentAtNs).isEmpty();
  }
}
