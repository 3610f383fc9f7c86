package org.pmhxb.collectives;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.pmhxb.pm.Message;

/**
 * Keeps messages that came before their turn. Long ones stay in the buffer that they came in as
 * long as the endpoint lends buffers; small ones and what comes beyond are copied into slots, made
 * as they are needed and used again. How many there can be is bounded by what partners may send
 * unasked ({@link CollectiveLimits#windowBytes}). Owner: the endpoint's thread.
 */
final class HeldStore {
  /** Copying less costs less than a loan. */
  private static final int LEAST_LOAN_BYTES = 1_024;

  private static final int SLOTS_PER_SLAB = 64;

  private final int slotBytes;
  private final List<MemorySegment> slabs = new ArrayList<>();
  private int[] free = new int[SLOTS_PER_SLAB];
  private int freeCount;
  private Held spare;
  private long heldBytes;
  private long copies;
  private long loans;

  HeldStore(int frameBytes) {
    this.slotBytes = frameBytes + 63 & -64;
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
      held.slot = takeSlot();
      held.memory = slabs.get(held.slot / SLOTS_PER_SLAB);
      held.at = (long) (held.slot % SLOTS_PER_SLAB) * slotBytes;
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

  private int takeSlot() {
    if (freeCount == 0) {
      int first = slabs.size() * SLOTS_PER_SLAB;
      // Freed by the collector with the communicators that it served.
      slabs.add(Arena.ofAuto().allocate((long) SLOTS_PER_SLAB * slotBytes, 64));
      free = Arrays.copyOf(free, slabs.size() * SLOTS_PER_SLAB);
      for (int i = SLOTS_PER_SLAB - 1; i >= 0; i--) {
        free[freeCount++] = first + i;
      }
    }
    return free[--freeCount];
  }

  /** A message was used, or is not wanted any more. */
  void release(Held held) {
    heldBytes -= held.lengthBytes;
    if (held.loan == null) {
      free[freeCount++] = held.slot;
    } else {
      held.loan.close();
      held.loan = null;
    }
    held.memory = null;
    held.next = spare;
    spare = held;
  }

  /** Bytes of messages that wait. */
  long heldBytes() {
    return heldBytes;
  }

  /** Messages that were copied because they came early, so far. */
  long copies() {
    return copies;
  }

  /** Messages that were kept in their buffers because they came early, so far. */
  long loans() {
    return loans;
  }
}
