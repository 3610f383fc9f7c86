package org.pmhxb.bufpool;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.lang.foreign.MemorySegment;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * A lent buffer on its way back to the free list: closed by one thread, brought home, released and
 * allocated again by the poll thread.
 */
public final class LoanReleaseStress {
  private static final int WINDOW = Owner.of(Owner.WINDOW, 1);
  private static final int INBOX = Owner.of(Owner.INBOX, 1);
  private static final int LOAN = Owner.of(Owner.LOAN, 1);

  private LoanReleaseStress() {}

  /** One buffer without memory worth mentioning: its free list and reference count are all. */
  private static final class OneBuffer extends BufferPool {
    private int references;

    OneBuffer() {
      super(MemorySegment.ofArray(new byte[2 * STRIDE_BYTES_MIN]), STRIDE_BYTES_MIN, 1, 1, false);
    }

    @Override
    int takeFree(int[] ids, int count) {
      if (references > 0 || count == 0) {
        return 0;
      }
      references = 1;
      ids[0] = 1;
      return 1;
    }

    @Override
    void dropReferences(int[] ids, int count) {
      references -= count;
    }

    @Override
    void addReference(int id) {
      references++;
    }

    @Override
    int referencesInBacking(int id) {
      return references;
    }

    @Override
    int freeInBacking() {
      return references == 0 ? 1 : 0;
    }

    @Override
    void closeBacking(boolean viewsLive) {}
  }

  /** A pool whose one buffer is on loan. */
  private abstract static class OnLoan {
    final OneBuffer pool = new OneBuffer();
    final LoanBudget budget = new LoanBudget(pool, LOAN, 1, 0);
    final int loan;

    OnLoan() {
      int id = pool.allocate(WINDOW);
      pool.transfer(id, WINDOW, INBOX);
      loan = budget.take(id, INBOX);
      pool.handOver();
    }
  }

  /** The buffer goes out again only after its reader's last look at it. */
  @JCStressTest
  @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "still on loan, free in the end")
  @Outcome(id = "2, 0", expect = ACCEPTABLE, desc = "allocated again after the last look")
  @Outcome(expect = FORBIDDEN, desc = "allocated while its reader looks, or lost")
  @State
  public static class CloseAndAllocate extends OnLoan {
    private int looks;

    @Actor
    public void reader() {
      looks = 1;
      looks = 2;
      budget.giveBack(loan);
    }

    @Actor
    public void pollThread(II_Result r) {
      budget.drain(1);
      int again = pool.allocate(WINDOW);
      r.r1 = again == 0 ? 0 : looks;
      pool.handOver();
    }

    @Arbiter
    public void after(II_Result r) {
      budget.drain(1);
      pool.flush();
      r.r2 = pool.available();
    }
  }

  /** Of two that close one loan, one is told so. */
  @JCStressTest
  @Outcome(
      id = {"1, 1"},
      expect = ACCEPTABLE,
      desc = "closed once, free once")
  @Outcome(expect = FORBIDDEN, desc = "closed twice, or never")
  @State
  public static class ClosedTwice extends OnLoan {
    private int first;
    private int second;

    private int close() {
      try {
        budget.giveBack(loan);
        return 1;
      } catch (IllegalStateException e) {
        return 0;
      }
    }

    @Actor
    public void one() {
      first = close();
    }

    @Actor
    public void other() {
      second = close();
    }

    @Arbiter
    public void after(II_Result r) {
      budget.drain(2);
      pool.flush();
      r.r1 = first + second;
      r.r2 = pool.available();
    }
  }
}
