package org.pmhxb.ffi;

/**
 * A control-path call into libpmhxb or DPDK failed. The message names the call with its arguments,
 * the code, and what to do.
 */
public final class NativeException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String call;
  private final int code;

  public NativeException(String call, int code, String remedy) {
    super(call + ": " + Errno.describe(code) + (remedy.isEmpty() ? "" : "; " + remedy));
    this.call = call;
    this.code = code;
  }

  /** The call, with the arguments that matter. */
  public String call() {
    return call;
  }

  /** Negative errno, see {@link Errno}. */
  public int code() {
    return code;
  }
}
