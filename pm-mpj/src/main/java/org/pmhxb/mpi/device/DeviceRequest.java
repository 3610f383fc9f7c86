package org.pmhxb.mpi.device;

import mpjdev.Request;
import mpjdev.Status;
import org.pmhxb.mpi.engine.Operation;

/** A send or a receive that the program may wait for. Any thread. */
abstract class DeviceRequest extends Request {
  private final CompletedRequests completed;
  private final Operation op;
  private Status result;

  // --- guarded by CompletedRequests ---
  DeviceRequest before;
  DeviceRequest after;
  private boolean taken;

  DeviceRequest(CompletedRequests completed, Operation op) {
    this.completed = completed;
    this.op = op;
    if (op != null) {
      op.onDone(() -> completed.add(this));
    }
  }

  /** The fixed point of a ring of requests. */
  static DeviceRequest listEnd() {
    DeviceRequest end = new SendRequest(null, null);
    end.before = end;
    end.after = end;
    return end;
  }

  boolean isTaken() {
    return taken;
  }

  void taken() {
    taken = true;
  }

  /** Called once, after the operation has succeeded. */
  abstract Status finish();

  @Override
  public final synchronized Status iwait() {
    if (result == null) {
      try {
        HxbDevice.waitFor(op);
        result = finish();
      } finally {
        completed.remove(this);
      }
      complete(result);
    }
    return result;
  }

  /**
   * Answers null until the operation has completed, and again after {@link #iwait}: MPJ asks every
   * request of an array and must not meet one twice. What came is told by {@link #iwait}.
   */
  @Override
  public final synchronized Status itest() {
    return op.isDone() && result == null ? new Status() : null;
  }

  @Override
  public final void free() {
    completed.remove(this);
  }

  @Override
  public final boolean isnull() {
    return false;
  }

  /** Nothing is ever cancelled, which MPI allows: as MPJ's own devices. */
  @Override
  public final boolean cancel() {
    return false;
  }
}
