package org.pmhxb.pm;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.L_Result;

/** What the poll thread publishes to the program: credit, completion and what was lost. */
public final class LaneStress {
  private LaneStress() {}

  private static Lane lane() {
    return new Lane(null, 1, 0, 1, 1);
  }

  /** R2/A2: credit that is taken shows what the poll thread did before it granted it. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "no credit yet")
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "credit, and what came before it")
  @Outcome(expect = FORBIDDEN, desc = "credit before its cause")
  @State
  public static class Credit {
    private final Lane lane = lane();
    private int before;

    @Actor
    public void pollThread() {
      before = 1;
      lane.publishLimit(1);
    }

    @Actor
    public void program(II_Result r) {
      r.r1 = lane.takeCredit() ? 1 : 0;
      r.r2 = r.r1 == 1 ? before : 0;
    }
  }

  /** Session and limit are one word: the limit of one is never spent under another. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "neither session had credit yet")
  @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "one frame of the old session")
  @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "one of the new session")
  @Outcome(id = "0, 2", expect = ACCEPTABLE, desc = "both of the new session")
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "one of each")
  @Outcome(id = "1, 2", expect = ACCEPTABLE, desc = "all of both")
  @Outcome(expect = FORBIDDEN, desc = "a limit was spent under another session")
  @State
  public static class NextSession {
    private final Lane lane = lane();

    @Actor
    public void pollThread() {
      lane.publishLimit(1);
      lane.closeSession();
      lane.publishLimit(2);
    }

    @Actor
    public void program(II_Result r) {
      for (int i = 0; i < 4; i++) {
        if (lane.takeCredit()) {
          if (lane.epoch() == 0) {
            r.r1++;
          } else {
            r.r2++;
          }
        }
      }
    }
  }

  /** R3/A3: a completed message is settled in all that the poll thread wrote before. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "not completed yet")
  @Outcome(id = "3, 1", expect = ACCEPTABLE, desc = "completed, and what came before it")
  @Outcome(expect = FORBIDDEN, desc = "completed before its cause, or in part")
  @State
  public static class Completion {
    private final Lane lane = lane();
    private int before;

    @Actor
    public void pollThread() {
      before = 1;
      lane.acknowledge(3);
    }

    @Actor
    public void program(II_Result r) {
      r.r1 = (int) lane.acknowledged();
      r.r2 = r.r1 > 0 ? before : 0;
    }
  }

  /** R4/A4 before R3/A3: a ticket that went down with its session is never taken for stored. */
  @JCStressTest
  @Outcome(id = "PENDING", expect = ACCEPTABLE, desc = "before its session ended")
  @Outcome(id = "UNKNOWN", expect = ACCEPTABLE, desc = "lost, whatever was stored since")
  @Outcome(expect = FORBIDDEN, desc = "a lost message taken for stored")
  @State
  public static class Lost {
    private final Lane lane = lane();

    public Lost() {
      lane.nextTicket();
      lane.nextTicket();
    }

    @Actor
    public void pollThread() {
      lane.lose(1);
      lane.closeSession();
      lane.acknowledge(1);
    }

    @Actor
    public void program(L_Result r) {
      r.r1 = lane.fate(1);
    }
  }
}
