package org.pmhxb.bufpool;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * What one endpoint's application may keep of received messages: so many pool buffers as loans,
 * beyond those so many copies in an area beside the pool, beyond those nothing. A slow user can
 * exhaust its budget, never the receive ring.
 *
 * <p>A loan is known by its number: 0 to {@code loans - 1} are pool buffers, from {@code loans} on
 * copies. Three parties use it:
 *
 * <ul>
 *   <li>the endpoint's thread takes ({@link #take}, {@link #takeCopy});
 *   <li>any thread gives back, once, in any order ({@link #giveBack});
 *   <li>the pool's poll thread brings home in batches ({@link #drain}).
 * </ul>
 *
 * <p>Taking costs no atomic read-modify-write, giving back two. No operation allocates.
 */
public final class LoanBudget {
  public static final int LOANS_MAX = 1 << 20;

  private static final VarHandle OUT = MethodHandles.arrayElementVarHandle(int[].class);
  private static final int AT_HOME = 0;
  private static final int ON_LOAN = 1;

  private final BufferPool pool;
  private final int owner;
  private final int loans;
  private final int copies;
  private final int copyBytes;
  private final MemorySegment copyArea;

  private final HomeQueue loansHome;
  private final HomeQueue copiesHome;
  private final ReturnRing returned;

  /** Buffer of each loan; written at take, read at drain, ordered by the rings in between. */
  private final int[] bufferIds;

  /** Guards against giving back twice, which would lend one buffer to two. */
  private final int[] out;

  /**
   * @param owner the owner entry of lent buffers, of kind {@link Owner#LOAN}
   * @param loans pool buffers that may be out at a time, 0 to {@link #LOANS_MAX}
   * @param copies copies beyond those, 0 to {@link #LOANS_MAX}
   */
  public LoanBudget(BufferPool pool, int owner, int loans, int copies) {
    if (Owner.kind(owner) != Owner.LOAN) {
      throw new IllegalArgumentException(
          "loans are owned by LOAN, not by " + Owner.describe(owner));
    }
    if (loans < 0 || loans > LOANS_MAX || loans > pool.capacity()) {
      throw new IllegalArgumentException(
          "loan budget of %d buffers is not in 0..%d, the pool's capacity"
              .formatted(loans, Math.min(LOANS_MAX, pool.capacity())));
    }
    if (copies < 0 || copies > LOANS_MAX) {
      throw new IllegalArgumentException(
          "copy budget of %d messages is not in 0..%d".formatted(copies, LOANS_MAX));
    }
    this.pool = pool;
    this.owner = owner;
    this.loans = loans;
    this.copies = copies;
    this.copyBytes = pool.strideBytes();
    // Collected with the last reference to it: a copy may outlive its endpoint.
    this.copyArea = Arena.ofAuto().allocate(Math.max(1L, (long) copies * copyBytes), 64);
    this.loansHome = new HomeQueue(0, loans);
    this.copiesHome = new HomeQueue(loans, copies);
    this.returned = new ReturnRing(loans + copies);
    this.bufferIds = new int[loans];
    this.out = new int[loans + copies];
  }

  public int loans() {
    return loans;
  }

  public int copies() {
    return copies;
  }

  // ---- the endpoint's thread ------------------------------------------------------------------

  /**
   * Lends a buffer.
   *
   * @param fromOwner who owns it until now
   * @return the loan's number, or -1 when the budget is used up; then the buffer stays as it is
   */
  public int take(int bufferId, int fromOwner) {
    int loan = loansHome.take();
    if (loan >= 0) {
      pool.transfer(bufferId, fromOwner, owner);
      bufferIds[loan] = bufferId;
      out[loan] = ON_LOAN;
    }
    return loan;
  }

  /**
   * Copies a message out of the pool; its buffer stays the caller's.
   *
   * @param offset into the pool's memory
   * @param lengthBytes at most a frame
   * @return the loan's number, or -1 when this budget is used up too: refuse, and leave the message
   *     undelivered
   */
  public int takeCopy(long offset, int lengthBytes) {
    int loan = lengthBytes > copyBytes ? -1 : copiesHome.take();
    if (loan >= 0) {
      MemorySegment.copy(pool.memory(), offset, copyArea, copyOffset(loan), lengthBytes);
      out[loan] = ON_LOAN;
    }
    return loan;
  }

  /** The loan is a copy: it lies in {@link #copyArea()}, at {@link #copyOffset}. */
  public boolean isCopy(int loan) {
    return loan >= loans;
  }

  public MemorySegment copyArea() {
    return copyArea;
  }

  public long copyOffset(int loan) {
    return (long) (loan - loans) * copyBytes;
  }

  // ---- any thread -----------------------------------------------------------------------------

  /**
   * Gives a loan back. Wait-free.
   *
   * @throws IllegalStateException if it is not out: closed twice, by this thread or another
   */
  public void giveBack(int loan) {
    if (!OUT.compareAndSet(out, loan, ON_LOAN, AT_HOME)) {
      throw new IllegalStateException("loan " + loan + " was given back already");
    }
    returned.put(loan);
  }

  /** Loans and copies that are out: exact on a thread that takes and drains, else approximate. */
  public int outstanding() {
    return loans - loansHome.size() + copies - copiesHome.size();
  }

  // ---- the pool's poll thread -----------------------------------------------------------------

  /**
   * Brings returned loans home and releases their buffers.
   *
   * @return loans brought home, at most {@code limit}
   */
  public int drain(int limit) {
    int count = 0;
    while (count < limit) {
      int loan = returned.take();
      if (loan < 0) {
        break;
      }
      if (loan < loans) {
        pool.release(bufferIds[loan], owner);
        loansHome.put(loan);
      } else {
        copiesHome.put(loan);
      }
      count++;
    }
    return count;
  }
}
