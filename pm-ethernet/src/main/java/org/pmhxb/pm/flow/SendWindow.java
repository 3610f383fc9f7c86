package org.pmhxb.pm.flow;

import java.util.Arrays;

/**
 * Frames of one peer that are sent and not yet acknowledged, held for resend (PROTOCOL.md section
 * 5.3). Owner: the poll thread.
 *
 * <p>A frame is on at most one list at a time: its path's list, in order of transmission, or the
 * resend list, in order of sequence loss. Lists are doubly linked through the slots, so that an
 * acknowledgement takes a frame out wherever it stands.
 */
public final class SendWindow {
  /** List number of the resend list is {@link #paths}; {@code NO_LIST} means acknowledged. */
  private static final byte NO_LIST = -1;

  private static final int NONE = -1;

  private final int mask;
  private final int paths;

  // One entry a slot.
  private final int[] bufferId;
  private final int[] lengthBytes;
  private final int[] lane;
  private final int[] pathIndexOfSend;
  private final byte[] rail;
  private final int[] railTicket;
  private final long[] sentNs;
  private final byte[] copies;
  private final byte[] list;
  private final int[] nextInList;
  private final int[] previousInList;

  // One entry a list: paths, then the resend list.
  private final int[] head;
  private final int[] tail;
  private final int[] count;
  private final long[] bytes;

  private int unacknowledged;
  private int next;

  /**
   * @param size frames, a power of two, 2 to 65,536
   * @param paths candidate paths to the peer, 1 to 64
   */
  public SendWindow(int size, int paths, int firstSeq) {
    if (Integer.bitCount(size) != 1 || size < 2 || size > 65_536) {
      throw new IllegalArgumentException(
          "send window of " + size + " frames: must be a power of two in 2..65536");
    }
    if (paths < 1 || paths > 64) {
      throw new IllegalArgumentException(paths + " paths: must be in 1..64");
    }
    mask = size - 1;
    this.paths = paths;
    bufferId = new int[size];
    lengthBytes = new int[size];
    lane = new int[size];
    pathIndexOfSend = new int[size];
    rail = new byte[size];
    railTicket = new int[size];
    sentNs = new long[size];
    copies = new byte[size];
    list = new byte[size];
    nextInList = new int[size];
    previousInList = new int[size];
    head = new int[paths + 1];
    tail = new int[paths + 1];
    count = new int[paths + 1];
    bytes = new long[paths + 1];
    Arrays.fill(list, NO_LIST);
    Arrays.fill(head, NONE);
    Arrays.fill(tail, NONE);
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

  /** Registers a new frame and returns its sequence number. The window holds its buffer. */
  public int add(int id, int frameBytes, int laneNumber) {
    assert !isFull() : "window full at " + next;
    int slot = next & mask;
    bufferId[slot] = id;
    lengthBytes[slot] = frameBytes;
    lane[slot] = laneNumber;
    copies[slot] = 0;
    list[slot] = NO_LIST;
    return next++;
  }

  /** Notes a transmission: the frame joins the end of its path's list. */
  public void sent(int seq, int path, int pathIndex, int railIndex, int ticket, long nowNs) {
    int slot = seq & mask;
    copies[slot] = (byte) Math.min(Byte.MAX_VALUE, copies[slot] + 1);
    pathIndexOfSend[slot] = pathIndex;
    rail[slot] = (byte) railIndex;
    railTicket[slot] = ticket;
    sentNs[slot] = nowNs;
    append(slot, path);
  }

  /** A new frame finds no path: it waits on the resend list for its first transmission. */
  public void defer(int seq) {
    append(seq & mask, paths);
  }

  /** Moves a frame from its path's list to the end of the resend list. */
  public void lose(int seq) {
    int slot = seq & mask;
    remove(slot);
    append(slot, paths);
  }

  /** Takes an acknowledged frame off its list; its buffer ID, or 0 if that happened before. */
  public int acknowledge(int seq) {
    int slot = seq & mask;
    int id = bufferId[slot];
    if (id != 0) {
      if (list[slot] != NO_LIST) {
        remove(slot);
      }
      bufferId[slot] = 0;
    }
    return id;
  }

  /** Moves the cumulative point one on, past a frame that is acknowledged. */
  public void advance() {
    assert bufferId[unacknowledged & mask] == 0 : "advance past a held frame " + unacknowledged;
    unacknowledged++;
  }

  /** First frame of a path in order of transmission, as a slot's sequence; see {@link #isEmpty}. */
  public int firstOf(int path) {
    return seqOfSlot(head[path]);
  }

  /** First frame that waits for its resend. */
  public int firstLost() {
    return seqOfSlot(head[paths]);
  }

  public boolean isEmpty(int path) {
    return head[path] == NONE;
  }

  public boolean nothingLost() {
    return head[paths] == NONE;
  }

  /** Takes the first frame off the resend list; {@link #sent} must follow. */
  public void takeLost() {
    remove(head[paths]);
  }

  public int countOn(int path) {
    return count[path];
  }

  public long bytesOn(int path) {
    return bytes[path];
  }

  public int bufferId(int seq) {
    return bufferId[seq & mask];
  }

  /** The frame's resend goes out from a copy: the window holds that one from now on. */
  public void replaceBuffer(int seq, int id) {
    bufferId[seq & mask] = id;
  }

  public int lengthBytes(int seq) {
    return lengthBytes[seq & mask];
  }

  public int lane(int seq) {
    return lane[seq & mask];
  }

  public int copies(int seq) {
    return copies[seq & mask];
  }

  public int pathIndex(int seq) {
    return pathIndexOfSend[seq & mask];
  }

  /** The rail of the last transmission. */
  public int rail(int seq) {
    return rail[seq & mask];
  }

  public int railTicket(int seq) {
    return railTicket[seq & mask];
  }

  public long sentNs(int seq) {
    return sentNs[seq & mask];
  }

  /** The path whose list the frame is on, or -1 when it is on none or waits for its resend. */
  public int pathOf(int seq) {
    int l = list[seq & mask];
    return l == paths ? NONE : l;
  }

  private int seqOfSlot(int slot) {
    assert slot != NONE : "empty list";
    return unacknowledged + (slot - unacknowledged & mask);
  }

  private void append(int slot, int to) {
    assert list[slot] == NO_LIST : "slot on two lists";
    list[slot] = (byte) to;
    int last = tail[to];
    previousInList[slot] = last;
    nextInList[slot] = NONE;
    if (last == NONE) {
      head[to] = slot;
    } else {
      nextInList[last] = slot;
    }
    tail[to] = slot;
    count[to]++;
    bytes[to] += lengthBytes[slot];
  }

  private void remove(int slot) {
    int from = list[slot];
    int before = previousInList[slot];
    int after = nextInList[slot];
    if (before == NONE) {
      head[from] = after;
    } else {
      nextInList[before] = after;
    }
    if (after == NONE) {
      tail[from] = before;
    } else {
      previousInList[after] = before;
    }
    list[slot] = NO_LIST;
    count[from]--;
    bytes[from] -= lengthBytes[slot];
  }
}
