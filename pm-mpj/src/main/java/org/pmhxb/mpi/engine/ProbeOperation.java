package org.pmhxb.mpi.engine;

/** Looks for a message without receiving it. */
public final class ProbeOperation extends Operation {
  final int source;
  final int tag;
  final int context;
  final boolean waits;

  /** Poll thread until completion, then the program's. */
  Arrival arrival;

  /**
   * @param waits completes when a message is there; else at once
   */
  public ProbeOperation(int source, int tag, int context, boolean waits) {
    this.source = source;
    this.tag = tag;
    this.context = context;
    this.waits = waits;
  }

  @Override
  void begin(Engine engine) {
    engine.beginProbe(this);
  }

  /** What was found; null for nothing. Call after completion. */
  public Arrival arrival() {
    return arrival;
  }
}
