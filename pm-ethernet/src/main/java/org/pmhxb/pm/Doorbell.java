package org.pmhxb.pm;

/** Wakes a poll thread that sleeps. Any thread may ring; ringing an awake thread is cheap. */
@FunctionalInterface
public interface Doorbell {
  /** Nobody sleeps: the poll thread is the program's own. */
  Doorbell NONE = () -> {};

  void ring();

  /** Whether the calling thread is the poll thread at present, within a round or its end. */
  default boolean isDrivenByCaller() {
    return false;
  }

  /** Whether the poll thread has ended: what it is asked for never happens. Any thread. */
  default boolean hasEnded() {
    return false;
  }
}
