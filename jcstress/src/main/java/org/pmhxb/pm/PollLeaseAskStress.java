package org.pmhxb.pm;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/**
 * A program asks for the lease while the poll thread offers it: it takes it, or has asked before
 * the offer or too late; in no case does the question outlive the offer, which would keep whoever
 * drives then from sleeping.
 */
@JCStressTest
@Outcome(id = "true, false", expect = ACCEPTABLE, desc = "taken")
@Outcome(id = "false, false", expect = ACCEPTABLE, desc = "asked before the offer")
@Outcome(expect = FORBIDDEN, desc = "wanted although it was offered")
@State
public class PollLeaseAskStress {
  private final PollLease lease = new PollLease();

  @Actor
  public void pollThread() {
    lease.offer();
  }

  @Actor
  public void program(ZZ_Result r) {
    r.r1 = lease.tryTake();
  }

  @Arbiter
  public void arbiter(ZZ_Result r) {
    r.r2 = lease.isWanted();
  }
}
