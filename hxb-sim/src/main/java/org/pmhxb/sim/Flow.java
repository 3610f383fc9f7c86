package org.pmhxb.sim;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.pmhxb.pm.Fate;
import org.pmhxb.pm.PmEndpoint;

/**
 * All messages of one life of a source from one endpoint to another: what was sent, and what became
 * of it. A message's bytes are made of its flow and number, so any change shows.
 *
 * <pre>
 * 0 session:32 | 4 number:32 | 8 life:32 | 12 length:32 | 16 pattern ...      16 bytes and more
 * 0 number + 91 life:8 | 1 pattern ...                                         shorter ones
 * </pre>
 */
public final class Flow {
  /** Messages at least this long say which they are. */
  static final int TOLD_BYTES = 16;

  /** A message of one byte of this life must not be one of the life before that never came. */
  private static final int LIFE_STEP = 91;

  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
  private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;

  static final byte OPEN = 0;
  static final byte SENT = 1;
  static final byte DELIVERED = 2;

  /**
   * Its session ended before it was acknowledged, its receiver died or was closed, or it was broken
   * off: it may arrive or not.
   */
  static final byte EXCUSED = 3;

  final int src;
  final int srcEndpoint;
  final int dst;
  final int dstEndpoint;
  final int life;
  private final long seed;
  private PmEndpoint endpoint;

  private byte[] states = new byte[64];
  private long[] tickets = new long[64];
  private int[] lengths = new int[64];
  private int[] sessions = new int[64];
  private int planned;
  private int begun;
  private boolean abandoned;

  /** Sender: all before this are delivered or excused. */
  private int settled;

  // --- receiver ---
  int next;
  long offset;

  /** Its endpoint is closed: what is sent meanwhile may be lost. It was before. */
  private boolean closed;

  private boolean everClosed;

  /** Of this message the beginning was lost. */
  private int torn = -1;

  // --- Progress: what it saw last, and since when ---
  int seenSession;
  long seenNext;
  long seenSinceNs;

  Flow(int src, int srcEndpoint, int dst, int dstEndpoint, int life) {
    this.src = src;
    this.srcEndpoint = srcEndpoint;
    this.dst = dst;
    this.dstEndpoint = dstEndpoint;
    this.life = life;
    long key = ((long) src << 40 ^ (long) srcEndpoint << 24 ^ dst) * 31 + dstEndpoint;
    this.seed = mix(key * 31 + life);
  }

  // --- the sending program ----------------------------------------------------------------------

  /** So many messages more are to be sent. */
  public void plan(int messages) {
    planned += messages;
  }

  /** Messages that are still to be begun. */
  public int toBegin() {
    return abandoned ? 0 : planned - begun;
  }

  public int begun() {
    return begun;
  }

  /** The next message; its number. */
  public int begin(int lengthBytes, int session) {
    if (begun == states.length) {
      states = Arrays.copyOf(states, begun * 2);
      tickets = Arrays.copyOf(tickets, begun * 2);
      lengths = Arrays.copyOf(lengths, begun * 2);
      sessions = Arrays.copyOf(sessions, begun * 2);
    }
    lengths[begun] = lengthBytes;
    sessions[begun] = session;
    states[begun] = closed ? EXCUSED : OPEN;
    return begun++;
  }

  /** All of a message was sent. */
  public void sent(int number, long ticket) {
    tickets[number] = ticket;
    if (states[number] == OPEN) {
      states[number] = SENT;
    }
  }

  /** A message is not finished, or was sent by a claim of an ended session. */
  public void brokenOff(int number) {
    excuse(number);
  }

  /** The source's endpoint was opened, or closed: null. */
  public void sentBy(PmEndpoint source) {
    endpoint = source;
  }

  /** Nothing more will be sent: its source or destination is gone. */
  public void abandon() {
    abandoned = true;
  }

  /** Writes a part of a message; {@code from} is a multiple of 8. */
  public void fill(MemorySegment to, long at, int number, long from, int bytes) {
    int i = 0;
    for (; i + 8 <= bytes; i += 8) {
      to.set(LONG, at + i, word(number, from + i));
    }
    for (; i < bytes; i++) {
      to.set(BYTE, at + i, (byte) (word(number, from + (i & ~7)) >>> ((i & 7) << 3)));
    }
  }

  /** Whether a part of a message is what {@link #fill} wrote. */
  public boolean holds(MemorySegment in, long at, int number, long from, int bytes) {
    int i = 0;
    for (; i + 8 <= bytes; i += 8) {
      if (in.get(LONG, at + i) != word(number, from + i)) {
        return false;
      }
    }
    for (; i < bytes; i++) {
      if (in.get(BYTE, at + i) != (byte) (word(number, from + (i & ~7)) >>> ((i & 7) << 3))) {
        return false;
      }
    }
    return true;
  }

  private long word(int number, long at) {
    if (lengths[number] >= TOLD_BYTES && at < TOLD_BYTES) {
      return at == 0
          ? sessions[number] & 0xFFFF_FFFFL | (long) number << 32
          : life & 0xFFFF_FFFFL | (long) lengths[number] << 32;
    }
    long pattern = mix(seed + number * 0x9E37_79B9_7F4A_7C15L) + at * 0xD134_2543_DE82_EF95L;
    return at == 0 ? pattern & ~0xFFL | number + LIFE_STEP * life & 0xFF : pattern;
  }

  private static long mix(long value) {
    long z = (value ^ value >>> 30) * 0xBF58_476D_1CE4_E5B9L;
    z = (z ^ z >>> 27) * 0x94D0_49BB_1331_11EBL;
    return z ^ z >>> 31;
  }

  // --- the oracle -------------------------------------------------------------------------------

  int length(int number) {
    return lengths[number];
  }

  byte state(int number) {
    return states[number];
  }

  void delivered(int number) {
    states[number] = DELIVERED;
  }

  /** The session ended at the source: only what was acknowledged before must still arrive. */
  void sessionEnded() {
    for (int n = settled; n < begun; n++) {
      boolean stored =
          states[n] == SENT
              && endpoint != null
              && endpoint.fate(dst, dstEndpoint, tickets[n]) == Fate.STORED;
      if (!stored) {
        excuse(n);
      }
    }
  }

  /** The source died: the same, and nothing more will come. */
  void sourceDied() {
    sessionEnded();
    abandon();
  }

  /**
   * The receiver died, and with it what it had stored for its program. What was begun later its
   * next life has to store before it can be acknowledged, so it must arrive as ever.
   */
  void receiverDied() {
    for (int n = settled; n < begun; n++) {
      excuse(n);
    }
  }

  /** The receiving endpoint is not open, and what is sent to it may be lost. */
  public void receiverCloses() {
    closed = true;
    everClosed = true;
    receiverDied();
  }

  /** From now on what is sent must arrive. */
  void receiverOpens() {
    closed = false;
  }

  boolean isReceiverClosed() {
    return closed;
  }

  /**
   * A part comes of a message that lost those before it to a closed endpoint; it is the next one
   * that may come.
   *
   * @return false when there is none
   */
  boolean tears(MemorySegment in, long at, long from, int bytes, long messageBytes) {
    for (int n = next; everClosed && n < begun && states[n] == EXCUSED; n++) {
      if (lengths[n] == messageBytes && holds(in, at, n, from, bytes)) {
        torn = n;
        next = n;
        offset = from;
        return true;
      }
    }
    return false;
  }

  boolean isTorn(int number) {
    return number == torn;
  }

  private void excuse(int number) {
    if (states[number] != DELIVERED) {
      states[number] = EXCUSED;
    }
  }

  /** Every message that was to be sent is delivered or excused. */
  boolean isSettled() {
    while (settled < begun && (states[settled] == DELIVERED || states[settled] == EXCUSED)) {
      settled++;
    }
    return settled == begun && (abandoned || begun == planned);
  }

  /** Messages of a state. */
  int count(byte state) {
    int n = 0;
    for (int i = 0; i < begun; i++) {
      n += states[i] == state ? 1 : 0;
    }
    return n;
  }

  long bytes() {
    long sum = 0;
    for (int i = 0; i < begun; i++) {
      sum += lengths[i];
    }
    return sum;
  }

  /** For people: how far it is. */
  String describe() {
    return "%d to begin, %d sent, %d delivered, %d excused; next is %d at %d"
        .formatted(toBegin(), begun, count(DELIVERED), count(EXCUSED), next, offset);
  }

  /** As in {@code 3.1>5.2}, with the source's life if it was started before. */
  @Override
  public String toString() {
    return src + "." + srcEndpoint + ">" + dst + "." + dstEndpoint + (life > 0 ? "#" + life : "");
  }
}
