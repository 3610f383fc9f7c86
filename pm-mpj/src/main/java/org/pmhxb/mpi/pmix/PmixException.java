package org.pmhxb.mpi.pmix;

/**
 * There is no launcher, no libpmix, or it refused a call: names the call, the code, and what to do
 * outside of this program.
 */
public final class PmixException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  PmixException(String call, int code, String mend) {
    super(call + " failed with PMIx status " + code + ": " + mend);
  }

  PmixException(String message, Throwable cause) {
    super(message, cause);
  }
}
