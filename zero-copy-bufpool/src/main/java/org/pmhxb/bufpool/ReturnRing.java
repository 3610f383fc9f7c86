package org.pmhxb.bufpool;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * Brings loan numbers home: any thread returns, one thread drains.
 *
 * <p>Many producers, because a loan may be closed by any thread; a single-producer ring per thread
 * would have to be found or made at close, and threads come and go. It is never full: at most
 * {@code capacity} loans are out, and a loan's slot is free again before its number goes out again.
 * So a return is one fetch-and-add and one store, with no retry. Returns come home in the order of
 * their tickets; a thread that is stopped between the two steps delays those behind it, not the
 * receive path.
 */
final class ReturnRing {
  private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(int[].class);
  private static final VarHandle TICKET = MethodHandles.arrayElementVarHandle(long[].class);
  private static final int EMPTY = -1;

  private final int[] slots;
  private final int mask;

  /** Next ticket, alone on its cache lines (64-bit words 16 away from either end). */
  private final long[] tickets = new long[33];

  private static final int TICKET_AT = 16;

  /** Owner: the draining thread. */
  private long drained;

  /**
   * @param capacity most numbers that are out at a time, at least 1
   */
  ReturnRing(int capacity) {
    int size = Integer.highestOneBit(Math.max(1, capacity * 2 - 1));
    slots = new int[size];
    mask = size - 1;
    Arrays.fill(slots, EMPTY);
  }

  /** Returns a number, 0 or more. Any thread. */
  void put(int number) {
    // A3/R3: a full read-modify-write. Some ticket up to this one belongs to a number that went out
    // after the slot's last user was drained (HomeQueue R2/A2), so that drain is ordered before us
    // even if our own number has been out for long.
    long ticket = (long) TICKET.getAndAdd(tickets, TICKET_AT, 1L);
    // R1: publishes the number and the closer's last reads of the buffer; pairs with A1 in take().
    SLOT.setRelease(slots, (int) ticket & mask, number);
  }

  /** The next number, or -1 when none is complete. Draining thread. */
  int take() {
    int slot = (int) drained & mask;
    // A1: pairs with R1.
    int number = (int) SLOT.getAcquire(slots, slot);
    if (number != EMPTY) {
      // Plain: whoever writes this slot next is ordered after it by the chain named at R3.
      slots[slot] = EMPTY;
      drained++;
    }
    return number;
  }
}
