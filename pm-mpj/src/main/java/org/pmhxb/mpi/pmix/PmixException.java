package org.pmhxb.mpi.pmix;

/** A call of libpmix failed: names the call, the code, and what to do. */
public final class PmixException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  PmixException(String call, int code, String mend) {
    super(call + " failed with PMIx status " + code + ": " + mend);
  }

  PmixException(String message, Throwable cause) {
    super(message, cause);
  }
}
