package org.pmhxb.bufpool;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.BitSet;

/**
 * Finds writes after release: fills a buffer with poison when its last reference is dropped, and
 * looks again before the batch goes home, while no driver can have touched it. Owner: the poll
 * thread.
 *
 * <p>On under assertions (first {@value #ASSERTED_BYTES} bytes of the frame, no traces) and with
 * {@code -Dhxb.pool.debug=true} (whole frame, release stack traces; tens of times slower).
 */
final class PoolGuard {
  static final String DEBUG_PROPERTY = "hxb.pool.debug";

  private static final int ASSERTED_BYTES = 64;
  private static final long POISON = 0xDEAD_F2EE_DEAD_F2EEL;
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;

  private final BufferPool pool;
  private final int poisonBytes;
  private final BitSet poisoned;

  /** By ID; null unless in debug mode. */
  private final Throwable[] releases;

  private PoolGuard(BufferPool pool, boolean debug) {
    this.pool = pool;
    this.poisonBytes = debug ? pool.frameCapacityBytes() : ASSERTED_BYTES;
    this.poisoned = new BitSet(pool.capacity() + 1);
    this.releases = debug ? new Throwable[pool.capacity() + 1] : null;
  }

  static PoolGuard ifEnabled(BufferPool pool) {
    return isOn() ? new PoolGuard(pool, isDebugging()) : null;
  }

  /** Whether pools that are made now have one. */
  static boolean isOn() {
    return isDebugging() || BufferPool.class.desiredAssertionStatus();
  }

  private static boolean isDebugging() {
    return Boolean.getBoolean(DEBUG_PROPERTY);
  }

  /** A live buffer again, by allocation or by a receive burst. */
  void received(int id) {
    poisoned.clear(id);
  }

  /**
   * @param lastInJava no Java code has a reference any more; a driver may
   */
  void released(int id, int owner, boolean lastInJava) {
    if (releases != null) {
      releases[id] =
          new Throwable("buffer " + id + " was last released here, by " + Owner.describe(owner));
    }
    // A driver that still sends the frame must not find poison in it.
    if (lastInJava && pool.referencesInBacking(id) == 1) {
      MemorySegment memory = pool.memory();
      long at = pool.frameAt(id);
      for (int i = 0; i < poisonBytes; i += Long.BYTES) {
        memory.set(LONG, at + i, POISON);
      }
      poisoned.set(id);
    }
  }

  /**
   * @return the first misuse found, for the caller to throw when the batch is home
   */
  PoolMisuseError checkBeforeHome(int[] ids, int count) {
    PoolMisuseError found = null;
    for (int i = 0; i < count; i++) {
      int id = ids[i];
      if (poisoned.get(id)) {
        poisoned.clear(id);
        int damagedAt = firstDamage(id);
        if (damagedAt >= 0 && found == null) {
          found =
              new PoolMisuseError(
                  "buffer %d was written after release, at frame byte %d".formatted(id, damagedAt),
                  lastRelease(id));
        }
      }
    }
    return found;
  }

  private int firstDamage(int id) {
    MemorySegment memory = pool.memory();
    long at = pool.frameAt(id);
    for (int i = 0; i < poisonBytes; i += Long.BYTES) {
      if (memory.get(LONG, at + i) != POISON) {
        return i;
      }
    }
    return -1;
  }

  Throwable lastRelease(int id) {
    return releases == null ? null : releases[id];
  }
}
