package org.pmhxb.mpi.engine;

/** Why an operation failed; the message is for the user of the program. */
public final class OperationException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public OperationException(String message) {
    super(message);
  }

  public OperationException(String message, Throwable cause) {
    super(message, cause);
  }
}
