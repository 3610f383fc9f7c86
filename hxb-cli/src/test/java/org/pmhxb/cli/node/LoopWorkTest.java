package org.pmhxb.cli.node;

import static org.assertj.core.api.Assertions.assertThat;

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

  /** Time has passed meanwhile, of which the frames would know nothing. */
  @Test
  void behindATaskThatMayTakeLongTheRoundSends() {
    loop.add(new Works(1, true));
    loop.add(new Works(1, false));

    assertThat(loop.doWork(7)).isEqualTo(2);
    assertThat(sentAtNs).isEmpty();
  }
}
