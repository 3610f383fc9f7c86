package org.pmhxb.router;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.pmhxb.bufpool.Memory;

/**
 * What a relay found out about the flows that pass it, so that the next frame of one costs three
 * comparisons and three stores instead of the arithmetic of {@link DimensionOrderRouting}.
 * Direct-mapped: a flow that finds its place taken takes it over. Owner: the node's poll thread.
 *
 * <p>A line for each flow, in native memory, where an index that is masked needs no check; words of
 * frames as they lie there.
 *
 * <pre>
 *  0 ingress rail:8 | src:24 | 0:8 | dst:24     what a frame must say: all that its way depends on
 *  8 path:32 | egress rail:32
 * 16 bytes 16-23 of the last frame that went on, 56 bytes 12-15: as received
 * 24 bytes 0-7, 32 bytes 8-15, 40 bytes 16-23   of that frame, as it went on
 * 48 bytes 8-15 without version and hop limit, as a number
 * </pre>
 *
 * <p>The neighbours' addresses change when {@link Discovery} learns: {@link #keepOnly}.
 */
final class TransitCache {
  /** 16 KB: flows beyond that are found by arithmetic, as all were. */
  private static final int ENTRIES_LOG2 = 8;

  private static final int ENTRY_LOG2 = 6;
  private static final int PATH = 8;
  private static final int EGRESS = 12;
  private static final int REST = 16;
  private static final int FRONT = 24;
  private static final int BASE = 48;
  private static final int HOP = 56;

  /** No rail has this number. */
  private static final long EMPTY = -1L;

  /** 2^64 divided by the golden ratio: the high bits of a product depend on all of the factor. */
  private static final long MIX = 0x9E37_79B9_7F4A_7C15L;

  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;

  private final long block;

  /** Keeps the memory as long as the cache: simulations make many nodes. */
  @SuppressWarnings("unused")
  private final MemorySegment keepAlive;

  /** State of the neighbour table that all entries were found with. */
  private int neighbours;

  TransitCache() {
    this.keepAlive = Arena.ofAuto().allocate(1L << ENTRIES_LOG2 + ENTRY_LOG2, 64);
    this.block = keepAlive.address();
    clear();
  }

  private void clear() {
    for (int i = 0; i < 1 << ENTRIES_LOG2; i++) {
      Memory.ALL.set(LONG, block + ((long) i << ENTRY_LOG2), EMPTY);
    }
  }

  /**
   * Forgets what was found with another state of the neighbour table.
   *
   * @param changes the count of its changes
   */
  void keepOnly(int changes) {
    if (neighbours != changes) {
      neighbours = changes;
      clear();
    }
  }

  /** Where the entry of a flow is, or would be. */
  long placeOf(long key, int path) {
    long place = (key + path * MIX) * MIX >>> 64 - ENTRIES_LOG2;
    return Memory.known(block) + (place << ENTRY_LOG2);
  }

  /** Whether the flow's entry is there. */
  static boolean isOf(long place, long key, int path) {
    return isOf(place, key) && Memory.ALL.get(INT, place + PATH) == path;
  }

  /** The same when it is known that the path is the entry's. */
  static boolean isOf(long place, long key) {
    return Memory.ALL.get(LONG, place) == key;
  }

  /** Enters a flow's way; no frame of it has gone on. */
  static void put(long place, long key, int path, int egressRail, long front0, long base) {
    Memory.ALL.set(LONG, place, key);
    Memory.ALL.set(INT, place + PATH, path);
    Memory.ALL.set(INT, place + EGRESS, egressRail);
    Memory.ALL.set(INT, place + HOP, 0);
    Memory.ALL.set(LONG, place + FRONT, front0);
    Memory.ALL.set(LONG, place + BASE, base);
  }

  /** A frame of the flow goes on. */
  static void passes(long place, int hop, long rest, long front1, long front2) {
    Memory.ALL.set(INT, place + HOP, hop);
    Memory.ALL.set(LONG, place + REST, rest);
    Memory.ALL.set(LONG, place + FRONT + 8, front1);
    Memory.ALL.set(LONG, place + FRONT + 16, front2);
  }

  static int egressRail(long place) {
    return Memory.ALL.get(INT, place + EGRESS);
  }

  /**
   * Whether a frame says in its hop part what the last one said that went on.
   *
   * @param hop bytes 12-15
   * @param rest bytes 16-23, the path among them
   */
  static boolean saysTheSame(long place, int hop, long rest) {
    // No frame says 0 in its EtherType, so none has gone on where that stands.
    return Memory.ALL.get(INT, place + HOP) == hop && Memory.ALL.get(LONG, place + REST) == rest;
  }

  static long front0(long place) {
    return Memory.ALL.get(LONG, place + FRONT);
  }

  static long front1(long place) {
    return Memory.ALL.get(LONG, place + FRONT + 8);
  }

  static long front2(long place) {
    return Memory.ALL.get(LONG, place + FRONT + 16);
  }

  static long base(long place) {
    return Memory.ALL.get(LONG, place + BASE);
  }
}
