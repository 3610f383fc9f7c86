package org.pmhxb.mpi.engine;

import java.lang.foreign.MemorySegment;

/**
 * All ranks wait for all: a message per round, to the ranks 1, 2, 4, ... ahead. A rank takes part
 * once: what it has sent counts, and what it has asked for will be received, also when it stops
 * waiting for a while. Owner: one program thread at a time.
 */
public final class Barrier {
  /** Of the engine's own messages: MPJ's contexts are not negative but for intercommunicators. */
  private static final int CONTROL_CONTEXT = Integer.MIN_VALUE;

  private final Engine engine;
  private final boolean mayEnd;
  private int step = 1;
  private ReceiveOperation receive;
  private SendOperation send;

  /** Of all ranks of the engine's job. */
  public Barrier(Engine engine) {
    this(engine, false);
  }

  /**
   * @param mayEnd whose session has ended counts as being here
   */
  Barrier(Engine engine, boolean mayEnd) {
    this.engine = engine;
    this.mayEnd = mayEnd;
  }

  /**
   * Takes the steps that are due.
   *
   * @return what is waited for before the next one; null when all ranks have come here
   * @throws OperationException a rank is down
   */
  public Operation awaited() {
    for (; step < engine.size(); step <<= 1) {
      if (receive == null) {
        receive =
            new ReceiveOperation(
                MemorySegment.NULL, 0, 0, awaitedRank(), step, CONTROL_CONTEXT, false);
        send = new SendOperation(Payload.EMPTY, ahead(step), CONTROL_CONTEXT, step, 0, 0, false);
        engine.post(receive);
        engine.post(send);
      }
      if (!isOver(receive)) {
        return receive;
      }
      if (!isOver(send)) {
        return send;
      }
      receive = null;
    }
    return null;
  }

  private boolean isOver(Operation op) {
    return mayEnd ? op.isDone() : op.isOver();
  }

  /** The rank that the present step hears of. */
  public int awaitedRank() {
    return ahead(engine.size() - step);
  }

  private int ahead(int by) {
    return (engine.rank() + by) % engine.size();
  }
}
