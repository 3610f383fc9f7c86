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

/**
 * Several poll threads, each with its rails, bring frames of one peer while numbers pass 2^32. Two
 * actors each: jcstress leaves out tests with more than the machine has cores.
 */
public final class SequenceArrayPollersStress {
  private static final int FIRST = -2;
  private static final int SIZE = 4;

  private SequenceArrayPollersStress() {}

  /** Two pollers bring the same four frames in opposite order, original and resend. */
  @JCStressTest
  @Outcome(id = "4, 1, 0", expect = ACCEPTABLE, desc = "each number once, in order")
  @Outcome(expect = FORBIDDEN, desc = "a number twice, or missing, or out of order")
  @State
  public static class TwoPollers {
    private final SequenceArray array = new SequenceArray(SIZE, FIRST);
    private int original;
    private int resent;

    @Actor
    public void one() {
      for (int i = 0; i < SIZE; i++) {
        original += array.insert(FIRST + i, 1 + i) == SequenceArray.INSERTED ? 1 : 0;
      }
    }

    @Actor
    public void other() {
      for (int i = SIZE - 1; i >= 0; i--) {
        resent += array.insert(FIRST + i, 11 + i) == SequenceArray.INSERTED ? 1 : 0;
      }
    }

    @Arbiter
    public void owner(III_Result r) {
      r.r1 = original + resent;
      r.r2 = 1;
      for (int i = 0; i < SIZE; i++) {
        int id = array.take();
        r.r2 &= id == 1 + i || id == 11 + i ? 1 : 0;
      }
      r.r3 = array.take();
    }
  }

  /** A poller brings two arrays full while the owner takes: slots change generation under it. */
  @JCStressTest
  @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "what was inserted is taken once, in order")
  @Outcome(expect = FORBIDDEN, desc = "a frame was lost, came twice or out of order")
  @State
  public static class RoundTheWrap {
    private final SequenceArray array = new SequenceArray(SIZE, FIRST);
    private int inserted;
    private int taken;
    private boolean inOrder = true;

    @Actor
    public void poller() {
      for (int tries = 0; tries < 3 * SIZE && inserted < 2 * SIZE; tries++) {
        // Beyond the window until the owner has made room: the sender would send it again.
        inserted += array.insert(FIRST + inserted, 1 + inserted) == SequenceArray.INSERTED ? 1 : 0;
      }
    }

    @Actor
    public void owner() {
      for (int tries = 0; tries < 3 * SIZE; tries++) {
        take();
      }
    }

    private void take() {
      int id = array.take();
      if (id != 0) {
        inOrder &= id == ++taken;
      }
    }

    @Arbiter
    public void after(II_Result r) {
      for (int i = 0; i < 2 * SIZE; i++) {
        take();
      }
      r.r1 = inOrder ? 1 : 0;
      r.r2 = inserted - taken;
    }
  }
}
