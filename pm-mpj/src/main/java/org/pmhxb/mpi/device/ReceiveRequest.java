package org.pmhxb.mpi.device;

import mpjbuf.Buffer;
import mpjdev.Status;
import org.pmhxb.mpi.engine.ReceiveOperation;

/** A receive under way. */
final class ReceiveRequest extends DeviceRequest {
  private final HxbDevice device;
  private final ReceiveOperation op;
  private final Buffer buffer;
  private final Status status;

  ReceiveRequest(
      HxbDevice device,
      CompletedRequests completed,
      ReceiveOperation op,
      Buffer buffer,
      Status status) {
    super(completed, op);
    this.device = device;
    this.op = op;
    this.buffer = buffer;
    this.status = status;
  }

  @Override
  Status finish() {
    return device.received(buffer, op, status);
  }
}
