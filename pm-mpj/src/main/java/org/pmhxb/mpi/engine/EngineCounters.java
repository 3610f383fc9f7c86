package org.pmhxb.mpi.engine;

/**
 * What an engine has done. Written by the poll thread; other threads read values of a moment ago.
 */
public final class EngineCounters {
  long eagerSent;
  long rendezvousSent;
  long bytesSent;
  long bytesReceived;
  long unexpected;
  long bytesCopiedUnexpected;
  long malformed;

  /** Messages sent at once. */
  public long eagerSent() {
    return eagerSent;
  }

  /** Messages whose rest waited for a grant. */
  public long rendezvousSent() {
    return rendezvousSent;
  }

  /** Bytes copied from programs into frames: one copy per byte. */
  public long bytesSent() {
    return bytesSent;
  }

  /** Bytes copied from frames into programs: one copy per byte. */
  public long bytesReceived() {
    return bytesReceived;
  }

  /** Messages that came before their receive. */
  public long unexpected() {
    return unexpected;
  }

  /** Bytes of those that were copied a second time. */
  public long bytesCopiedUnexpected() {
    return bytesCopiedUnexpected;
  }

  /** Frames that contradict themselves or what is known; dropped. */
  public long malformed() {
    return malformed;
  }
}
