package org.pmhxb.pm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Whether a poll thread sleeps, so that who offers work knows whether it must be woken. Dekker's
 * pattern: the sleeper writes the flag, then looks for work; the other offers work, then looks at
 * the flag. Each has a full fence between, so at least one sees the other.
 */
final class SleepFlag {
  private static final int AWAKE = 0;
  private static final int ASLEEP = 1;
  private static final VarHandle STATE;

  static {
    try {
      STATE = MethodHandles.lookup().findVarHandle(SleepFlag.class, "state", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private int state = AWAKE;

  /** Before the last look for work. Poll thread. */
  void fallAsleep() {
    STATE.setVolatile(this, ASLEEP);
    // F1: the flag before the look; pairs with F2.
    VarHandle.fullFence();
  }

  /** Poll thread. */
  void wakeUp() {
    STATE.setVolatile(this, AWAKE);
  }

  /** After work was offered: whether nobody will see it unless the poll thread is woken. */
  boolean mustBeWoken() {
    // F2: the offer before the look; pairs with F1.
    VarHandle.fullFence();
    return (int) STATE.getOpaque(this) == ASLEEP;
  }
}
