package org.pmhxb.mpi.device;

import java.util.function.BooleanSupplier;
import org.pmhxb.mpi.engine.Engine;

/**
 * Requests that have completed and that nobody has waited for, oldest first: what {@code peek}
 * chooses from. Any thread; a lock, because requests leave from the middle.
 */
final class CompletedRequests implements BooleanSupplier {
  private static final long LISTEN_MS = 1;

  private final DeviceRequest end = DeviceRequest.listEnd();

  synchronized void add(DeviceRequest request) {
    if (request.isTaken()) {
      return;
    }
    request.before = end.before;
    request.after = end;
    end.before.after = request;
    end.before = request;
    notifyAll();
  }

  synchronized void remove(DeviceRequest request) {
    request.taken();
    if (request.after != null) {
      unlink(request);
    }
  }

  private static void unlink(DeviceRequest request) {
    request.before.after = request.after;
    request.after.before = request.before;
    request.before = null;
    request.after = null;
  }

  /** Whether there is one. */
  @Override
  public synchronized boolean getAsBoolean() {
    return end.after != end;
  }

  /** Blocks until there is one; makes progress on this thread if nobody else does. */
  DeviceRequest take(Engine engine) {
    boolean interrupted = false;
    DeviceRequest first = poll();
    while (first == null) {
      if (!engine.driveUntil(this, Long.MAX_VALUE)) {
        interrupted |= !listen();
      }
      first = poll();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return first;
  }

  private synchronized DeviceRequest poll() {
    DeviceRequest first = end.after;
    if (first == end) {
      return null;
    }
    unlink(first);
    return first;
  }

  /** Waits a little for another thread's progress; false when interrupted. */
  private synchronized boolean listen() {
    try {
      if (end.after == end) {
        wait(LISTEN_MS);
      }
      return true;
    } catch (InterruptedException e) {
      return false;
    }
  }

  synchronized void clear() {
    while (end.after != end) {
      unlink(end.after);
    }
  }
}
