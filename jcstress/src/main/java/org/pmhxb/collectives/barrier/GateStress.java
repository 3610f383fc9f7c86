package org.pmhxb.collectives.barrier;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;

/** The words in which a program and the poll thread meet in a barrier. */
public final class GateStress {
  private GateStress() {}

  /** R1/A1: who sees the arrival sees what the program did before it. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "not arrived yet")
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "arrived, and what came before")
  @Outcome(expect = FORBIDDEN, desc = "arrived before its work")
  @State
  public static class Arrival {
    private final Gate gate = new Gate();
    private int before;

    @Actor
    public void program() {
      before = 1;
      gate.arriveAt(1);
    }

    @Actor
    public void pollThread(II_Result r) {
      r.r1 = gate.arrivedEpoch();
      r.r2 = r.r1 == 1 ? before : 0;
    }
  }

  /** R2/A2: who left sees what others did before they arrived, as the poll thread heard of it. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "still inside")
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "left, and what others did")
  @Outcome(expect = FORBIDDEN, desc = "left before the others' work")
  @State
  public static class Exit {
    private final Gate gate = new Gate();
    private int others;

    @Actor
    public void pollThread() {
      others = 1;
      gate.leave(1);
    }

    @Actor
    public void program(II_Result r) {
      r.r1 = gate.leftEpoch();
      r.r2 = r.r1 == 1 ? others : 0;
    }
  }

  /** R3/A3: an epoch that was left before the barrier broke counts as left. */
  @JCStressTest
  @Outcome(id = "0, -1, 0", expect = ACCEPTABLE, desc = "still inside")
  @Outcome(id = "0, -1, 1", expect = ACCEPTABLE, desc = "left meanwhile")
  @Outcome(id = "0, 7, 1", expect = ACCEPTABLE, desc = "left, then broken: asked again, it is left")
  @Outcome(id = "1, -1, 1", expect = ACCEPTABLE, desc = "left")
  @Outcome(id = "1, 7, 1", expect = ACCEPTABLE, desc = "left, broken for the next")
  @Outcome(expect = FORBIDDEN, desc = "broken, and the epoch before it is not left")
  @State
  public static class Death {
    private final Gate gate = new Gate();

    @Actor
    public void pollThread() {
      gate.leave(1);
      gate.breakBy(7);
    }

    @Actor
    public void program(III_Result r) {
      r.r1 = gate.leftEpoch();
      r.r2 = gate.downNode();
      r.r3 = gate.leftEpoch();
    }
  }
}
