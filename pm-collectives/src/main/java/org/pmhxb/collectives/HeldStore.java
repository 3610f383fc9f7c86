package org.pmhxb.collectives;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.pmhxb.pm.Message;

/**
 * Keeps messages that came before their turn. Long ones stay in the buffer that they came in as
 * long as the endpoint lends buffers; small ones and what comes beyond are copied into slots, made
 * as they are needed and used again. How many there can be is bounded by what partners may send
 * unasked ({@link CollectiveLimits#windowBytes}); a slot is at most twice what its message counts
 * for there. Each size keeps as many as it ever needed at a time, until a group is left ({@link
 * #trim}). Owner: the endpoint's thread.
 */
final class HeldStore {
  /** Copying less costs less than a loan. */
  private static final int LEAST_LOAN_BYTES = 1_024;

  /** By length: of 64 bytes, 128, 256, ... to the longest message. */
  private final Slots[] slots;

  private Held spare;
  private long heldBytes;
  private long copies;
  private long loans;

  HeldStore(int frameBytes) {
    slots = new Slots[sizeOf(frameBytes) + 1];
    Arrays.setAll(slots, size -> new Slots(Slots.LEAST_BYTES << size));
  }

  private static int sizeOf(int lengthBytes) {
    return Integer.SIZE - Integer.numberOfLeadingZeros((lengthBytes - 1) / Slots.LEAST_BYTES);
  }

  /** Keeps the message that is being handled. */
  Held keep(Message m) {
    Held held = spare == null ? new Held() : spare;
    spare = held.next;
    held.next = null;
    held.sourceNode = m.source();
    held.lengthBytes = m.lengthBytes();
    held.slot = -1;
    held.loan = m.lengthBytes() < LEAST_LOAN_BYTES || m.isCoalesced() ? null : m.retain();
    if (held.loan == null) {
      slots[sizeOf(held.lengthBytes)].take(held);
      MemorySegment.copy(m.memory(), m.offset(), held.memory, held.at, held.lengthBytes);
      copies++;
    } else {
      held.memory = held.loan.memory();
      held.at = held.loan.offset();
      loans++;
    }
    heldBytes += held.lengthBytes;
    return held;
  }

  /** A message was used, or is not wanted any more. */
  void release(Held held) {
    heldBytes -= held.lengthBytes;
    if (held.loan == null) {
      slots[sizeOf(held.lengthBytes)].giveBack(held.slot);
    } else {
      held.loan.close();
      held.loan = null;
    }
    held.memory = null;
    held.next = spare;
    spare = held;
  }

  /**
   * Gives back slots that were made for more than waits now: of each size of which none is in use
   * all but {@link Slots#PER_SLAB}. For rare events: what is needed again is made again.
   */
  void trim() {
    for (Slots size : slots) {
      size.trim();
    }
    spare = null;
  }

  /** Bytes of messages that wait. */
  long heldBytes() {
    return heldBytes;
  }

  /** Bytes of all slots that were made. */
  long slotBytes() {
    return Arrays.stream(slots).mapToLong(Slots::bytes).sum();
  }

  /** Messages that were copied because they came early, so far. */
  long copies() {
    return copies;
  }

  /** Messages that were kept in their buffers because they came early, so far. */
  long loans() {
    return loans;
  }

  /** Memory for copies of one size. */
  private static final class Slots {
    static final int LEAST_BYTES = 64;
    private static final int PER_SLAB = 64;

    private final int slotBytes;
    private final List<MemorySegment> slabs = new ArrayList<>();
    private int[] free = new int[PER_SLAB];
    private int freeCount;

    Slots(int slotBytes) {
      this.slotBytes = slotBytes;
    }

    void take(Held held) {
      if (freeCount == 0) {
        grow();
      }
      held.slot = free[--freeCount];
      held.memory = slabs.get(held.slot / PER_SLAB);
      held.at = (long) (held.slot % PER_SLAB) * slotBytes;
    }

    private void grow() {
      int first = slabs.size() * PER_SLAB;
      // Freed by the collector when trim() has dropped it, or with all of this.
      slabs.add(Arena.ofAuto().allocate((long) PER_SLAB * slotBytes, 64));
      free = Arrays.copyOf(free, slabs.size() * PER_SLAB);
      for (int i = PER_SLAB - 1; i >= 0; i--) {
        free[freeCount++] = first + i;
      }
    }

    void giveBack(int slot) {
      free[freeCount++] = slot;
    }

    void trim() {
      if (slabs.size() > 1 && freeCount == slabs.size() * PER_SLAB) {
        MemorySegment first = slabs.getFirst();
        slabs.clear();
        slabs.add(first);
        free = IntStream.range(0, PER_SLAB).toArray();
        freeCount = PER_SLAB;
      }
    }

    long bytes() {
      return (long) slabs.size() * PER_SLAB * slotBytes;
    }
  }
}
