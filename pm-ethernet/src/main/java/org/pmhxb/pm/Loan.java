package org.pmhxb.pm;

import java.lang.foreign.MemorySegment;
import net.openhft.chronicle.bytes.Bytes;
import org.pmhxb.bufpool.BytesView;
import org.pmhxb.bufpool.LoanBudget;

/**
 * A retained message. Loans may be held in any number up to the budget, and closed in any order by
 * any thread, once each. The object is used again for later loans: keep no reference beyond close.
 */
public final class Loan implements AutoCloseable {
  private final LoanBudget budget;
  private final int number;
  private MemorySegment memory;
  private BytesView view;
  private long offset;
  private int lengthBytes;
  private int source;
  private int sourceEndpoint;
  private int bufferId;
  private boolean copy;
  private long messageLengthBytes;
  private long fragmentOffsetBytes;

  Loan(LoanBudget budget, int number) {
    this.budget = budget;
    this.number = number;
  }

  void bind(Message message, MemorySegment in, long at, boolean copied) {
    memory = in;
    offset = at;
    copy = copied;
    lengthBytes = message.lengthBytes();
    source = message.source();
    sourceEndpoint = message.sourceEndpoint();
    bufferId = copied ? 0 : message.bufferId();
    messageLengthBytes = message.messageLengthBytes();
    fragmentOffsetBytes = message.fragmentOffsetBytes();
  }

  /** The memory that {@link #offset()} counts in. */
  public MemorySegment memory() {
    return memory;
  }

  public long offset() {
    return offset;
  }

  public int lengthBytes() {
    return lengthBytes;
  }

  public int source() {
    return source;
  }

  public int sourceEndpoint() {
    return sourceEndpoint;
  }

  public long messageLengthBytes() {
    return messageLengthBytes;
  }

  public long fragmentOffsetBytes() {
    return fragmentOffsetBytes;
  }

  /** The buffer's ID in the pool; 0 for a copy. */
  public int bufferId() {
    return bufferId;
  }

  /** The message was copied: it shared its frame, or the loan budget was used up. */
  public boolean isCopy() {
    return copy;
  }

  /** A Chronicle Bytes view over the payload. One thread at a time. */
  public Bytes<?> bytes() {
    if (view == null || view.region() != memory) {
      view = new BytesView(memory);
    }
    return view.forRead(offset, lengthBytes);
  }

  /**
   * Gives the buffer back. Any thread.
   *
   * @throws IllegalStateException when it was closed before
   */
  @Override
  public void close() {
    budget.giveBack(number);
  }
}
