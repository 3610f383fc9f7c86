package org.pmhxb.pm.flow;

/**
 * Frames that were accepted for sending and have no sequence number yet: they wait for the end of
 * the round, a session, room in the window or a path (PROTOCOL.md section 5.3). Lists of buffers,
 * linked by their IDs, so that any number of lists shares one table and none of them allocates.
 * Owner: the poll thread.
 *
 * <pre>
 * word 0   next:24 (low) | flags:8 | payloadBytes:16 | messages:16
 * word 1   lane:32 (low)
 * </pre>
 */
public final class PendingFrames {
  private static final long NEXT_MASK = 0xFF_FFFFL;
  private static final int FLAGS_SHIFT = 24;
  private static final int BYTES_SHIFT = 32;
  private static final int MESSAGES_SHIFT = 48;
  private static final long STAYS_AT_GROWTH = (1L << BYTES_SHIFT) - 1;

  private final long[] records;

  /**
   * @param capacity largest buffer ID
   */
  public PendingFrames(int capacity) {
    records = new long[2 * (capacity + 1)];
  }

  /** Enters a frame of one message behind {@code last}, the end of its list; 0 begins a list. */
  public void put(int id, int last, int lane, int payloadBytes, int flags) {
    records[2 * id] =
        (long) flags << FLAGS_SHIFT | (long) payloadBytes << BYTES_SHIFT | 1L << MESSAGES_SHIFT;
    records[2 * id + 1] = lane;
    if (last != 0) {
      records[2 * last] |= id;
    }
  }

  /** The frame behind this one in its list, or 0. */
  public int next(int id) {
    return (int) (records[2 * id] & NEXT_MASK);
  }

  public int lane(int id) {
    return (int) records[2 * id + 1];
  }

  public int flags(int id) {
    return (int) (records[2 * id] >>> FLAGS_SHIFT) & 0xFF;
  }

  public int payloadBytes(int id) {
    return (int) (records[2 * id] >>> BYTES_SHIFT) & 0xFFFF;
  }

  public int messages(int id) {
    return (int) (records[2 * id] >>> MESSAGES_SHIFT);
  }

  /** The frame carries this much now. */
  public void grown(int id, int payloadBytes, int messages) {
    records[2 * id] =
        records[2 * id] & STAYS_AT_GROWTH
            | (long) payloadBytes << BYTES_SHIFT
            | (long) messages << MESSAGES_SHIFT;
  }
}
