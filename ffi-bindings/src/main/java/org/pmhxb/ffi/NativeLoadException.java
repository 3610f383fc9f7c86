package org.pmhxb.ffi;

/** libpmhxb cannot be used by this process; the message says why and what to do about it. */
public final class NativeLoadException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public NativeLoadException(String message) {
    super(message);
  }

  public NativeLoadException(String message, Throwable cause) {
    super(message, cause);
  }
}
