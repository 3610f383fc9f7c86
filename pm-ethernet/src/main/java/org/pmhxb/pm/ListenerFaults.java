package org.pmhxb.pm;

/**
 * What listeners, collective handlers and ports threw in the midst of a duty cycle. The burst that
 * was being gone through, and the peer that it was about, are halfway then: so the cycle goes on,
 * and throws at its end. Owner: the poll thread.
 */
final class ListenerFaults {
  private Throwable first;

  /** Keeps what was thrown until {@link #rethrow}. */
  void keep(Throwable t) {
    if (first == null) {
      first = t;
    } else if (first != t) {
      first.addSuppressed(t);
    }
  }

  /** Throws the first of what was kept, with the others suppressed in it. */
  void rethrow() {
    if (first != null) {
      throwFirst();
    }
  }

  private void throwFirst() {
    Throwable t = first;
    first = null;
    if (t instanceof Error e) {
      throw e;
    }
    throw (RuntimeException) t;
  }
}
