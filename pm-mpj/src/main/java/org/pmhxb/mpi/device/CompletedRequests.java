package org.pmhxb.mpi.device;

/**
 * Requests that have completed and that nobody has waited for, oldest first: what {@code peek}
 * chooses from. Any thread; a lock, because requests leave from the middle.
 */
final class CompletedRequests {
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

  synchronized DeviceRequest take() {
    boolean interrupted = false;
    while (end.after == end) {
      try {
        wait();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    DeviceRequest first = end.after;
    unlink(first);
    return first;
  }

  synchronized void clear() {
    while (end.after != end) {
      unlink(end.after);
    }
  }
}
