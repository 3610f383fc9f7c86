package org.pmhxb.cli;

/**
 * What was asked for cannot be, as things are on this machine; the message says what to do about
 * it. The program is in order: where the exception was thrown is of no use to anybody.
 */
public final class UserErrorException extends IllegalStateException {
  private static final long serialVersionUID = 1L;

  public UserErrorException(String message) {
    super(message);
  }

  public UserErrorException(String message, Throwable cause) {
    super(message, cause);
  }
}
