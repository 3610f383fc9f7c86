package org.pmhxb.pm.flow;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;

/** Several inserters, one owner; numbers lie at the wrap. */
public final class SequenceArrayStress {
  private static final int FIRST = -1;

  private SequenceArrayStress() {}

  /** The original on one rail races its resend on another. */
  @JCStressTest
  @Outcome(id = "0, 1, 1", expect = ACCEPTABLE, desc = "original won")
  @Outcome(id = "1, 0, 2", expect = ACCEPTABLE, desc = "resend won")
  @Outcome(expect = FORBIDDEN, desc = "both or none")
  @State
  public static class ResendRace {
    private final SequenceArray array = new SequenceArray(2, FIRST);

    @Actor
    public void original(III_Result r) {
      r.r1 = array.insert(FIRST, 1);
    }

    @Actor
    public void resend(III_Result r) {
      r.r2 = array.insert(FIRST, 2);
    }

    @Arbiter
    public void owner(III_Result r) {
      r.r3 = array.take();
    }
  }

  /** R1/A1: who takes a frame sees its bytes. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "not there yet")
  @Outcome(id = "5, 7", expect = ACCEPTABLE, desc = "frame and its bytes")
  @Outcome(expect = FORBIDDEN, desc = "frame without its bytes")
  @State
  public static class Publication {
    private final SequenceArray array = new SequenceArray(2, FIRST);
    private int frameByte;

    @Actor
    public void inserter() {
      frameByte = 7;
      array.insert(FIRST, 5);
    }

    @Actor
    public void owner(II_Result r) {
      r.r1 = array.take();
      r.r2 = r.r1 == 0 ? 0 : frameByte;
    }
  }

  /** A duplicate of what is being consumed never enters the slot's next generation. */
  @JCStressTest
  @Outcome(id = "1, 5, 0", expect = ACCEPTABLE, desc = "duplicate refused")
  @Outcome(expect = FORBIDDEN, desc = "an old frame in a new slot")
  @State
  public static class LateDuplicate {
    private final SequenceArray array = new SequenceArray(2, FIRST);

    public LateDuplicate() {
      array.insert(FIRST, 5);
    }

    @Actor
    public void late(III_Result r) {
      r.r1 = array.insert(FIRST, 6);
    }

    @Actor
    public void owner(III_Result r) {
      r.r2 = array.take();
    }

    @Arbiter
    public void after(III_Result r) {
      int next = array.take();
      int afterNext = array.insert(FIRST + 2, 9) == SequenceArray.INSERTED ? 0 : 1;
      r.r3 = next + afterNext;
    }
  }
}
