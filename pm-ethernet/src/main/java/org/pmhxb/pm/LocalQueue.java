package org.pmhxb.pm;

import java.lang.foreign.ValueLayout;
import org.pmhxb.bufpool.Memory;
import org.pmhxb.pm.port.Burst;

/**
 * A node's own frames that wait for a rail's port, in order of transmission, which is what makes a
 * path FIFO. The descriptors lie in native memory as a ring, so that what seals frames and the
 * driver that takes them read them where they were put: nothing is copied from queue to burst.
 *
 * <p>A place that was taken out of the middle stays, empty, because a place is what tickets count.
 * Owner: the poll thread.
 */
final class LocalQueue {
  static final int CAPACITY = 1024;

  /** Place of a frame that was taken out; buffer ID 0 is none. */
  static final long TAKEN_OUT = 0;

  private static final int MASK = CAPACITY - 1;

  /** A choice of path stands while it is the same path's {@link Paths#turn}. */
  private static final long TURN_MASK = (1L << Paths.TURN_NS_BITS) - 1;

  private final Burst ring = new Burst(CAPACITY);
  private final long address = ring.address();
  private int head;
  private int tail;

  /** Frames before this ticket are sealed. */
  private int sealed;

  private int bytes;

  /** What the rail's port had when it was last asked. */
  private int portBytes;

  /** The port took all that it was offered the last time. */
  private boolean portTakesMore = true;

  /**
   * Bits of the time that tell choices of this queue that stand together: where the link is the
   * limit none, so that a choice stands for its round alone, because other rails may have nothing
   * in front.
   */
  private long choiceStandsMask = TURN_MASK;

  /** Frames with which an earlier choice of this queue stands no more. */
  private final int choiceFrames;

  /** The rail's in {@link WaitingRails}: to be added there behind whatever is put here. */
  final int bit;

  private int takenOut;

  /** Frames without a holder: path probes. */
  private int unheld;

  /**
   * @param bit of the rail
   * @param choiceFrames what leaves soon, where other rails might take the rest
   */
  LocalQueue(int bit, int choiceFrames) {
    this.bit = bit;
    this.choiceFrames = choiceFrames;
  }

  /** The descriptors: place {@code ticket mod CAPACITY}. */
  Burst ring() {
    return ring;
  }

  /** Places, taken out ones included. */
  int size() {
    return tail - head;
  }

  int room() {
    return CAPACITY - (tail - head);
  }

  boolean isFull() {
    return tail - head == CAPACITY;
  }

  /** {@link #isFull} by the sign alone: negative if it is. */
  int notFull() {
    return CAPACITY - 1 - tail + head;
  }

  /** Bytes of all frames. */
  int bytes() {
    return bytes;
  }

  /** Of what a new frame would wait behind, the port's part: as of now. */
  void portBytes(long backlogBytes) {
    int now = (int) Math.min(backlogBytes, Integer.MAX_VALUE);
    if (now != portBytes) {
      portBytes = now;
      setChoiceStands();
    }
  }

  /**
   * The port was offered what fits and is done: when frames are left of less than a burst it has a
   * queue, also where it cannot tell of one.
   */
  void noteWhatPortLeft(int taken) {
    boolean takesMore = head == tail || taken >= Rail.BURST;
    if (takesMore != portTakesMore) {
      portTakesMore = takesMore;
      setChoiceStands();
    }
  }

  private void setChoiceStands() {
    choiceStandsMask = isPortEmpty() ? TURN_MASK : 0;
  }

  /**
   * Whether a choice of this queue still stands, by the sign alone, for who asks several things at
   * once: negative if it does not.
   */
  long choiceStands(long chosenNs, long nowNs) {
    return (chosenNs | standingMask()) - nowNs;
  }

  /** {@link #choiceStandsMask}, and none when what waits takes several bursts to leave. */
  private long standingMask() {
    return choiceStandsMask & tail - head - choiceFrames >> 31;
  }

  /**
   * By how much the rail is behind one whose port has nothing in front of the wire, and whose queue
   * leaves soon.
   */
  long unequalNs() {
    return ~standingMask() & 1L << Paths.EQUAL_NS_BITS;
  }

  /** Whether the port had nothing in front of the wire then, as far as it tells. */
  boolean isPortEmpty() {
    return portTakesMore && portBytes == 0;
  }

  /** Bytes that a new frame would wait behind. */
  long backlogBytes() {
    return (long) bytes + portBytes;
  }

  /**
   * 1, or 0 of {@link #TAKEN_OUT}, which has no bytes either. Without a branch: frames are taken
   * out when a path is given up, and one that was never taken before would throw the compiled code
   * away then (docs/RELIABILITY.md).
   */
  static int one(long descriptor) {
    return (int) ((descriptor | -descriptor) >>> 63);
  }

  /** Ticket of the frame that is put next. */
  int end() {
    return tail;
  }

  /** Frames with a ticket before this have left the queue. */
  int taken() {
    return head;
  }

  /** Index in {@link #ring} of the first place. */
  int first() {
    return head & MASK;
  }

  /** Of the {@code count} places from a ticket on, how many stand before the ring's end. */
  static int unbroken(int ticket, int count) {
    return Math.min(count, CAPACITY - (ticket & MASK));
  }

  /**
   * Whether all of it can leave in one burst: up to so many frames that a send window holds too,
   * before the ring's end, and either all of them were put since the last sealing or none.
   */
  boolean isOneBurst() {
    int from = head;
    int n = tail - from;
    return (n - 1 & ~(Rail.BURST - 1)) == 0
        && (from & MASK) <= CAPACITY - n
        && isPlain()
        && (sealed - from <= 0 || sealed == tail);
  }

  /** All that waits has its CRC. */
  boolean isSealed() {
    return sealed == tail;
  }

  /** All that waits was sealed. */
  void noteSealed() {
    sealed = tail;
  }

  /** Every place holds a frame that a send window holds too. */
  boolean isPlain() {
    return (takenOut | unheld) == 0;
  }

  /**
   * A data frame that the send window goes on holding; there is room.
   *
   * @param unsealed {@link Burst#SEAL}, or 0 when it has its CRC
   * @return ticket: the frame has left when {@link #taken} is beyond it
   */
  int putHeld(int id, int lengthBytes, long unsealed) {
    int ticket = tail;
    long d = Burst.descriptor(id, lengthBytes) | Burst.HOLD | unsealed;
    Memory.ALL.set(ValueLayout.JAVA_LONG_UNALIGNED, at(ticket), d);
    tail = ticket + 1;
    bytes += lengthBytes;
    return ticket;
  }

  /**
   * A frame of this node that goes once, with its CRC; there is room. {@link #sealed} goes along:
   * on a rail that carries none but such frames it would lie 2<sup>31</sup> places behind one day,
   * and count as ahead.
   */
  void putUnheld(int id, int lengthBytes) {
    if (sealed == tail || head == tail) {
      sealed = tail + 1;
    }
    Memory.ALL.set(ValueLayout.JAVA_LONG_UNALIGNED, at(tail), Burst.descriptor(id, lengthBytes));
    tail++;
    bytes += lengthBytes;
    unheld++;
  }

  /** The i-th place from the head, {@code 0 <= i < size()}. */
  long peek(int i) {
    return Memory.ALL.get(ValueLayout.JAVA_LONG_UNALIGNED, at(head + i));
  }

  private long at(int ticket) {
    return Memory.known(address + ((long) (ticket & MASK) << 3));
  }

  /** Empties the i-th place, which holds a frame; its descriptor. */
  long takeOut(int i) {
    long d = peek(i);
    Memory.ALL.set(ValueLayout.JAVA_LONG_UNALIGNED, at(head + i), TAKEN_OUT);
    takenOut++;
    forget(d);
    return d;
  }

  private void forget(long d) {
    bytes -= Burst.lengthBytes(d);
    if ((d & Burst.HOLD) == 0) {
      unheld--;
    }
  }

  /** Removes the frame at the head. */
  void drop() {
    forget(peek(0));
    head++;
  }

  /** Removes frames from the head, none of them taken out; their bytes. */
  int drop(int count) {
    int before = bytes;
    if (count == tail - head && unheld == 0) {
      head = tail;
      bytes = 0;
      return before;
    }
    for (int i = 0; i < count; i++) {
      drop();
    }
    return before - bytes;
  }

  /** Removes places at the head whose frames were taken out. */
  void skipTakenOut() {
    while (takenOut > 0 && peek(0) == TAKEN_OUT) {
      head++;
      takenOut--;
    }
  }

  /** How many frames from the head begin within so many bytes. None was taken out. */
  int within(long spareBytes, int most) {
    if (spareBytes >= bytes) {
      return most;
    }
    long left = spareBytes;
    int n = 0;
    while (n < most && left > 0) {
      left -= Burst.lengthBytes(peek(n));
      n++;
    }
    return n;
  }

  /** Gives what was put since the last time and waits to be sealed. */
  void seal(Sealer sealer) {
    sealed = firstUnsealed();
    while (sealed != tail) {
      int n = unbroken(sealed, tail - sealed);
      sealer.gather(ring, sealed & MASK, n);
      sealed += n;
    }
  }

  /** Ticket of the first frame that was put since the last sealing, unless it has left already. */
  int firstUnsealed() {
    return sealed - head < 0 ? head : sealed;
  }

  /** The descriptor of a ticket that waits. */
  long ofTicket(int ticket) {
    return Memory.ALL.get(ValueLayout.JAVA_LONG_UNALIGNED, at(ticket));
  }
}
