package org.pmhxb.cli.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tasks that another thread waits for. */
class AwaitedTaskTest {
  private final AtomicInteger sentNow = new AtomicInteger();
  private final LoopWork loop = new LoopWork(nowNs -> sentNow.incrementAndGet());
  private final AtomicBoolean stopping = new AtomicBoolean();
  private final Thread poller = new Thread(this::poll, "poller");

  private void poll() {
    while (!stopping.get()) {
      loop.doWork(System.nanoTime());
      Thread.onSpinWait();
    }
    loop.end();
  }

  @BeforeEach
  void start() {
    poller.start();
  }

  @AfterEach
  void stop() throws InterruptedException {
    stopping.set(true);
    poller.join();
  }

  /** A limit of time, say, may pass between two questions of one round. */
  @Test
  void whoWaitsHearsWhatTheLoopHears() throws InterruptedException {
    for (int changesAt = 1; changesAt <= 4; changesAt++) {
      Flips task = new Flips(changesAt);
      long giveUpNs = System.nanoTime() + 5_000_000_000L;

      boolean over = AwaitedTask.drive(loop, task, () -> System.nanoTime() - giveUpNs > 0);

      assertThat(over).as("over at question %d", changesAt).isTrue();
      assertThat(task.rounds).isEqualTo(changesAt);
    }
  }

  /** Who waits for a task must not keep its answers from leaving at once. */
  @Test
  void isAsBriefAsItsTask() throws InterruptedException {
    AwaitedTask.drive(loop, new Flips(3), () -> false);
    assertThat(sentNow).hasValue(0);

    Flips task =
        new Flips(3) {
          @Override
          public boolean isBrief() {
            return true;
          }
        };
    AwaitedTask.drive(loop, task, () -> false);

    // Not in the first of its rounds, which has obeyed the order to add it.
    assertThat(sentNow).hasValue(2);
  }

  @Test
  void whoWaitsHearsWhatTheTaskThrows() {
    for (Throwable thrown :
        List.of(new IllegalStateException("wrong"), new AssertionError("bad"))) {
      LoopWork.Task task =
          new LoopWork.Task() {
            @Override
            public int doWork(long nowNs) {
              if (thrown instanceof Error e) {
                throw e;
              }
              throw (RuntimeException) thrown;
            }

            @Override
            public boolean over() {
              return false;
            }
          };

      assertThatThrownBy(() -> AwaitedTask.drive(loop, task, () -> false)).isSameAs(thrown);
      assertThat(poller.isAlive()).isTrue();
    }
  }

  /** Over from its n-th question on. */
  private static class Flips implements LoopWork.Task {
    private final int changesAt;
    private int questions;
    private volatile int rounds;

    private Flips(int changesAt) {
      this.changesAt = changesAt;
    }

    @Override
    public int doWork(long nowNs) {
      rounds = rounds + 1;
      return 1;
    }

    @Override
    public boolean over() {
      return ++questions >= changesAt;
    }
  }
}
