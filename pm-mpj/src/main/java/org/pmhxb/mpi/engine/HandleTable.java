package org.pmhxb.mpi.engine;

import java.util.Arrays;

/**
 * Operations by a number that goes over the wire: slot and generation, so that a late or forged
 * number finds nothing. Owner: the poll thread.
 */
final class HandleTable<T> {
  private static final int SLOT_BITS = 20;
  private static final int SLOT_MASK = (1 << SLOT_BITS) - 1;

  /** Operations that a table holds: slot 0 is none. A rank has no more sends that wait. */
  static final int MOST = SLOT_MASK;

  private Object[] values = new Object[16];
  private int[] generations = new int[16];
  private int[] free = new int[16];
  private int freeCount;
  private int used = 1;

  /** A handle, never 0; 0 when the table is full ({@value #MOST} operations). */
  int add(T value) {
    int slot = freeCount > 0 ? free[--freeCount] : fresh();
    if (slot == 0) {
      return 0;
    }
    values[slot] = value;
    return generations[slot] << SLOT_BITS | slot;
  }

  private int fresh() {
    if (used > SLOT_MASK) {
      return 0;
    }
    if (used == values.length) {
      values = Arrays.copyOf(values, used * 2);
      generations = Arrays.copyOf(generations, used * 2);
      free = Arrays.copyOf(free, used * 2);
    }
    return used++;
  }

  /** Null for a number that stands for nothing. */
  @SuppressWarnings("unchecked")
  T get(int handle) {
    int slot = handle & SLOT_MASK;
    boolean known = slot > 0 && slot < used && generations[slot] == handle >>> SLOT_BITS;
    return known ? (T) values[slot] : null;
  }

  void remove(int handle) {
    int slot = handle & SLOT_MASK;
    values[slot] = null;
    generations[slot] = generations[slot] + 1 & 0xFFF;
    free[freeCount++] = slot;
  }

  /** Looks at every one: for rare events. */
  void forEach(java.util.function.Consumer<T> action) {
    for (int slot = 1; slot < used; slot++) {
      @SuppressWarnings("unchecked")
      T value = (T) values[slot];
      if (value != null) {
        action.accept(value);
      }
    }
  }
}
