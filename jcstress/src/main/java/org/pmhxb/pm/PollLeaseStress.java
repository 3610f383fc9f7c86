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
 * L1/L2: the poll thread and two programs drive one after the other, and each sees what the one
 * before did: no turn is lost although the count of turns is plain.
 */
@JCStressTest
@Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "only the poll thread drove")
@Outcome(id = "2, 2", expect = ACCEPTABLE, desc = "one program drove too")
@Outcome(id = "3, 3", expect = ACCEPTABLE, desc = "both programs drove")
@Outcome(expect = FORBIDDEN, desc = "two drove at a time, or one did not see the other's work")
@State
public class PollLeaseStress {
  private final PollLease lease = new PollLease();

  /** What drivers own. */
  private int rounds;

  private int drove1;
  private int drove2;

  @Actor
  public void pollThread(II_Result r) {
    lease.offer();
    while (!lease.takeHome()) {
      Thread.onSpinWait();
    }
    rounds++;
  }

  @Actor
  public void program1(II_Result r) {
    drove1 = drive();
  }

  @Actor
  public void program2(II_Result r) {
    drove2 = drive();
  }

  private int drive() {
    if (!lease.tryTake()) {
      return 0;
    }
    rounds++;
    lease.giveBack();
    return 1;
  }

  @Arbiter
  public void arbiter(II_Result r) {
    r.r1 = rounds;
    r.r2 = 1 + drove1 + drove2;
  }
}
