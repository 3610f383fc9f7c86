package org.pmhxb.pm.flow;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.pmhxb.bufpool.Memory;

/**
 * Frames of one peer that are sent and not yet acknowledged, held for resend (PROTOCOL.md section
 * 5.3). Owner: the poll thread.
 *
 * <p>A frame is on at most one list at a time: its path's list, in order of transmission, or the
 * resend list, in order of loss. Lists are doubly linked through the slots, so that an
 * acknowledgement takes a frame out wherever it stands. What precedes a list's head and follows its
 * tail means nothing; a tail's next link is the slot behind it, so that frames which follow each
 * other in the window need no link to be set.
 *
 * <p>All of it lies in native memory, lists before slots: no bounds to be checked, and a slot never
 * lies in two cache lines. A slot is one record of 32 bytes, two in a line: sending and
 * acknowledging a frame touch one line each, and neighbours in order share it.
 *
 * <pre>
 * slot  word 0   buffer:24 (low) | length:16 | copies:8 | list:8 | rail:8
 *       word 1   lane:32 (low) | next:16 | previous:16
 *       word 2   pathIndex:32 (low) | railTicket:32
 *       word 3   sentNs:48 (low, modulo 2^48: 78 h) | messages:16
 * list  word 0   head:32 (low) | tail:32
 *       word 1   bytes; 0: empty
 * </pre>
 */
public final class SendWindow {
  public static final int SIZE_MAX = 1 << 15;

  private static final int NO_LIST = 0xFF;

  private static final int SLOT_SHIFT = 5;
  private static final int LINKS = 8;
  private static final int TRANSMISSION = 16;
  private static final int TIME = 24;
  private static final int LIST_SHIFT = 4;
  private static final int TAIL = 4;
  private static final int BYTES = 8;
  private static final int LINE_BYTES = 64;

  private static final long ID_MASK = 0xFF_FFFFL;
  private static final int LENGTH_SHIFT = 24;
  private static final int COPIES_SHIFT = 40;
  private static final int COPIES_MAX = 0x7F;
  private static final int LIST_AT = 48;
  private static final long LIST_MASK = 0xFFL << LIST_AT;
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

  /** Paths, then the resend list. */
  private final long lists;

  private final long slots;

  /** Keeps the memory as long as the window. */
  @SuppressWarnings("unused")
  private final MemorySegment keepAlive;

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
    long listBytes = (paths + 1L << LIST_SHIFT) + LINE_BYTES - 1 & -LINE_BYTES;
    keepAlive = Arena.ofAuto().allocate(listBytes + ((long) size << SLOT_SHIFT), LINE_BYTES);
    lists = keepAlive.address();
    slots = lists + listBytes;
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
   * What {@link #send} is to know of a frame's path and rail.
   *
   * @param path 0 to the number of paths, exclusive
   * @param rail 0 to 255
   */
  public static long way(int path, int rail) {
    return 1L << COPIES_SHIFT | (long) path << LIST_AT | (long) rail << RAIL_SHIFT;
  }

  /**
   * Registers a new frame, which goes out on a path: it gets the sequence number {@link #next()}
   * and joins the end of the path's list. The window, which is not full, holds its buffer.
   *
   * @param frameBytes 1 to 65,535
   * @param messages that it carries, 1 to 65,535
   * @param way {@link #way}
   * @return whether it is the only frame on the path
   */
  public boolean send(
      int id,
      int frameBytes,
      int lane,
      int messages,
      long way,
      int pathIndex,
      int ticket,
      long nowNs) {
    assert !isFull() : "frame for a full window";
    int slot = next & mask;
    long at = slotAt(slot);
    long list = Memory.known(lists + ((way & LIST_MASK) >>> LIST_AT - LIST_SHIFT));
    long bytes = word(list + BYTES);
    int last = half(list + TAIL);
    word(at, way | (long) frameBytes << LENGTH_SHIFT | id);
    word(at + LINKS, links(lane, slot, last));
    word(at + TRANSMISSION, pathIndex & 0xFFFF_FFFFL | (long) ticket << 32);
    word(at + TIME, nowNs & TIME_MASK | (long) messages << MESSAGES_SHIFT);
    half(list + TAIL, slot);
    word(list + BYTES, bytes + frameBytes);
    next++;
    if (bytes == 0) {
      half(list, slot);
    } else if ((last + 1 & mask) != slot) {
      setNext(last, slot);
    }
    return bytes == 0;
  }

  /** Of a frame at the end of its list. */
  private long links(int lane, int slot, int before) {
    return lane & 0xFFFF_FFFFL
        | (long) (slot + 1 & mask) << NEXT_SHIFT
        | (long) before << PREVIOUS_SHIFT;
  }

  /** The frame leaves now, not when it was registered. */
  public void restamp(int seq, long nowNs) {
    long at = slotAt(seq & mask) + TIME;
    word(at, word(at) & ~TIME_MASK | nowNs & TIME_MASK);
  }

  /** Notes that the first frame of the resend list was transmitted again: it joins its path. */
  public void resend(int path, int pathIndex, int rail, int ticket, long nowNs) {
    int slot = half(listAt(paths));
    remove(slot);
    long at = slotAt(slot);
    long was = word(at);
    long copies = Math.min(COPIES_MAX, (was >>> COPIES_SHIFT & 0xFF) + 1);
    word(
        at,
        was & STAYS_AT_SENDING
            | copies << COPIES_SHIFT
            | (long) NO_LIST << LIST_AT
            | (long) rail << RAIL_SHIFT);
    word(at + TRANSMISSION, pathIndex & 0xFFFF_FFFFL | (long) ticket << 32);
    word(at + TIME, word(at + TIME) & ~TIME_MASK | nowNs & TIME_MASK);
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
    int[] ids = frames.ids();
    int seq = unacknowledged;
    int slot = seq & mask;
    long first = slotAt(slot);
    long sameWay = word(first) & WAY_MASK;
    int list = list(sameWay);
    boolean once = (sameWay >>> COPIES_SHIFT & 0xFF) == 1;
    if (!once || list >= paths || half(listAt(list)) != slot) {
      frames.set(0, 0, 0, 0, 0);
      return seq - 1;
    }
    int lane = (int) word(first + LINKS);
    int limit = Math.min(ack - seq, ids.length);
    int taken = 0;
    int bytes = 0;
    int messages = 0;
    while (taken < limit) {
      long at = slotAt(slot);
      long word = word(at);
      long links = word(at + LINKS);
      // Of a frame that was acknowledged before, and of one behind the tail, the list is another.
      if ((word & WAY_MASK) != sameWay || (int) links != lane) {
        break;
      }
      word(at, word & ~ID_MASK | LIST_MASK);
      ids[taken++] = (int) (word & ID_MASK);
      bytes += length(word);
      messages += (int) (word(at + TIME) >>> MESSAGES_SHIFT);
      int neighbour = slot + 1 & mask;
      slot = (int) (links >>> NEXT_SHIFT) & 0xFFFF;
      if (slot != neighbour) {
        break;
      }
    }
    frames.set(taken, bytes, messages, lane, list);
    if (taken > 0) {
      // Of an emptied list the head means nothing.
      half(listAt(list), slot);
      addBytes(listAt(list), -bytes);
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
    int slot = unacknowledged & mask;
    long at = slotAt(slot);
    long word = word(at);
    int id = (int) (word & ID_MASK);
    int path = list(word);
    boolean once = (word >>> COPIES_SHIFT & 0xFF) == 1;
    if (!once || id == 0 || path >= paths || half(listAt(path)) != slot) {
      return 0;
    }
    long list = listAt(path);
    word(at, word & ~ID_MASK | LIST_MASK);
    // Of an emptied list the head means nothing.
    half(list, (int) (word(at + LINKS) >>> NEXT_SHIFT) & 0xFFFF);
    addBytes(list, -length(word));
    unacknowledged++;
    return id;
  }

  /** Takes an acknowledged frame off its list; its buffer ID, or 0 if that happened before. */
  public int acknowledge(int seq) {
    int slot = seq & mask;
    long at = slotAt(slot);
    int id = (int) (word(at) & ID_MASK);
    if (id != 0) {
      remove(slot);
      word(at, word(at) & ~ID_MASK);
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
    assert !isEmpty(path) : "empty list";
    return seqOfSlot(half(listAt(path)));
  }

  /** First frame that waits for its resend. */
  public int firstLost() {
    return firstOf(paths);
  }

  public boolean isEmpty(int path) {
    return bytesOn(path) == 0;
  }

  public boolean nothingLost() {
    return bytesOn(paths) == 0;
  }

  public long bytesOn(int path) {
    return word(listAt(path) + BYTES);
  }

  public int bufferId(int seq) {
    return (int) (word(seq, 0) & ID_MASK);
  }

  /** The frame's resend goes out from a copy: the window holds that one from now on. */
  public void replaceBuffer(int seq, int id) {
    long at = slotAt(seq & mask);
    word(at, word(at) & ~ID_MASK | id);
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

  private int seqOfSlot(int slot) {
    return unacknowledged + (slot - unacknowledged & mask);
  }

  private void append(int slot, int to) {
    long at = slotAt(slot);
    long word = word(at);
    assert list(word) == NO_LIST : "slot on two lists";
    word(at, word & ~LIST_MASK | (long) to << LIST_AT);
    long list = listAt(to);
    int last = half(list + TAIL);
    word(at + LINKS, links((int) word(at + LINKS), slot, last));
    if (word(list + BYTES) == 0) {
      half(list, slot);
    } else {
      setNext(last, slot);
    }
    half(list + TAIL, slot);
    addBytes(list, length(word));
  }

  private void remove(int slot) {
    long at = slotAt(slot);
    long word = word(at);
    long links = word(at + LINKS);
    long list = listAt(list(word));
    int before = (int) (links >>> PREVIOUS_SHIFT);
    int after = (int) (links >>> NEXT_SHIFT) & 0xFFFF;
    boolean first = half(list) == slot;
    boolean last = half(list + TAIL) == slot;
    word(at, word | LIST_MASK);
    addBytes(list, -length(word));
    if (!first) {
      setNext(before, last ? before + 1 & mask : after);
    } else {
      half(list, after);
    }
    if (!last) {
      long other = slotAt(after) + LINKS;
      word(other, word(other) & ~PREVIOUS_MASK | (long) before << PREVIOUS_SHIFT);
    } else {
      half(list + TAIL, before);
    }
  }

  private void setNext(int slot, int to) {
    long at = slotAt(slot) + LINKS;
    word(at, word(at) & ~NEXT_MASK | (long) to << NEXT_SHIFT);
  }

  private static void addBytes(long list, int more) {
    word(list + BYTES, word(list + BYTES) + more);
  }

  private static int list(long word) {
    return (int) (word >>> LIST_AT) & 0xFF;
  }

  private static int length(long word) {
    return (int) (word >>> LENGTH_SHIFT) & 0xFFFF;
  }

  // --- memory: addresses are this window's, by the mask and the number of lists ----------------

  private long slotAt(int slot) {
    return Memory.known(slots + ((long) slot << SLOT_SHIFT));
  }

  private long listAt(int list) {
    return Memory.known(lists + ((long) list << LIST_SHIFT));
  }

  private long word(int seq, int offset) {
    return word(slotAt(seq & mask) + offset);
  }

  private static long word(long at) {
    return Memory.ALL.get(ValueLayout.JAVA_LONG_UNALIGNED, at);
  }

  private static void word(long at, long value) {
    Memory.ALL.set(ValueLayout.JAVA_LONG_UNALIGNED, at, value);
  }

  private static int half(long at) {
    return Memory.ALL.get(ValueLayout.JAVA_INT_UNALIGNED, at);
  }

  private static void half(long at, int value) {
    Memory.ALL.set(ValueLayout.JAVA_INT_UNALIGNED, at, value);
  }
}
