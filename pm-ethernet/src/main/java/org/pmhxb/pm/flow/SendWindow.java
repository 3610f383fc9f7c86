package org.pmhxb.pm.flow;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.bufpool.Memory;

/**
 * Frames of one peer that are sent and not yet acknowledged, held for resend (PROTOCOL.md section
 * 5.3). Owner: the poll thread.
 *
 * <p>A frame is on at most one list at a time: its path's list, in order of transmission, or the
 * resend list, in order of loss. Lists are doubly linked through the slots, so that an
 * acknowledgement takes a frame out wherever it stands. What precedes a list's head and follows its
 * tail means nothing.
 *
 * <p>But nearly every frame is acknowledged in its turn, so the last ones of the window are
 * <i>loose</i>: they have no links yet. Neighbours of one path and lane are a run, of which the
 * first frame and the lane are noted once; and a frame notes the sum of all that was sent up to it,
 * so that what an acknowledgement settles is a difference. Whatever takes a frame out of its turn
 * links all loose ones first, which costs each of them what it would have cost when it was sent.
 *
 * <p>All of it lies in native memory: no bounds to be checked, and a slot never lies in two cache
 * lines. A slot is one record of 32 bytes, two in a line: sending and acknowledging a frame touch
 * one line each, and neighbours in order share it. There are as many slots as the peer's traffic
 * took so far: used in turn, those of a hundred full windows alone would fill a second-level cache.
 *
 * <pre>
 * slot  word 0   buffer:24 (low) | length:16 | copies:8 | list:8 | rail:8
 *       word 1   lane:32 (low) | next:16 | previous:16
 *                of a loose frame: bytes:32 (low) | messages:32, of all frames up to this
 *       word 2   pathIndex:32 (low) | railTicket:32
 *       word 3   sentNs:48 (low, modulo 2^48: 78 h) | messages:16
 * list  word 0   head:32 (low) | tail:32, of the linked frames
 *       word 1   bytes of loose frames:32 (low) | bytes of linked frames:32; 0: empty;
 *                of the last frame's path it is kept in the window itself
 *       word 2   time that a byte of the path takes, in 1/1024 ns
 *       word 3   window's bytes:24 (low) | rail:8 | by how much it is longer, in ns:31 | ask:1
 * run   word 0   sequence number of its first frame:32 (low) | lane:32
 * </pre>
 */
public final class SendWindow extends WindowEnd {
  public static final int SIZE_MAX = 1 << 15;

  private static final int NO_LIST = 0xFF;

  /** Slots at first. */
  private static final int LEAST_SLOTS = 8;

  private static final int SLOT_SHIFT = 5;
  private static final int LINKS = 8;
  private static final int TRANSMISSION = 16;
  private static final int TIME = 24;
  private static final int LIST_SHIFT = 5;
  private static final int TAIL = 4;
  private static final int BYTES = 8;
  private static final int BYTE_TIME = 16;
  private static final int TERMS = 24;
  private static final int WINDOW_BITS = 24;
  private static final int LONGER_SHIFT = 32;
  private static final int LINE_BYTES = 64;

  /** Of loose frames; when there are more, those are linked. */
  private static final int RUNS = 64;

  private static final int RUN_SHIFT = 3;

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
  private static final long LANE_MASK = 0xFFFF_FFFFL;
  private static final int NEXT_SHIFT = 32;
  private static final long NEXT_MASK = 0xFFFFL << NEXT_SHIFT;
  private static final int PREVIOUS_SHIFT = 48;
  private static final long PREVIOUS_MASK = 0xFFFFL << PREVIOUS_SHIFT;
  private static final int MESSAGES_SHIFT = 48;
  private static final long TIME_MASK = (1L << MESSAGES_SHIFT) - 1;

  private final int size;
  private final int paths;

  /** Paths, then the resend list. */
  private final long lists;

  private final long runs;

  /** Keeps lists and runs as long as the window. */
  @SuppressWarnings("unused")
  private final MemorySegment listMemory;

  /** Keeps the slots. */
  private MemorySegment slotMemory;

  /** Of all frames before {@link #looseFrom}, what {@link #sums} is of all. */
  private long sumsBeforeLoose;

  /** The runs of loose frames, modulo {@link #RUNS}; of the last, which may be empty, the rest. */
  private int firstRun;

  private int lastRun;

  /** Something is on the resend list, or was when that was last asked. */
  private boolean mayMiss;

  /**
   * @param size frames, a power of two, 2 to {@value #SIZE_MAX}
   * @param paths candidate paths to the peer, 1 to 64
   * @param owner of the frames' buffers, in the pool's terms
   */
  public SendWindow(int size, int paths, int firstSeq, int owner) {
    super(owner);
    if (Integer.bitCount(size) != 1 || size < 2 || size > SIZE_MAX) {
      throw new IllegalArgumentException(
          "send window of " + size + " frames: must be a power of two in 2.." + SIZE_MAX);
    }
    if (paths < 1 || paths > 64) {
      throw new IllegalArgumentException(paths + " paths: must be in 1..64");
    }
    this.size = size;
    this.paths = paths;
    long listBytes = (paths + 1L << LIST_SHIFT) + LINE_BYTES - 1 & -LINE_BYTES;
    long runBytes = (long) RUNS << RUN_SHIFT;
    listMemory = Arena.ofAuto().allocate(listBytes + runBytes, LINE_BYTES);
    lists = listMemory.address();
    runs = lists + listBytes;
    makeSlots(Math.min(size, LEAST_SLOTS));
    unacknowledged = firstSeq;
    next = firstSeq;
    looseFrom = firstSeq;
  }

  private void makeSlots(int count) {
    slotMemory = Arena.ofAuto().allocate((long) count << SLOT_SHIFT, LINE_BYTES);
    slots = slotMemory.address();
    mask = count - 1;
  }

  /**
   * Makes twice as many slots, up to the window's size. Rare: they stay.
   *
   * @return false when there are as many already
   */
  public boolean grow() {
    int before = mask;
    if (before == size - 1) {
      return false;
    }
    MemorySegment from = slotMemory;
    makeSlots(2 * (before + 1));
    for (int seq = unacknowledged; seq != next; seq++) {
      long at = slotAt(seq & mask);
      long source = (long) (seq & before) << SLOT_SHIFT;
      MemorySegment.copy(from, source, Memory.ALL, at, 1L << SLOT_SHIFT);
      if (seq - looseFrom < 0) {
        long links = word(at + LINKS);
        word(
            at + LINKS,
            links & LANE_MASK
                | (long) moved((int) (links >>> NEXT_SHIFT) & 0xFFFF, before) << NEXT_SHIFT
                | (long) moved((int) (links >>> PREVIOUS_SHIFT), before) << PREVIOUS_SHIFT);
      }
    }
    for (int i = 0; i <= paths; i++) {
      long list = listAt(i);
      half(list, moved(half(list), before));
      half(list + TAIL, moved(half(list + TAIL), before));
    }
    return true;
  }

  /** Where the frame of a slot is, by the mask that was used before. */
  private int moved(int slot, int before) {
    return unacknowledged + (slot - unacknowledged & before) & mask;
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

  /** Whether there is no slot for another frame, unless it {@link #grow grows}. */
  public boolean isFull() {
    return next - unacknowledged > mask;
  }

  /** {@link #isFull} by the sign alone, for who asks several things at once: negative if it is. */
  public int notFull() {
    return mask - next + unacknowledged;
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

  /** Whether the next frame may be {@link #send sent}: by the way and lane of the last. */
  public boolean continues(long way, int lane) {
    return way == lastWay && lane == lastLane;
  }

  /** {@link #continues(long, int)} when the way is known to be the last one's. */
  public boolean continues(int lane) {
    return lane == lastLane;
  }

  /** {@link #continues(int)} by all bits, for who asks several things at once: 0 if it may. */
  public int turns(int lane) {
    return lane ^ lastLane;
  }

  /**
   * The next frames go another way, or belong to another lane, than the last one.
   *
   * @param way {@link #way}
   */
  public void turn(long way, int lane) {
    if (lastRun - firstRun == RUNS - 1) {
      link();
    }
    if (looseFrom != next && first(lastRun) != next) {
      lastRun++;
    }
    word(listAt(list(lastWay)) + BYTES, lastBytes);
    lastBytes = word(listAt(list(way)) + BYTES);
    lastWay = way;
    lastLane = lane;
    word(runAt(lastRun), next & 0xFFFF_FFFFL | (long) lane << 32);
  }

  /**
   * What the headers of the next new frames have in common, so that it lies beside what else each
   * frame reads; the parameters of {@code FrameHeader.data}.
   */
  public void share(long word0, long word1, long word2, long endsWord, long keySessionWord) {
    front0 = word0;
    front1 = word1;
    front2 = word2;
    ends = endsWord;
    keySession = keySessionWord;
  }

  public long front0() {
    return front0;
  }

  public long front1() {
    return front1;
  }

  public long front2() {
    return front2;
  }

  public long ends() {
    return ends;
  }

  public long keySession() {
    return keySession;
  }

  /** What a frame that is held has of its buffer: {@link BufferPool#solely}. */
  public long heldSolely() {
    return heldSolely;
  }

  /**
   * The path of the next new frames was chosen.
   *
   * @param bytes what may go by it before the next choice
   */
  public void choose(int bytes, long nowNs) {
    choiceBytes = bytes;
    chosenNs = nowNs;
  }

  /** A choice of path is due. */
  public void endChoice() {
    choiceBytes = 0;
  }

  /** Whether nothing more may go by the choice of path. */
  public boolean isChoiceDue() {
    return choiceBytes <= 0;
  }

  /**
   * {@link #isChoiceDue} by the sign alone, for who asks several things at once: negative if so.
   */
  public int notDue() {
    return choiceBytes - 1;
  }

  /** When the path was chosen that new frames go by. */
  public long chosenNs() {
    return chosenNs;
  }

  /** Index of the next transmission on the path of those headers. */
  public int nextIndex() {
    return nextIndex;
  }

  public void nextIndex(int index) {
    nextIndex = index;
  }

  /** {@link #nextIndex()} of a transmission that is made now. */
  public int takeIndex() {
    return nextIndex++;
  }

  /**
   * Registers a new frame, which goes out on a path: it gets the sequence number {@link #next()}
   * and joins the end of the path's list. The window, which is not full, holds its buffer. Its way
   * and lane are those of the last {@link #turn}.
   *
   * @param frameBytes 1 to 65,535
   * @param messages that it carries, 1 to 65,535
   * @param stamp {@link #stamp} of now and the messages
   */
  public void send(int id, int frameBytes, int messages, int pathIndex, int ticket, long stamp) {
    assert !isFull() : "frame for a full window";
    int seq = next;
    next = seq + 1;
    long sum = sums + ((long) messages << 32 | frameBytes);
    sums = sum;
    long at = slotAt(seq & mask);
    word(at, lastWay | (long) frameBytes << LENGTH_SHIFT | id);
    word(at + LINKS, sum);
    word(at + TRANSMISSION, pathIndex & 0xFFFF_FFFFL | (long) ticket << 32);
    word(at + TIME, stamp);
    lastBytes += frameBytes;
    choiceBytes -= frameBytes;
  }

  /** When a frame is sent and how many messages it carries, 1 to 65,535, as a slot has both. */
  public static long stamp(long nowNs, int messages) {
    return nowNs & TIME_MASK | (long) messages << MESSAGES_SHIFT;
  }

  /** Whether no frame is on the way of the last {@link #turn}. */
  public boolean nothingOnWay() {
    return lastBytes == 0;
  }

  /** Puts all loose frames on the lists of their paths. */
  private void link() {
    int seq = looseFrom;
    for (; firstRun != lastRun; firstRun++) {
      seq = link(seq, first(firstRun + 1));
    }
    looseFrom = link(seq, next);
    sumsBeforeLoose = sums;
  }

  /** Of the first run, frames up to another, exclusive. */
  private int link(int from, int to) {
    int lane = laneOfRun(firstRun);
    for (int seq = from; seq != to; seq++) {
      int slot = seq & mask;
      long word = word(slotAt(slot));
      addBytes(list(word), -length(word));
      append(slot, list(word), length(word), lane);
    }
    return to;
  }

  private void linkIfLoose(int seq) {
    if (seq - looseFrom >= 0) {
      link();
    }
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
    // What is on the path so far stands before it.
    link();
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
    join(slot, path);
  }

  /** Moves a frame from its path's list to the end of the resend list. */
  public void lose(int seq) {
    linkIfLoose(seq);
    int slot = seq & mask;
    remove(slot);
    join(slot, paths);
    mayMiss = true;
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
    return unacknowledged == looseFrom
        ? acknowledgeLoose(ack, frames)
        : acknowledgeLinked(ack, frames);
  }

  private int acknowledgeLoose(int ack, FrameRun frames) {
    int[] ids = frames.ids();
    int seq = looseFrom;
    int run = firstRun;
    int end = run == lastRun ? next : first(run + 1);
    int n = Math.min((ack - end < 0 ? ack : end) - seq, ids.length);
    for (int i = 0; i < n; i++) {
      ids[i] = (int) (word(slotAt(seq + i & mask)) & ID_MASK);
    }
    int last = seq + n - 1;
    long at = slotAt(last & mask);
    int path = list(word(at));
    // Both halves at once: what the lower one carries over, the difference gives back.
    long sum = word(at + LINKS) - sumsBeforeLoose;
    frames.set(n, (int) sum, (int) (sum >>> 32), laneOfRun(run), path);
    settleLoose(last + 1, end, sum, path);
    return last;
  }

  /** Frames up to another, exclusive, are taken off the first run. */
  private void settleLoose(int to, int end, long sum, int path) {
    sumsBeforeLoose += sum;
    addBytes(path, -(sum & 0xFFFF_FFFFL));
    unacknowledged = to;
    looseFrom = to;
    if (to == end && firstRun != lastRun) {
      firstRun++;
    }
  }

  private int acknowledgeLinked(int ack, FrameRun frames) {
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
    int limit = Math.min((ack - looseFrom < 0 ? ack : looseFrom) - seq, ids.length);
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
      messages += messages(word(at + TIME));
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
      addLinked(list, -bytes);
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
    return unacknowledged == looseFrom ? acknowledgeFirstLoose() : acknowledgeFirstLinked();
  }

  private int acknowledgeFirstLoose() {
    int seq = looseFrom;
    long at = slotAt(seq & mask);
    long word = word(at);
    int run = firstRun;
    int end = run == lastRun ? next : first(run + 1);
    long sum = word(at + LINKS) - sumsBeforeLoose;
    // For whoever asks for the lane next.
    word(at + LINKS, laneOfRun(run));
    settleLoose(seq + 1, end, sum, list(word));
    return (int) (word & ID_MASK);
  }

  private int acknowledgeFirstLinked() {
    int slot = unacknowledged & mask;
    long at = slotAt(slot);
    long word = word(at);
    int id = (int) (word & ID_MASK);
    int path = list(word);
    boolean once = (word >>> COPIES_SHIFT & 0xFF) == 1;
    if (!once || id == 0 || path >= paths || half(listAt(path)) != slot) {
      return 0;
    }
    word(at, word & ~ID_MASK | LIST_MASK);
    // Of an emptied list the head means nothing.
    half(listAt(path), (int) (word(at + LINKS) >>> NEXT_SHIFT) & 0xFFFF);
    addLinked(path, -length(word));
    unacknowledged++;
    return id;
  }

  /** Takes an acknowledged frame off its list; its buffer ID, or 0 if that happened before. */
  public int acknowledge(int seq) {
    linkIfLoose(seq);
    int slot = seq & mask;
    long at = slotAt(slot);
    int id = (int) (word(at) & ID_MASK);
    if (id != 0) {
      remove(slot);
      word(at, word(at) & ~ID_MASK);
    }
    return id;
  }

  /** Moves the cumulative point one on, past a frame that is acknowledged: none of the loose. */
  public void advance() {
    assert bufferId(unacknowledged) == 0 : "advance past a held frame " + unacknowledged;
    unacknowledged++;
  }

  /** First frame of a path in order of transmission, as a slot's sequence; see {@link #isEmpty}. */
  public int firstOf(int path) {
    assert !isEmpty(path) : "empty list";
    long list = listAt(path);
    if (bytes(path) >>> 32 != 0) {
      return seqOfSlot(half(list));
    }
    int run = firstRun;
    int seq = looseFrom;
    while (list(word(seq, 0)) != path) {
      seq = first(++run);
    }
    return seq;
  }

  /**
   * Whether frames of a path may have been transmitted before an index. False is certain, as nearly
   * always: nothing is on its way, or no frame was taken out of its turn and the first one is of
   * the path and from that index on.
   */
  public boolean mayPrecede(int path, int index) {
    int seq = looseFrom;
    if (unacknowledged != seq) {
      return true;
    }
    if (next == seq) {
      return false;
    }
    long at = slotAt(seq & mask);
    return list(word(at)) != path || Serial.before(pathIndex(word(at + TRANSMISSION)), index);
  }

  /** First frame that waits for its resend. */
  public int firstLost() {
    return firstOf(paths);
  }

  public boolean isEmpty(int path) {
    return bytes(path) == 0;
  }

  public boolean nothingLost() {
    // The list's own line is not looked at until something was lost.
    if (mayMiss) {
      mayMiss = !isEmpty(paths);
    }
    return !mayMiss;
  }

  public long bytesOn(int path) {
    long bytes = bytes(path);
    return (bytes & 0xFFFF_FFFFL) + (bytes >>> 32);
  }

  // --- what a choice of path reads of all candidates: together, a path in half a cache line ------

  /**
   * What decides on a path for the next frame, beside {@link #bytesOn}; it stands until it is said
   * anew.
   *
   * @param byteTime time of a byte, in 1/1024 ns, not negative
   * @param windowBytes what may be on the path, below 2^24; 0: nothing
   * @param rail 0 to 255
   * @param longerNs by how much it is longer than others, below 2^31
   * @param ask whether there is more to ask than this; with a window of 0
   */
  public void terms(
      int path, long byteTime, long windowBytes, int rail, long longerNs, boolean ask) {
    assert windowBytes >>> WINDOW_BITS == 0 && rail >>> 8 == 0 : "terms out of range";
    assert byteTime >= 0 && longerNs >>> 31 == 0 : "terms out of range";
    long list = listAt(path);
    word(list + BYTE_TIME, byteTime);
    long word = windowBytes | (long) rail << WINDOW_BITS | longerNs << LONGER_SHIFT;
    word(list + TERMS, ask ? word | Long.MIN_VALUE : word);
  }

  /** To be called before {@link #listedBytes}, with nothing in between that changes the window. */
  public void list() {
    word(listAt(list(lastWay)) + BYTES, lastBytes);
  }

  /** Where the following find what they tell of a path; until the window's session ends. */
  public long termsAt(int path) {
    return listAt(path);
  }

  /** {@link #bytesOn}, behind {@link #list}. */
  public static long listedBytes(long termsAt) {
    long bytes = word(termsAt + BYTES);
    return (bytes & 0xFFFF_FFFFL) + (bytes >>> 32);
  }

  public static long byteTime(long termsAt) {
    return word(termsAt + BYTE_TIME);
  }

  /** For the next three; negative: there is more to ask. */
  public static long terms(long termsAt) {
    return word(termsAt + TERMS);
  }

  public static long windowBytes(long terms) {
    return terms & (1L << WINDOW_BITS) - 1;
  }

  public static int railOf(long terms) {
    return (int) terms >>> WINDOW_BITS;
  }

  /** Unless there is more to ask. */
  public static long longerNs(long terms) {
    return terms >>> LONGER_SHIFT;
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

  // --- a frame's words: read once, and taken apart when the window has changed already ---------

  /** For {@link #length}, {@link #list}, {@link #rail(long)}. */
  public long frameWord(int seq) {
    return word(seq, 0);
  }

  /** For {@link #pathIndex(long)}, {@link #railTicket(long)}. */
  public long transmissionWord(int seq) {
    return word(seq, TRANSMISSION);
  }

  /** For {@link #sinceSentNs(long, long)}, {@link #messages(long)}. */
  public long timeWord(int seq) {
    return word(seq, TIME);
  }

  /** Bytes of a frame. */
  public static int length(long frameWord) {
    return (int) (frameWord >>> LENGTH_SHIFT) & 0xFFFF;
  }

  /** The path of a frame that was neither lost nor acknowledged. */
  public static int list(long frameWord) {
    return (int) (frameWord >>> LIST_AT) & 0xFF;
  }

  /** The rail of a frame's last transmission. */
  public static int rail(long frameWord) {
    return (int) (frameWord >>> RAIL_SHIFT);
  }

  public static int pathIndex(long transmissionWord) {
    return (int) transmissionWord;
  }

  public static int railTicket(long transmissionWord) {
    return (int) (transmissionWord >>> 32);
  }

  /** Messages that a frame carries. */
  public static int messages(long timeWord) {
    return (int) (timeWord >>> MESSAGES_SHIFT);
  }

  /** Time since the last transmission, up to 39 h, in the clock of {@code nowNs}. */
  public static long sinceSentNs(long timeWord, long nowNs) {
    return nowNs - timeWord << 64 - MESSAGES_SHIFT >> 64 - MESSAGES_SHIFT;
  }

  public int lane(int seq) {
    linkIfLoose(seq);
    return (int) word(seq, LINKS);
  }

  /** Transmissions so far; counts to 127. */
  public int copies(int seq) {
    return (int) (word(seq, 0) >>> COPIES_SHIFT) & 0xFF;
  }

  /** Messages that the frame carries. */
  public int messages(int seq) {
    return messages(word(seq, TIME));
  }

  public int pathIndex(int seq) {
    return pathIndex(word(seq, TRANSMISSION));
  }

  /** The rail of the last transmission. */
  public int rail(int seq) {
    return rail(word(seq, 0));
  }

  public int railTicket(int seq) {
    return railTicket(word(seq, TRANSMISSION));
  }

  /** Time since the last transmission, up to 39 h, in the clock of {@code nowNs}. */
  public long sinceSentNs(int seq, long nowNs) {
    return sinceSentNs(word(seq, TIME), nowNs);
  }

  /** The path whose list the frame is on, or -1 when it is on none or waits for its resend. */
  public int pathOf(int seq) {
    int list = list(word(seq, 0));
    return list >= paths ? -1 : list;
  }

  private int seqOfSlot(int slot) {
    return unacknowledged + (slot - unacknowledged & mask);
  }

  /** A linked frame that is on no list joins the end of one. */
  private void join(int slot, int to) {
    long at = slotAt(slot);
    long word = word(at);
    assert list(word) == NO_LIST : "slot on two lists";
    word(at, word & ~LIST_MASK | (long) to << LIST_AT);
    append(slot, to, length(word), (int) word(at + LINKS));
  }

  private void append(int slot, int to, int bytes, int lane) {
    long list = listAt(to);
    int last = half(list + TAIL);
    word(slotAt(slot) + LINKS, links(lane, slot, last));
    if (bytes(to) >>> 32 == 0) {
      half(list, slot);
    } else {
      setNext(last, slot);
    }
    half(list + TAIL, slot);
    addLinked(to, bytes);
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
    addLinked(list(word), -length(word));
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

  private void addLinked(int list, int bytes) {
    addBytes(list, (long) bytes << 32);
  }

  /** A list's word 1. */
  private long bytes(int list) {
    return list == list(lastWay) ? lastBytes : word(listAt(list) + BYTES);
  }

  private void addBytes(int list, long difference) {
    if (list == list(lastWay)) {
      lastBytes += difference;
    } else {
      word(listAt(list) + BYTES, word(listAt(list) + BYTES) + difference);
    }
  }

  private int first(int run) {
    return half(runAt(run));
  }

  private int laneOfRun(int run) {
    return half(runAt(run) + Integer.BYTES);
  }

  // --- memory: addresses are this window's, by the mask and the number of lists ----------------

  private long slotAt(int slot) {
    return Memory.known(slots + ((long) slot << SLOT_SHIFT));
  }

  private long listAt(int list) {
    return Memory.known(lists + ((long) list << LIST_SHIFT));
  }

  private long runAt(int run) {
    return Memory.known(runs + ((run & RUNS - 1L) << RUN_SHIFT));
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
