package org.pmhxb.pm.flow;

/**
 * Frames of one peer that are sent and not yet acknowledged, held for resend (PROTOCOL.md section
 * 5.3). Owner: the poll thread.
 *
 * <p>A frame is on at most one list at a time: its path's list, in order of transmission, or the
 * resend list, in order of loss. Lists are doubly linked through the slots, so that an
 * acknowledgement takes a frame out wherever it stands.
 *
 * <p>A slot is one record of 32 bytes, two in a cache line: sending and acknowledging a frame touch
 * one line each, and neighbours in order share it.
 *
 * <pre>
 * word 0   buffer:24 (low) | length:16 | copies:8 | list:8 | rail:8
 * word 1   lane:32 (low) | next:16 | previous:16
 * word 2   pathIndex:32 (low) | railTicket:32
 * word 3   sentNs:48 (low, modulo 2^48: 78 h) | messages:16
 * </pre>
 */
public final class SendWindow {
  /** Slots are 15 bits wide, so that {@link #NONE} is none of them. */
  public static final int SIZE_MAX = 1 << 15;

  private static final int NO_LIST = 0xFF;
  private static final int NONE = 0xFFFF;

  private static final int TAIL_SHIFT = 16;
  private static final int COUNT_SHIFT = 32;
  private static final long ENDS_MASK = (1L << COUNT_SHIFT) - 1;
  private static final long EMPTY = (long) NONE << TAIL_SHIFT | NONE;
  private static final long ONE_FRAME = 1L << COUNT_SHIFT;

  private static final int RECORD_SHIFT = 2;
  private static final int LINKS = 1;
  private static final int TRANSMISSION = 2;
  private static final int TIME = 3;

  private static final long ID_MASK = 0xFF_FFFFL;
  private static final int LENGTH_SHIFT = 24;
  private static final int COPIES_SHIFT = 40;
  private static final int COPIES_MAX = 0x7F;
  private static final int LIST_SHIFT = 48;
  private static final long LIST_MASK = 0xFFL << LIST_SHIFT;
  private static final int RAIL_SHIFT = 56;

  /** Copies, list and rail of word 0. */
  private static final long WAY_MASK = -1L << COPIES_SHIFT;

  private static final long STAYS_AT_SENDING = (1L << COPIES_SHIFT) - 1;
  private static final int NEXT_SHIFT = 32;
  private static final long NEXT_MASK = 0xFFFFL << NEXT_SHIFT;
  private static final int PREVIOUS_SHIFT = 48;
  private static final long PREVIOUS_MASK = 0xFFFFL << PREVIOUS_SHIFT;
  private static final int MESSAGES_SHIFT = 48;
  private static final long TIME_MASK = (1L << MESSAGES_SHIFT) - 1;

  private final int mask;
  private final int paths;
  private final long[] slots;

  /** Paths, then the resend list: {@code head:16 (low) | tail:16 | count:32}, then bytes. */
  private final long[] lists;

  private int unacknowledged;
  private int next;

  /**
   * @param size frames, a power of two, 2 to {@value #SIZE_MAX}
   * @param paths candidate paths to the peer, 1 to 64
   */
  public SendWindow(int size, int paths, int firstSeq) {
    if (Integer.bitCount(size) != 1 || size < 2 || size > SIZE_MAX) {
      throw new IllegalArgumentException(
          "send window of " + size + " frames: must be a power of two in 2.." + SIZE_MAX);
    }
    if (paths < 1 || paths > 64) {
      throw new IllegalArgumentException(paths + " paths: must be in 1..64");
    }
    mask = size - 1;
    this.paths = paths;
    slots = new long[size << RECORD_SHIFT];
    lists = new long[2 * (paths + 1)];
    for (int list = 0; list <= paths; list++) {
      lists[2 * list] = EMPTY;
    }
    unacknowledged = firstSeq;
    next = firstSeq;
  }

  /** First sequence number that is not cumulatively acknowledged. */
  public int unacknowledged() {
    return unacknowledged;
  }

  /** Sequence number of the next new frame. */
  public int next() {
    return next;
  }

  public int inFlight() {
    return next - unacknowledged;
  }

  public boolean isFull() {
    return next - unacknowledged > mask;
  }

  /**
   * Registers a new frame, which goes out on a path: it gets the sequence number {@link #next()}
   * and joins the end of the path's list. The window, which is not full, holds its buffer.
   *
   * @param messages that it carries, 1 to 65,535
   */
  public void send(
      int id,
      int frameBytes,
      int lane,
      int messages,
      int path,
      int pathIndex,
      int rail,
      int ticket,
      long nowNs) {
    assert !isFull() : "frame for a full window";
    long[] words = slots;
    int slot = next & mask;
    int at = slot << RECORD_SHIFT;
    long list = lists[2 * path];
    int last = tail(list);
    words[at] =
        1L << COPIES_SHIFT
            | (long) path << LIST_SHIFT
            | (long) rail << RAIL_SHIFT
            | (long) frameBytes << LENGTH_SHIFT
            | id;
    words[at + LINKS] = lane & 0xFFFF_FFFFL | NEXT_MASK | (long) last << PREVIOUS_SHIFT;
    words[at + TRANSMISSION] = pathIndex & 0xFFFF_FFFFL | (long) ticket << 32;
    words[at + TIME] = nowNs & TIME_MASK | (long) messages << MESSAGES_SHIFT;
    int head = head(list);
    if (last == NONE) {
      head = slot;
    } else {
      int links = (last << RECORD_SHIFT) + LINKS;
      words[links] = words[links] & ~NEXT_MASK | (long) slot << NEXT_SHIFT;
    }
    setEnds(path, head, slot, 1, frameBytes);
    next++;
  }

  /** The frame leaves now, not when it was registered. */
  public void restamp(int seq, long nowNs) {
    int at = ((seq & mask) << RECORD_SHIFT) + TIME;
    slots[at] = slots[at] & ~TIME_MASK | nowNs & TIME_MASK;
  }

  /** Notes that the first frame of the resend list was transmitted again: it joins its path. */
  public void resend(int path, int pathIndex, int rail, int ticket, long nowNs) {
    int slot = head(lists[2 * paths]);
    remove(slot);
    int at = slot << RECORD_SHIFT;
    long[] words = slots;
    long was = words[at];
    long copies = Math.min(COPIES_MAX, (was >>> COPIES_SHIFT & 0xFF) + 1);
    words[at] =
        was & STAYS_AT_SENDING
            | copies << COPIES_SHIFT
            | (long) NO_LIST << LIST_SHIFT
            | (long) rail << RAIL_SHIFT;
    words[at + TRANSMISSION] = pathIndex & 0xFFFF_FFFFL | (long) ticket << 32;
    words[at + TIME] = words[at + TIME] & ~TIME_MASK | nowNs & TIME_MASK;
    append(slot, path);
  }

  /** Moves a frame from its path's list to the end of the resend list. */
  public void lose(int seq) {
    int slot = seq & mask;
    remove(slot);
    append(slot, paths);
  }

  /**
   * Takes acknowledged frames off the begin of the window, and off their path's list, and moves the
   * cumulative point past them: as many as were sent once, one behind the other on one path and
   * rail, belong to one lane and were not acknowledged before. The frame at the cumulative point
   * may be none of these: {@link #acknowledge} and {@link #advance} do for any.
   *
   * @param ack the cumulative point that was acknowledged, after {@link #unacknowledged()}
   * @param frames gets what was taken
   * @return sequence number of the last frame taken; what else the window knows of it still stands
   */
  public int acknowledgeRun(int ack, FrameRun frames) {
    long[] words = slots;
    int[] ids = frames.ids();
    int seq = unacknowledged;
    int first = seq & mask;
    long sameWay = words[first << RECORD_SHIFT] & WAY_MASK;
    int list = list(sameWay);
    boolean once = (sameWay >>> COPIES_SHIFT & 0xFF) == 1;
    if (!once || list >= paths || head(lists[2 * list]) != first) {
      frames.set(0, 0, 0, 0, 0);
      return seq - 1;
    }
    int lane = (int) words[(first << RECORD_SHIFT) + LINKS];
    int limit = Math.min(ack - seq, ids.length);
    int slot = first;
    int after = first;
    int taken = 0;
    int bytes = 0;
    long messages = 0;
    while (taken < limit && after == slot) {
      int at = slot << RECORD_SHIFT;
      long word = words[at];
      long links = words[at + LINKS];
      int id = (int) (word & ID_MASK);
      if ((word & WAY_MASK) != sameWay || id == 0 || (int) links != lane) {
        break;
      }
      words[at] = word & ~ID_MASK | LIST_MASK;
      ids[taken++] = id;
      bytes += length(word);
      messages += words[at + TIME] >>> MESSAGES_SHIFT;
      after = (int) (links >>> NEXT_SHIFT) & 0xFFFF;
      slot = slot + 1 & mask;
    }
    frames.set(taken, bytes, (int) messages, lane, list);
    if (taken > 0) {
      behead(list, after, taken, bytes);
      unacknowledged += taken;
    }
    return seq + taken - 1;
  }

  /**
   * {@link #acknowledgeRun} of one frame.
   *
   * @return its buffer ID; 0 when it is none of these, and nothing was done
   */
  public int acknowledgeFirst() {
    long[] words = slots;
    int slot = unacknowledged & mask;
    int at = slot << RECORD_SHIFT;
    long word = words[at];
    int list = list(word);
    int id = (int) (word & ID_MASK);
    boolean once = (word >>> COPIES_SHIFT & 0xFF) == 1;
    if (!once || id == 0 || list >= paths || head(lists[2 * list]) != slot) {
      return 0;
    }
    words[at] = word & ~ID_MASK | LIST_MASK;
    behead(list, (int) (words[at + LINKS] >>> NEXT_SHIFT) & 0xFFFF, 1, length(word));
    unacknowledged++;
    return id;
  }

  private void behead(int list, int newHead, int frames, int frameBytes) {
    int tail = tail(lists[2 * list]);
    if (newHead == NONE) {
      tail = NONE;
    } else {
      slots[(newHead << RECORD_SHIFT) + LINKS] |= PREVIOUS_MASK;
    }
    setEnds(list, newHead, tail, -frames, -frameBytes);
  }

  /** Takes an acknowledged frame off its list; its buffer ID, or 0 if that happened before. */
  public int acknowledge(int seq) {
    int slot = seq & mask;
    int at = slot << RECORD_SHIFT;
    long word = slots[at];
    int id = (int) (word & ID_MASK);
    if (id != 0) {
      remove(slot);
      slots[at] = slots[at] & ~ID_MASK;
    }
    return id;
  }

  /** Moves the cumulative point one on, past a frame that is acknowledged. */
  public void advance() {
    assert bufferId(unacknowledged) == 0 : "advance past a held frame " + unacknowledged;
    unacknowledged++;
  }

  /** First frame of a path in order of transmission, as a slot's sequence; see {@link #isEmpty}. */
  public int firstOf(int path) {
    return seqOfSlot(head(lists[2 * path]));
  }

  /** First frame that waits for its resend. */
  public int firstLost() {
    return seqOfSlot(head(lists[2 * paths]));
  }

  public boolean isEmpty(int path) {
    return head(lists[2 * path]) == NONE;
  }

  public boolean nothingLost() {
    return head(lists[2 * paths]) == NONE;
  }

  public int countOn(int path) {
    return (int) (lists[2 * path] >>> COUNT_SHIFT);
  }

  public long bytesOn(int path) {
    return lists[2 * path + 1];
  }

  public int bufferId(int seq) {
    return (int) (word(seq, 0) & ID_MASK);
  }

  /** The frame's resend goes out from a copy: the window holds that one from now on. */
  public void replaceBuffer(int seq, int id) {
    int at = (seq & mask) << RECORD_SHIFT;
    slots[at] = slots[at] & ~ID_MASK | id;
  }

  public int lengthBytes(int seq) {
    return length(word(seq, 0));
  }

  public int lane(int seq) {
    return (int) word(seq, LINKS);
  }

  /** Transmissions so far; counts to 127. */
  public int copies(int seq) {
    return (int) (word(seq, 0) >>> COPIES_SHIFT) & 0xFF;
  }

  /** Messages that the frame carries. */
  public int messages(int seq) {
    return (int) (word(seq, TIME) >>> MESSAGES_SHIFT);
  }

  public int pathIndex(int seq) {
    return (int) word(seq, TRANSMISSION);
  }

  /** The rail of the last transmission. */
  public int rail(int seq) {
    return (int) (word(seq, 0) >>> RAIL_SHIFT);
  }

  public int railTicket(int seq) {
    return (int) (word(seq, TRANSMISSION) >>> 32);
  }

  /** Time since the last transmission, up to 39 h, in the clock of {@code nowNs}. */
  public long sinceSentNs(int seq, long nowNs) {
    return nowNs - word(seq, TIME) << 64 - MESSAGES_SHIFT >> 64 - MESSAGES_SHIFT;
  }

  /** The path whose list the frame is on, or -1 when it is on none or waits for its resend. */
  public int pathOf(int seq) {
    int list = list(word(seq, 0));
    return list >= paths ? -1 : list;
  }

  private long word(int seq, int word) {
    return slots[((seq & mask) << RECORD_SHIFT) + word];
  }

  private static int list(long word) {
    return (int) (word >>> LIST_SHIFT) & 0xFF;
  }

  private int seqOfSlot(int slot) {
    assert slot != NONE : "empty list";
    return unacknowledged + (slot - unacknowledged & mask);
  }

  private void append(int slot, int to) {
    int at = slot << RECORD_SHIFT;
    long word = slots[at];
    assert list(word) == NO_LIST : "slot on two lists";
    slots[at] = word & ~LIST_MASK | (long) to << LIST_SHIFT;
    long list = lists[2 * to];
    int last = tail(list);
    slots[at + LINKS] =
        slots[at + LINKS] & 0xFFFF_FFFFL | NEXT_MASK | (long) last << PREVIOUS_SHIFT;
    int head = head(list);
    if (last == NONE) {
      head = slot;
    } else {
      int links = (last << RECORD_SHIFT) + LINKS;
      slots[links] = slots[links] & ~NEXT_MASK | (long) slot << NEXT_SHIFT;
    }
    setEnds(to, head, slot, 1, length(word));
  }

  private void remove(int slot) {
    int at = slot << RECORD_SHIFT;
    long[] words = slots;
    long word = words[at];
    long links = words[at + LINKS];
    int from = list(word);
    int before = (int) (links >>> PREVIOUS_SHIFT);
    int after = (int) (links >>> NEXT_SHIFT) & 0xFFFF;
    int head = head(lists[2 * from]);
    int tail = tail(lists[2 * from]);
    if (before == NONE) {
      head = after;
    } else {
      int other = (before << RECORD_SHIFT) + LINKS;
      words[other] = words[other] & ~NEXT_MASK | (long) after << NEXT_SHIFT;
    }
    if (after == NONE) {
      tail = before;
    } else {
      int other = (after << RECORD_SHIFT) + LINKS;
      words[other] = words[other] & ~PREVIOUS_MASK | (long) before << PREVIOUS_SHIFT;
    }
    words[at] = word | LIST_MASK;
    setEnds(from, head, tail, -1, -length(word));
  }

  private void setEnds(int list, int head, int tail, int moreFrames, int moreBytes) {
    long counts = (lists[2 * list] & ~ENDS_MASK) + moreFrames * ONE_FRAME;
    lists[2 * list] = counts | (long) tail << TAIL_SHIFT | head;
    lists[2 * list + 1] += moreBytes;
  }

  private static int head(long list) {
    return (int) list & 0xFFFF;
  }

  private static int tail(long list) {
    return (int) list >>> TAIL_SHIFT;
  }

  private static int length(long word) {
    return (int) (word >>> LENGTH_SHIFT) & 0xFFFF;
  }
}
