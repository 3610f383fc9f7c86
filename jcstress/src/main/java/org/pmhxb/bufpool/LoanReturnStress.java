package org.pmhxb.bufpool;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** Loans closed by any thread come home once each. */
public final class LoanReturnStress {
  private LoanReturnStress() {}

  /** Two threads close at once. */
  @JCStressTest
  @Outcome(
      id = {"1, 2", "2, 1"},
      expect = ACCEPTABLE,
      desc = "both came home")
  @Outcome(expect = FORBIDDEN, desc = "one lost or doubled")
  @State
  public static class TwoClosers {
    private final ReturnRing ring = new ReturnRing(2);

    @Actor
    public void first() {
      ring.put(1);
    }

    @Actor
    public void second() {
      ring.put(2);
    }

    @Arbiter
    public void home(II_Result r) {
      r.r1 = ring.take();
      r.r2 = ring.take();
    }
  }

  /** R1/A1: the buffer is released after the closer's last use of it. */
  @JCStressTest
  @Outcome(id = "-1, 0", expect = ACCEPTABLE, desc = "not closed yet")
  @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "closed after its last use")
  @Outcome(expect = FORBIDDEN, desc = "home before its last use")
  @State
  public static class CloseAndDrain {
    private final ReturnRing ring = new ReturnRing(1);
    private int used;

    @Actor
    public void closer() {
      used = 1;
      ring.put(0);
    }

    @Actor
    public void drain(II_Result r) {
      r.r1 = ring.take();
      r.r2 = r.r1 < 0 ? 0 : used;
    }
  }

  /**
   * One loan round and round through a ring of one slot while it is drained: R2/A2 and the tickets
   * keep a slot's next user behind its drain.
   */
  @JCStressTest
  @Outcome(
      id = {"0, 0", "1, 1", "2, 2"},
      expect = ACCEPTABLE,
      desc = "as many closed as taken")
  @Outcome(expect = FORBIDDEN, desc = "a return was overwritten")
  @State
  public static class Cycle {
    private final ReturnRing ring = new ReturnRing(1);
    private final HomeQueue home = new HomeQueue(0, 1);
    private int closed;
    private int drained;

    @Actor
    public void endpoint() {
      for (int i = 0; i < 2; i++) {
        int loan = home.take();
        if (loan >= 0) {
          ring.put(loan);
          closed++;
        }
      }
    }

    @Actor
    public void pollThread() {
      for (int i = 0; i < 4; i++) {
        drainOne();
      }
    }

    private void drainOne() {
      int loan = ring.take();
      if (loan >= 0) {
        drained++;
        home.put(loan);
      }
    }

    @Arbiter
    public void after(II_Result r) {
      drainOne();
      r.r1 = closed;
      r.r2 = drained;
    }
  }
}
