package org.pmhxb.collectives;

/** A collective operation could not be done, and its group takes no further ones. */
public final class CollectiveException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  CollectiveException(String message) {
    super(message);
  }
}
