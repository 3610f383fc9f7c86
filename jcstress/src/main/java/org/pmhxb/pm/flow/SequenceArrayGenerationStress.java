package org.pmhxb.pm.flow;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIII_Result;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * The owner and another inserter at one slot, with frames of this generation and the next. Two
 * actors each: jcstress leaves out tests with more actors than the machine has cores.
 */
public final class SequenceArrayGenerationStress {
  private static final int FIRST = -1;

  private SequenceArrayGenerationStress() {}

  /** The owner consumes while a rail brings a late resend, then the slot's next generation. */
  @JCStressTest
  @Outcome(
      id = "5, 1, 0, 7",
      expect = ACCEPTABLE,
      desc = "resend refused, next generation stored behind the take")
  @Outcome(
      id = "5, 1, 2, 0",
      expect = ACCEPTABLE,
      desc = "resend refused, next generation came before its window opened")
  @Outcome(expect = FORBIDDEN, desc = "the late resend is in a slot, or a frame is lost")
  @State
  public static class NextGeneration {
    private final SequenceArray array = new SequenceArray(2, FIRST);

    public NextGeneration() {
      array.insert(FIRST, 5);
    }

    @Actor
    public void owner(IIII_Result r) {
      r.r1 = array.take();
    }

    @Actor
    public void rail(IIII_Result r) {
      r.r2 = array.insert(FIRST, 6);
      r.r3 = array.insert(FIRST + 2, 7);
    }

    @Arbiter
    public void after(IIII_Result r) {
      array.insert(FIRST + 1, 9);
      array.take();
      r.r4 = array.take();
    }
  }

  /**
   * The owner stores a resend and takes, while the original arrives: it sees the winner's bytes.
   */
  @JCStressTest
  @Outcome(id = "1, 11", expect = ACCEPTABLE, desc = "original and its bytes")
  @Outcome(id = "2, 22", expect = ACCEPTABLE, desc = "resend and its bytes")
  @Outcome(expect = FORBIDDEN, desc = "none, or a frame without its bytes")
  @State
  public static class BytesOfTheWinner {
    private final SequenceArray array = new SequenceArray(2, FIRST);
    private int originalByte;
    private int resendByte;

    @Actor
    public void rail() {
      originalByte = 11;
      array.insert(FIRST, 1);
    }

    @Actor
    public void owner(II_Result r) {
      resendByte = 22;
      array.insert(FIRST, 2);
      r.r1 = array.take();
      r.r2 = r.r1 == 1 ? originalByte : resendByte;
    }
  }
}
