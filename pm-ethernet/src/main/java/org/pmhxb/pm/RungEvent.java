package org.pmhxb.pm;

import java.util.concurrent.atomic.AtomicInteger;
import org.pmhxb.ffi.Events;
import org.pmhxb.ffi.Hxb;

/**
 * A descriptor that wakes a thread, and that other threads may ring while, and after, it is closed:
 * its number may be another file's by then, so it is closed when the last of them has left.
 */
final class RungEvent {
  private static final int CLOSED = Integer.MIN_VALUE;

  private final int fd = Events.create();

  /** Threads that ring at present, and {@link #CLOSED}. */
  private final AtomicInteger ringers = new AtomicInteger();

  int fd() {
    return fd;
  }

  /** Any thread. Does nothing once it is closed. */
  void ring() {
    if (enter()) {
      try {
        Hxb.eventSignal(fd);
      } finally {
        leave();
      }
    }
  }

  /**
   * @return whether the descriptor stays open until {@link #leave}; false: it may be closed
   */
  boolean enter() {
    boolean open = ringers.getAndIncrement() >= 0;
    if (!open) {
      leave();
    }
    return open;
  }

  void leave() {
    ringers.getAndDecrement();
  }

  /** Once, when nobody waits on it any more. Rings take a system call: no longer is waited. */
  void close() {
    ringers.getAndAdd(CLOSED);
    while (ringers.get() != CLOSED) {
      Thread.yield();
    }
    Events.close(fd);
  }
}
