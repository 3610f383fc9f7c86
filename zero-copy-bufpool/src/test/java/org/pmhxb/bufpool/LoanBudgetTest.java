package org.pmhxb.bufpool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class LoanBudgetTest {
  private static final int INBOX = Owner.of(Owner.INBOX, 1);
  private static final int LOAN = Owner.of(Owner.LOAN, 1);
  private static final int LOANS = 5;
  private static final int COPIES = 3;

  private final BufferPool pool = OffHeapPool.create(512, 64);
  private final LoanBudget budget = new LoanBudget(pool, LOAN, LOANS, COPIES);

  @AfterEach
  void close() {
    pool.close();
  }

  @Test
  void firstLoansThenCopiesThenRefusal() {
    List<Integer> loans = new ArrayList<>();
    int id = 0;
    for (int i = 0; i < LOANS; i++) {
      id = pool.allocate(INBOX);
      int loan = budget.take(id, INBOX);
      assertThat(loan).isBetween(0, LOANS - 1);
      assertThat(budget.isCopy(loan)).isFalse();
      assertThat(pool.owner(id)).isEqualTo(LOAN);
      loans.add(loan);
    }
    int more = pool.allocate(INBOX);
    pool.memory().set(ValueLayout.JAVA_INT, pool.frameAt(more), 77);
    assertThat(budget.take(more, INBOX)).isEqualTo(-1);
    assertThat(pool.owner(more)).isEqualTo(INBOX);
    for (int i = 0; i < COPIES; i++) {
      int copy = budget.takeCopy(pool.frameAt(more), 4);
      assertThat(budget.isCopy(copy)).isTrue();
      assertThat(budget.copyArea().get(ValueLayout.JAVA_INT, budget.copyOffset(copy)))
          .isEqualTo(77);
      loans.add(copy);
    }
    assertThat(budget.takeCopy(pool.frameAt(more), 4)).isEqualTo(-1);
    pool.release(more, INBOX);
    assertThat(loans).doesNotHaveDuplicates();
    assertThat(budget.outstanding()).isEqualTo(LOANS + COPIES);

    Collections.shuffle(loans, new Random(5));
    loans.forEach(budget::giveBack);
    assertThat(budget.drain(2)).isEqualTo(2);
    assertThat(budget.drain(100)).isEqualTo(LOANS + COPIES - 2);
    assertThat(budget.drain(100)).isZero();
    pool.flush();
    assertThat(pool.available()).isEqualTo(64);
    assertThat(budget.outstanding()).isZero();
  }

  @Test
  void aMessageLongerThanACopySlotIsRefused() {
    assertThat(budget.takeCopy(0, 513)).isEqualTo(-1);
    assertThat(budget.outstanding()).isZero();
  }

  @Test
  void givingBackTwiceIsRefused() {
    int loan = budget.take(pool.allocate(INBOX), INBOX);
    budget.giveBack(loan);
    assertThatThrownBy(() -> budget.giveBack(loan)).isInstanceOf(IllegalStateException.class);
    assertThat(budget.drain(10)).isEqualTo(1);
    assertThatThrownBy(() -> budget.giveBack(loan)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void badBudgetsAreRefused() {
    assertThatThrownBy(() -> new LoanBudget(pool, LOAN, 65, 0)).hasMessageContaining("65 buffers");
    assertThatThrownBy(() -> new LoanBudget(pool, LOAN, -1, 0)).hasMessageContaining("-1 buffers");
    assertThatThrownBy(() -> new LoanBudget(pool, LOAN, 1, -1)).hasMessageContaining("-1 messages");
    assertThatThrownBy(() -> new LoanBudget(pool, INBOX, 1, 1)).hasMessageContaining("INBOX");
  }

  @Test
  void aBudgetOfNothingRefuses() {
    LoanBudget none = new LoanBudget(pool, LOAN, 0, 0);
    int id = pool.allocate(INBOX);
    assertThat(none.take(id, INBOX)).isEqualTo(-1);
    assertThat(none.takeCopy(pool.frameAt(id), 4)).isEqualTo(-1);
    pool.release(id, INBOX);
  }

  @Test
  void lendingLeavesNoGarbage() {
    int[] refused = new int[1];
    Allocations.assertNone(
        () -> {
          int loan = budget.take(pool.allocate(INBOX), INBOX);
          refused[0] += loan < 0 ? 1 : 0;
          budget.giveBack(loan);
          budget.drain(8);
        });
    assertThat(refused[0]).isZero();
  }

  /** One thread takes and drains, two others give back in any order; nothing is lost or doubled. */
  @Test
  void loansComeHomeFromAnyThread() throws InterruptedException {
    ConcurrentLinkedQueue<Integer> open = new ConcurrentLinkedQueue<>();
    AtomicBoolean done = new AtomicBoolean();
    List<Thread> closers = new ArrayList<>();
    for (int t = 0; t < 2; t++) {
      closers.add(new Thread(() -> closeUntil(open, done)));
    }
    closers.forEach(Thread::start);
    int lent = 0;
    while (lent < 100_000) {
      budget.drain(4);
      int id = pool.allocate(INBOX);
      assertThat(id).isPositive();
      int loan = budget.take(id, INBOX);
      if (loan < 0) {
        pool.release(id, INBOX);
        Thread.yield();
      } else {
        open.add(loan);
        lent++;
      }
    }
    done.set(true);
    for (Thread closer : closers) {
      closer.join();
    }
    budget.drain(1000);
    pool.flush();
    assertThat(budget.outstanding()).isZero();
    assertThat(pool.available()).isEqualTo(64);
  }

  private void closeUntil(ConcurrentLinkedQueue<Integer> open, AtomicBoolean done) {
    ArrayDeque<Integer> held = new ArrayDeque<>();
    while (true) {
      boolean ending = done.get();
      Integer loan = open.poll();
      if (loan != null) {
        // Hold some for a while, so that they come back out of order.
        if (loan % 3 == 0) {
          held.addLast(loan);
        } else {
          budget.giveBack(loan);
        }
      } else if (!held.isEmpty()) {
        budget.giveBack(held.removeFirst());
      } else if (ending) {
        return;
      } else {
        Thread.yield();
      }
    }
  }
}
