package org.pmhxb.bufpool;

import java.lang.foreign.Arena;

/**
 * The pool's contract over plain off-heap memory, for tests and the simulator. Reference counts are
 * Java's own; a port over it holds and releases references as {@link Owner#PORT}.
 */
public final class OffHeapPool extends BufferPool {
  private final Arena arena;

  /** A stack: the buffer released last is the one whose lines are still in the cache. */
  private final int[] free;

  private int freeCount;
  private final int[] references;

  /**
   * Half of it at most is kept at hand once it was sent.
   *
   * @param strideBytes multiple of 128, 256 to 32,768
   * @param capacity buffers, 1 to {@link BufferPool#CAPACITY_MAX}
   */
  public static OffHeapPool create(int strideBytes, int capacity) {
    checkGeometry(strideBytes, capacity);
    return new OffHeapPool(Arena.ofShared(), strideBytes, capacity);
  }

  private OffHeapPool(Arena arena, int strideBytes, int capacity) {
    super(
        AnonymousMemory.map(regionBytes(strideBytes, capacity), arena),
        strideBytes,
        capacity,
        capacity / 2,
        false);
    this.arena = arena;
    this.references = new int[capacity + 1];
    this.free = new int[capacity];
    for (int id = capacity; id >= 1; id--) {
      free[freeCount++] = id;
    }
  }

  @Override
  int referencesInBacking(int id) {
    return references[id];
  }

  @Override
  int takeFree(int[] ids, int count) {
    int taken = Math.min(count, freeCount);
    for (int i = 0; i < taken; i++) {
      int id = free[--freeCount];
      references[id] = 1;
      ids[i] = id;
    }
    return taken;
  }

  @Override
  void dropReferences(int[] ids, int count) {
    for (int i = 0; i < count; i++) {
      int id = ids[i];
      if (--references[id] == 0) {
        free[freeCount++] = id;
      }
    }
  }

  @Override
  int recycle(int[] ids, int count, int keep) {
    int kept = 0;
    for (int i = 0; i < count; i++) {
      int id = ids[i];
      if (--references[id] == 0) {
        if (kept < keep) {
          references[id] = 1;
          ids[kept++] = id;
        } else {
          free[freeCount++] = id;
        }
      }
    }
    return kept;
  }

  @Override
  void addReference(int id) {
    references[id]++;
  }

  @Override
  int freeInBacking() {
    return freeCount;
  }

  @Override
  void closeBacking(boolean viewsLive) {
    if (!viewsLive) {
      arena.close();
    }
  }
}
