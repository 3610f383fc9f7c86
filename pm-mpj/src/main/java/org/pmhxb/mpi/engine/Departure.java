package org.pmhxb.mpi.engine;

/**
 * How a rank leaves its job such that no other loses anything by it: not what was sent to it, and
 * not what its node relays.
 *
 * <p>All that was sent is stored at its destinations, then all ranks meet twice. Who has passed the
 * second barrier knows that all have passed the first: messages of the program, and those that tell
 * of its end, are where they belong, so the relays between them may go. What is on its way then
 * belongs to the second barrier; who misses some of it, because a relay or its sender has gone
 * before, has nothing left to wait for. Owner: one program thread at a time.
 */
public final class Departure {
  private final Engine engine;
  private final FlushOperation sent = new FlushOperation(false);
  private final FlushOperation all = new FlushOperation(true);
  private final Barrier here;
  private final Barrier leaving;
  private boolean began;
  private boolean ends;

  public Departure(Engine engine) {
    this.engine = engine;
    this.here = new Barrier(engine);
    this.leaving = new Barrier(engine, true);
  }

  /**
   * Takes the steps that are due.
   *
   * @return what is waited for before the next one; null when this rank may go
   * @throws OperationException a rank went down before all had come, or the engine has ended
   */
  public Operation awaited() {
    if (!began) {
      began = true;
      engine.post(sent);
    }
    if (!sent.isOver()) {
      return sent;
    }
    Operation op = here.awaited();
    if (op == null) {
      op = leaving.awaited();
    }
    if (op != null) {
      return op;
    }
    if (!ends) {
      ends = true;
      engine.post(all);
    }
    return all.isOver() ? null : all;
  }
}
