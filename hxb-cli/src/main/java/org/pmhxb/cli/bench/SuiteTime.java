package org.pmhxb.cli.bench;

import java.util.function.BooleanSupplier;

/** How long a suite of measurements goes on. Owner: one thread. */
public final class SuiteTime {
  private final BooleanSupplier outOfTime;
  private boolean progressed;
  private boolean brokenOff;

  /**
   * @param outOfTime asked before each measurement: true breaks off
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
