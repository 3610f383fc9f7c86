package org.pmhxb.pm;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * L1/L2: the poll thread and programs drive one after the other, and each sees what the one before
 * did: no turn is lost although the count of turns is plain. Two actors each: jcstress leaves out
 * tests with more than the machine has cores.
 */
public final class PollLeaseStress {
  private PollLeaseStress() {}

  private abstract static class Lease {
    final PollLease lease = new PollLease();

    /** What drivers own. */
    int rounds;

    final int drive() {
      if (!lease.tryTake()) {
        return 0;
      }
      rounds++;
      lease.giveBack();
      return 1;
    }
  }

  /** Offered, and taken home as soon as it is to be had. */
  @JCStressTest
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "only the poll thread drove")
  @Outcome(id = "2, 2", expect = ACCEPTABLE, desc = "the program drove too")
  @Outcome(expect = FORBIDDEN, desc = "two drove at a time, or one did not see the other's work")
  @State
  public static class PollThreadAndProgram extends Lease {
    private int drove;

    @Actor
    public void pollThread() {
      lease.offer();
      while (!lease.takeHome()) {
        Thread.onSpinWait();
      }
      rounds++;
    }

    @Actor
    public void program() {
      drove = drive();
    }

    @Arbiter
    public void arbiter(II_Result r) {
      r.r1 = rounds;
      r.r2 = 1 + drove;
    }
  }

  /** Both find it offered, or one that the other has it or gave it back. */
  @JCStressTest
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "one program drove")
  @Outcome(id = "2, 2", expect = ACCEPTABLE, desc = "both programs drove")
  @Outcome(expect = FORBIDDEN, desc = "two drove at a time, or one did not see the other's work")
  @State
  public static class TwoPrograms extends Lease {
    private int drove1;
    private int drove2;

    public TwoPrograms() {
      lease.offer();
    }

    @Actor
    public void one() {
      drove1 = drive();
    }

    @Actor
    public void other() {
      drove2 = drive();
    }

    @Arbiter
    public void arbiter(II_Result r) {
      r.r1 = rounds;
      r.r2 = drove1 + drove2;
    }
  }
}
