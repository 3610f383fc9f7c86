package org.pmhxb.mpi.engine;

/** Completes when everything that was sent is stored by its destination's node. */
public final class FlushOperation extends Operation {
  final boolean nextEpoch;

  /**
   * @param nextEpoch then forgets what was never received: the next initialization starts afresh
   */
  public FlushOperation(boolean nextEpoch) {
    this.nextEpoch = nextEpoch;
  }

  @Override
  void begin(Engine engine) {
    engine.beginFlush(this);
  }
}
