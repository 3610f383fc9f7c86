package org.pmhxb.pm.flow;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Puts the frames of one peer in order without a lock, although they came over several rails (paper
 * section 3.3; PROTOCOL.md section 5.2).
 *
 * <p>Slot {@code seq mod n} is one 64-bit word: the sequence number it expects or holds (high half)
 * and the buffer ID (low half, 0 = empty). An empty slot stores the number that it expects, so a
 * late insert of a stalled thread, or of a late original whose resend was consumed, fails.
 *
 * <p>Writers: {@link #insert} any number of threads; {@link #insertOwned}, {@link #take}, {@link
 * #clear} the peer's owner thread alone. {@code insertOwned}, {@link #passOwned} and {@link
 * #passTo} may be used only while the owner is the only inserter: the last two leave slots behind
 * that expect numbers long gone, which the owner does not look at and another thread would.
 */
public final class SequenceArray {
  /** Results of an insert: a buffer that was not {@code INSERTED} stays the caller's. */
  public static final int INSERTED = 0;

  public static final int DUPLICATE = 1;
  public static final int OUT_OF_WINDOW = 2;

  private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(long[].class);

  private final long[] slots;
  private final int mask;

  /** Owner thread only: the next sequence number to take. */
  private int next;

  /**
   * @param size slots, a power of two, 2 to 65,536
   * @param firstSeq the first sequence number expected
   */
  public SequenceArray(int size, int firstSeq) {
    if (Integer.bitCount(size) != 1 || size < 2 || size > 65_536) {
      throw new IllegalArgumentException(
          "sequence array of " + size + " slots: must be a power of two in 2..65536");
    }
    slots = new long[size];
    mask = size - 1;
    next = firstSeq;
    for (int i = 0; i < size; i++) {
      int seq = firstSeq + i;
      slots[seq & mask] = entry(seq, 0);
    }
  }

  private static long entry(int seq, int id) {
    return (long) seq << 32 | id;
  }

  public int size() {
    return slots.length;
  }

  /** The next sequence number to take. Owner thread. */
  public int next() {
    return next;
  }

  /**
   * Whether the number is the next to take or one of those that may come before it. Owner thread.
   */
  public boolean isInWindow(int seq) {
    int ahead = seq - next;
    return ahead >= 0 && ahead < slots.length;
  }

  /**
   * Inserts from any thread: one compare-and-set.
   *
   * @param id buffer ID, 1 or above
   */
  public int insert(int seq, int id) {
    int slot = seq & mask;
    // R1: publishes the frame's bytes and its buffer; pairs with A1 in take().
    long witness =
        (long) SLOT.compareAndExchangeRelease(slots, slot, entry(seq, 0), entry(seq, id));
    return witness == entry(seq, 0) ? INSERTED : refusal(seq, witness);
  }

  /**
   * Inserts from the owner thread while it is the only inserter: a plain load and store. What the
   * slot expects is known from {@link #next} then; all that counts is whether it is empty.
   */
  public int insertOwned(int seq, int id) {
    int ahead = seq - next;
    if (ahead < 0 || ahead >= slots.length) {
      return ahead < 0 ? DUPLICATE : OUT_OF_WINDOW;
    }
    int slot = seq & mask;
    if ((int) slots[slot] != 0) {
      return DUPLICATE;
    }
    slots[slot] = entry(seq, id);
    return INSERTED;
  }

  /**
   * {@link #insertOwned} and {@link #take} in one for the frame whose turn it is: it need not be
   * stored. Owner thread while it is the only inserter.
   *
   * @return false when it is not this frame's turn; nothing was changed then
   */
  public boolean passOwned(int seq) {
    // Masked by the length itself, which lets the compiler leave out the bounds check.
    long[] array = slots;
    if (seq != next || (int) array[seq & array.length - 1] != 0) {
      return false;
    }
    next = seq + 1;
    return true;
  }

  /**
   * {@link #passOwned} of all frames before a number, when the caller knows that they came in turn
   * and that nothing waits in the array: of a peer whose frames come in turn neither array nor
   * slots are looked at for each. Owner thread while it is the only inserter.
   *
   * @param seq the next sequence number to take, not before {@link #next}
   */
  public void passTo(int seq) {
    assert !Serial.before(seq, next) && (int) slots[next & mask] == 0 : next + " to " + seq;
    next = seq;
  }

  private static int refusal(int seq, long held) {
    // The slot expects or holds an earlier number: seq lies a whole array or more ahead.
    return Serial.after(seq, (int) (held >>> 32)) ? OUT_OF_WINDOW : DUPLICATE;
  }

  /**
   * Takes the next frame in order, and opens its slot for the number one array length ahead. Owner
   * thread.
   *
   * @return buffer ID, or 0 while the next frame is missing
   */
  public int take() {
    int slot = next & mask;
    // A1: sees what R1 published.
    int id = (int) (long) SLOT.getAcquire(slots, slot);
    if (id == 0) {
      return 0;
    }
    // R2: the slot is free for the next generation, behind the frame taken from it. No acquire
    // pairs with it: insert() reads nothing of the owner's but the slot itself.
    SLOT.setRelease(slots, slot, entry(next + slots.length, 0));
    next++;
    return id;
  }

  /** Whether a frame waits at {@code seq}. Owner thread; inserters may run. */
  public boolean holds(int seq) {
    long held = (long) SLOT.getAcquire(slots, seq & mask);
    return (int) (held >>> 32) == seq && (int) held != 0;
  }

  /**
   * Buffer ID of the frame that waits in a slot, 0 to {@link #size} - 1; 0: none. Owner thread
   * while it is the only inserter.
   */
  public int inSlot(int slot) {
    return (int) slots[slot];
  }

  /**
   * How many frames wait, the next in turn among them: by a look at each slot, for checks. Owner
   * thread while it is the only inserter.
   */
  public int waiting() {
    long sum = 0;
    for (long held : slots) {
      // 1 of each low half that is not 0, without a branch: the compiler takes several at a time.
      sum += (held & 0xFFFF_FFFFL) + 0xFFFF_FFFFL >>> 32;
    }
    return (int) sum;
  }

  /**
   * Removes the frame that waits in a slot, 0 to {@link #size} - 1, in or out of order, when the
   * session ends. Owner thread, after all inserters have left.
   *
   * @return buffer ID, or 0: none
   */
  public int clear(int slot) {
    int id = (int) slots[slot];
    if (id != 0) {
      slots[slot] = entry((int) (slots[slot] >>> 32) + slots.length, 0);
    }
    return id;
  }
}
