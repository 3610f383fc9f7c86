package org.pmhxb.mpi.device;

import mpjdev.Status;
import org.pmhxb.mpi.engine.SendOperation;

/** A send under way. */
final class SendRequest extends DeviceRequest {
  SendRequest(CompletedRequests completed, SendOperation op) {
    super(completed, op);
  }

  @Override
  Status finish() {
    return new Status();
  }
}
