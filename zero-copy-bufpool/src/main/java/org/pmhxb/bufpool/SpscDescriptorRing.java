package org.pmhxb.bufpool;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * A bounded ring of 16-byte {@link Descriptor}s in native memory: one producer thread, one consumer
 * thread, in one process or two that map the same memory.
 *
 * <pre>
 * 0   produced:64    descriptors published ever (written by the producer)
 * 128 consumed:64    descriptors taken ever     (written by the consumer)
 * 256 slot[0] lo:64 hi:64 | slot[1] ...         capacity slots, native byte order
 * </pre>
 *
 * <p>Memory order: the producer writes slots plainly, then publishes them by R1, which pairs with
 * A1 at the consumer; the consumer reads slots plainly, then frees them by R2, which pairs with A2
 * at the producer. What a side wrote before its release (frame bytes, owner entries) is visible to
 * the other after its acquire. Indices never wrap: 2^63 descriptors.
 *
 * <p>Neither side trusts an index that the other process could have damaged: it is clamped to what
 * the ring can hold. Nothing here allocates, blocks or throws.
 */
public final class SpscDescriptorRing extends SpscPadAfter {
  public static final int CAPACITY_MAX = 1 << 24;

  private static final long PRODUCED_AT = 0;
  private static final long CONSUMED_AT = 128;
  private static final long SLOTS_AT = 256;
  private static final int SLOT_SHIFT = 4;
  private static final VarHandle INDEX = ValueLayout.JAVA_LONG.varHandle();

  /** Slots are aligned; an access that does not ask whether they are is an instruction less. */
  private static final ValueLayout.OfLong SLOT = ValueLayout.JAVA_LONG_UNALIGNED;

  /** In {@link Memory#ALL}: within the ring whatever an index says, since it is masked. */
  private final long address;

  private final int capacity;
  private final long mask;

  /** The ring's memory lives as long as this. */
  @SuppressWarnings("unused")
  private final MemorySegment keepAlive;

  /** Takes descriptors out of {@link #drain}. */
  @FunctionalInterface
  public interface Handler {
    void onDescriptor(long lo, long hi);
  }

  private SpscDescriptorRing(MemorySegment memory, int capacity) {
    this.address = memory.address();
    this.capacity = capacity;
    this.mask = capacity - 1L;
    this.keepAlive = memory;
    // Joining a ring that is in use: start from what was published.
    produced = (long) INDEX.getAcquire(Memory.ALL, indexAt(PRODUCED_AT));
    consumed = (long) INDEX.getAcquire(Memory.ALL, indexAt(CONSUMED_AT));
    consumedSeen = consumed;
    producedSeen = consumed;
  }

  /** An empty ring in memory of its own, which lives as long as the ring. */
  public static SpscDescriptorRing create(int capacity) {
    return new SpscDescriptorRing(Arena.ofAuto().allocate(bytes(capacity), 128), capacity);
  }

  /**
   * The ring that lies at {@code memory}, with what it holds; zeroed memory is an empty ring.
   *
   * @param memory at least {@link #bytes} long, 8-byte aligned, alive as long as the ring is used
   */
  public static SpscDescriptorRing over(MemorySegment memory, int capacity) {
    if (memory.byteSize() < bytes(capacity)) {
      throw new IllegalArgumentException(
          "a ring of %d descriptors needs %d B, not %d B"
              .formatted(capacity, bytes(capacity), memory.byteSize()));
    }
    if (!memory.isNative() || memory.isReadOnly() || (memory.address() & 7) != 0) {
      throw new IllegalArgumentException(
          "a ring needs native memory that can be written, aligned to 8 B, not " + memory);
    }
    return new SpscDescriptorRing(memory, capacity);
  }

  /** Memory that a ring needs. */
  public static long bytes(int capacity) {
    if (Integer.bitCount(capacity) != 1 || capacity < 1 || capacity > CAPACITY_MAX) {
      throw new IllegalArgumentException(
          "ring capacity of %d descriptors is not a power of two in 1..%d"
              .formatted(capacity, CAPACITY_MAX));
    }
    return SLOTS_AT + (long) capacity * Descriptor.BYTES;
  }

  public int capacity() {
    return capacity;
  }

  // ---- producer -------------------------------------------------------------------------------

  /** Publishes one descriptor; false when the ring is full. Producer. */
  public boolean offer(long lo, long hi) {
    long index = produced;
    if (index - consumedSeen >= capacity && room() == 0) {
      return false;
    }
    put(index, lo, hi);
    publish(index + 1);
    return true;
  }

  /**
   * Where the next descriptor is to be written, for {@link #stage}: the consumer sees it after
   * {@link #publish(int)}. Producer.
   */
  public long staging() {
    return slotAt(produced);
  }

  /** Descriptors that can be staged side by side: what fits, up to the ring's end. Producer. */
  public int stagingRoom() {
    return Math.min(room(), capacity - (int) (produced & mask));
  }

  /**
   * Writes a descriptor.
   *
   * @param slot {@link #staging()} or one of the {@link #stagingRoom()} - 1 slots {@link #behind}
   */
  public static void stage(long slot, long lo, long hi) {
    Memory.ALL.set(SLOT, slot, lo);
    Memory.ALL.set(SLOT, slot + Long.BYTES, hi);
  }

  /**
   * The i-th slot behind one, within {@link #stagingRoom()} or {@link #untilEnd}. When a loop
   * counts {@code i} from 0 and {@link Memory#known} made {@code slot}, no access is checked.
   */
  public static long behind(long slot, int i) {
    return slot + ((long) i << SLOT_SHIFT);
  }

  /** First word of the descriptor in a slot; the side that may read it. */
  public static long lo(long slot) {
    return Memory.ALL.get(SLOT, slot);
  }

  /** Second word of the descriptor in a slot. */
  public static long hi(long slot) {
    return Memory.ALL.get(SLOT, slot + Long.BYTES);
  }

  /** Publishes the first {@code count} of what was staged, at once. Producer. */
  public void publish(int count) {
    assert count >= 0 && produced + count - consumedSeen <= capacity : count;
    publish(produced + count);
  }

  /**
   * Publishes a prefix of {@code count} descriptors at once, from pairs (lo, hi) that begin at
   * {@code pairs[2 * from]}. Producer.
   *
   * @return descriptors taken; the caller keeps the rest
   */
  public int offer(long[] pairs, int from, int count) {
    long index = produced;
    int room = (int) (capacity - (index - consumedSeen));
    if (room < count) {
      room = room();
    }
    int taken = Math.min(room, count);
    for (int i = 0; i < taken; i++) {
      int pair = 2 * (from + i);
      put(index + i, pairs[pair], pairs[pair + 1]);
    }
    if (taken > 0) {
      publish(index + taken);
    }
    return taken;
  }

  /** Descriptors that fit now. Producer. */
  public int room() {
    // A2: pairs with R2; the consumer has read the slots that it frees.
    long seen = (long) INDEX.getAcquire(Memory.ALL, indexAt(CONSUMED_AT));
    long used = produced - seen;
    if (used < 0 || used > capacity) {
      return (int) (capacity - (produced - consumedSeen));
    }
    consumedSeen = seen;
    return (int) (capacity - used);
  }

  private void put(long index, long lo, long hi) {
    long at = slotAt(index);
    Memory.ALL.set(SLOT, at, lo);
    Memory.ALL.set(SLOT, at + Long.BYTES, hi);
  }

  private void publish(long index) {
    produced = index;
    // R1: publishes the slots and all that the producer wrote before; pairs with A1 in look().
    INDEX.setRelease(Memory.ALL, indexAt(PRODUCED_AT), index);
  }

  // ---- consumer -------------------------------------------------------------------------------

  /**
   * Descriptors that can be read by {@link #peekLo} and {@link #peekHi} until {@link #advance}.
   * Consumer.
   */
  public int size() {
    return (int) (look() - consumed);
  }

  /**
   * The slot of the i-th waiting descriptor, for a loop over those {@link #behind} it. Consumer.
   */
  public long slot(int i) {
    return slotAt(consumed + i);
  }

  /** Slots from the i-th waiting descriptor's on that lie side by side. Consumer. */
  public int untilEnd(int i) {
    return capacity - (int) (consumed + i & mask);
  }

  /** First word of the i-th waiting descriptor, {@code 0 <= i < size()}. Consumer. */
  public long peekLo(int i) {
    return Memory.ALL.get(SLOT, slotAt(consumed + i));
  }

  /** Second word of the i-th waiting descriptor. Consumer. */
  public long peekHi(int i) {
    return Memory.ALL.get(SLOT, slotAt(consumed + i) + Long.BYTES);
  }

  /** Frees the slots of the first {@code count} waiting descriptors. Consumer. */
  public void advance(int count) {
    free(count);
    consumed += count;
  }

  /**
   * Frees the slots of the first {@code count} waiting descriptors ahead of an {@link #advance} by
   * as many or more: until that, the ones behind them keep their places for {@link #peekLo} and
   * {@link #peekHi}, and {@link #size} does not grow. Not by fewer than before. Consumer.
   */
  public void free(int count) {
    assert count >= 0 && count <= producedSeen - consumed : count;
    // R2: the slots may be overwritten now; pairs with A2 in room().
    INDEX.setRelease(Memory.ALL, indexAt(CONSUMED_AT), consumed + count);
  }

  /** Takes one descriptor into {@link #lo()} and {@link #hi()}; false when none waits. Consumer. */
  public boolean poll() {
    if (producedSeen == consumed && look() == consumed) {
      return false;
    }
    long at = slotAt(consumed);
    lo = Memory.ALL.get(SLOT, at);
    hi = Memory.ALL.get(SLOT, at + Long.BYTES);
    advance(1);
    return true;
  }

  /** First word of what {@link #poll} took. Consumer. */
  public long lo() {
    return lo;
  }

  /** Second word of what {@link #poll} took. Consumer. */
  public long hi() {
    return hi;
  }

  /**
   * Hands over what waits, at most {@code limit}, and frees the slots as one batch. A descriptor
   * whose handler throws counts as taken, those after it wait. Consumer.
   *
   * @return descriptors handed over
   */
  public int drain(Handler handler, int limit) {
    int count = Math.min(size(), limit);
    int done = 0;
    try {
      while (done < count) {
        long at = slotAt(consumed + done++);
        handler.onDescriptor(Memory.ALL.get(SLOT, at), Memory.ALL.get(SLOT, at + Long.BYTES));
      }
    } finally {
      if (done > 0) {
        advance(done);
      }
    }
    return done;
  }

  /** Hands over all that waits now. Consumer. */
  public int drain(Handler handler) {
    return drain(handler, capacity);
  }

  private long indexAt(long offset) {
    // Aligned, as it is: else each access would ask.
    return Memory.known(address + offset) & -Long.BYTES;
  }

  private long slotAt(long index) {
    return Memory.known(address + SLOTS_AT + ((index & mask) << SLOT_SHIFT));
  }

  private long look() {
    // A1: pairs with R1; slots below this index are complete.
    long seen = (long) INDEX.getAcquire(Memory.ALL, indexAt(PRODUCED_AT));
    long waiting = seen - consumed;
    if (waiting >= 0 && waiting <= capacity) {
      producedSeen = seen;
    }
    return producedSeen;
  }
}
