package org.pmhxb.bufpool;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The loan numbers that are at home, oldest first: one thread puts (the pool's poll thread), one
 * takes (the endpoint's thread). Never full: there are no more numbers than slots. Begins with all
 * numbers from {@code first} on.
 */
final class HomeQueue {
  private static final VarHandle INDEX = MethodHandles.arrayElementVarHandle(long[].class);
  private static final int PUT_AT = 16;

  private final int[] slots;
  private final int mask;

  /** Numbers put ever, alone on its cache lines. */
  private final long[] published = new long[33];

  /** Owner: the putting thread. */
  private long put;

  /** Owner: the taking thread, with {@link #putSeen}. */
  private long taken;

  private long putSeen;

  HomeQueue(int first, int count) {
    int size = Integer.highestOneBit(Math.max(1, count * 2 - 1));
    slots = new int[size];
    mask = size - 1;
    for (int i = 0; i < count; i++) {
      slots[i] = first + i;
    }
    put = count;
    INDEX.setRelease(published, PUT_AT, put);
  }

  void put(int number) {
    slots[(int) put & mask] = number;
    // R2: publishes the number, and that ReturnRing's slot is empty; pairs with A2 in take().
    INDEX.setRelease(published, PUT_AT, ++put);
  }

  /** A number, or -1 when all are out. */
  int take() {
    if (taken == putSeen) {
      // A2: pairs with R2.
      putSeen = (long) INDEX.getAcquire(published, PUT_AT);
      if (taken == putSeen) {
        return -1;
      }
    }
    return slots[(int) taken++ & mask];
  }

  /** Numbers at home, approximate. Any thread. */
  int size() {
    return (int) ((long) INDEX.getAcquire(published, PUT_AT) - taken);
  }
}
