package org.pmhxb.pm;

/** Wakes a poll thread that sleeps. Any thread may ring; ringing an awake thread is cheap. */
@FunctionalInterface
public interface Doorbell {
  /** Nobody sleeps: the poll thread is the program's own, or it never parks. */
  Doorbell NONE = () -> {};

  void ring();

  /** Whether the calling thread is the poll thread at present, within a round or its end. */
  default boolean isDrivenByCaller() {
    return false;
  }
}
