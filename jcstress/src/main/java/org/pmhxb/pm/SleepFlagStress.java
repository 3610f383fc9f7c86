package org.pmhxb.pm;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** F1/F2: work that is offered while the poll thread falls asleep is seen, or the thread woken. */
@JCStressTest
@Outcome(id = "true, true", expect = ACCEPTABLE, desc = "seen, and woken for nothing")
@Outcome(id = "true, false", expect = ACCEPTABLE, desc = "seen before it slept")
@Outcome(id = "false, true", expect = ACCEPTABLE, desc = "not seen, so woken")
@Outcome(id = "false, false", expect = FORBIDDEN, desc = "it sleeps on its work")
@State
public class SleepFlagStress {
  private final SleepFlag flag = new SleepFlag();
  private int work;

  @Actor
  public void pollThread(ZZ_Result r) {
    flag.fallAsleep();
    r.r1 = work == 1;
  }

  @Actor
  public void program(ZZ_Result r) {
    work = 1;
    r.r2 = flag.mustBeWoken();
  }
}
