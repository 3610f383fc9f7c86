package org.pmhxb.cli.bench;

import java.io.IOException;
import java.io.Serial;
import java.util.function.BooleanSupplier;

/** How long a suite of measurements goes on. Owner: one thread. */
public final class SuiteTime {
  private final BooleanSupplier outOfTime;
  private boolean progressed;
  private boolean brokenOff;

  /**
   * @param outOfTime asked before each measurement, and while it warms up: true breaks off
   */
  public SuiteTime(BooleanSupplier outOfTime) {
    this.outOfTime = outOfTime;
  }

  /** Something was measured that no earlier command had. */
  public void progressed() {
    progressed = true;
  }

  /** Never before something was measured: whoever resumes again and again comes to an end. */
  public boolean isOver() {
    brokenOff |= progressed && outOfTime.getAsBoolean();
    return brokenOff;
  }

  /** For a measurement that has begun to warm up: it is left out. */
  public void throwIfOver() throws OverException {
    if (isOver()) {
      throw new OverException();
    }
  }

  /** No failure: whoever resumes measures what is missing. */
  public static final class OverException extends IOException {
    @Serial private static final long serialVersionUID = 1L;

    private OverException() {
      super("the suite's time is over");
    }
  }

  /** Whether something was left out. */
  public boolean isBrokenOff() {
    return brokenOff;
  }

  /** Whoever wants the command to end must not be taken for a failed measurement. */
  public static void throwIfInterrupted(Exception e) throws InterruptedException {
    if (Thread.interrupted()) {
      InterruptedException ending = new InterruptedException("interrupted");
      ending.initCause(e);
      throw ending;
    }
  }
}
