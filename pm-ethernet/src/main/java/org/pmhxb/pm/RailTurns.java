package org.pmhxb.pm;

/**
 * Whose frame is the next one when several rails brought some: senders spread a flow's frames over
 * their rails, so that one rail's frames after the other's would nearly all be out of order. Each
 * rail's frames keep theirs.
 *
 * <p>It is the next rail's turn when as many frames came from one as make a stripe: senders change
 * rails after each long frame, and after some short ones. A frame that is early, because one before
 * it lies on another rail, is passed over until each rail's first is; then it is out of order
 * indeed. Where frames are passed over, the stripe's length is learnt. Owner: the poll thread.
 */
final class RailTurns {
  // Of passedFrom.
  private static final int NONE = -1;
  private static final int ALL = -2;

  /** A stripe of unknown length: until a frame is early. */
  private static final int UNKNOWN = Integer.MAX_VALUE;

  // Of each rail that brought frames: the first that was not taken, and the end. Their length is a
  // power of two: an index that is masked by it needs no check.
  private final int[] heads;
  private final int[] ends;
  private int rails;

  /** Rails with frames that were not taken. */
  private int live;

  /** Whose turn it is. */
  private int rail;

  /** Frames that come from one rail in a row, as far as is known; kept for the next bursts. */
  private int stripe = 1;

  /** Frames until it is another rail's turn. */
  private int stripeLeft;

  /** The rail whose turn ended last. */
  private int lastRail;

  /** The rail whose frame was the first to be passed over since one was taken. */
  private int passedFrom;

  RailTurns(int railsMax) {
    int length = Integer.highestOneBit(Math.max(1, 2 * railsMax - 1));
    heads = new int[length];
    ends = new int[length];
  }

  /** Begins with no frames. */
  void clear() {
    rails = 0;
    live = 0;
    rail = 0;
    stripeLeft = stripe;
    lastRail = NONE;
    passedFrom = NONE;
  }

  /** The next rail brought the frames {@code [from, to)}, at least one. */
  void add(int from, int to) {
    int[] first = heads;
    int[] end = ends;
    int next = rails;
    first[next & first.length - 1] = from;
    end[next & end.length - 1] = to;
    rails = next + 1;
    live++;
  }

  /** A frame is taken out before the first turn; those behind it move up. */
  void takeOut(int frame) {
    for (int i = 0; i < rails; i++) {
      if (ends[i] > frame) {
        ends[i]--;
        if (heads[i] > frame) {
          heads[i]--;
        } else if (heads[i] == ends[i]) {
          live--;
        }
      }
    }
    if (live > 0 && heads[rail] == ends[rail]) {
      advance();
    }
  }

  /** Whether frames are left. */
  boolean hasMore() {
    return live > 0;
  }

  /** Rails that brought frames. */
  int rails() {
    return rails;
  }

  /** The frame whose turn it is; there is one. */
  int head() {
    int[] first = heads;
    return first[rail & first.length - 1];
  }

  /** {@link #head} is done with. */
  void taken() {
    int[] first = heads;
    int[] end = ends;
    int from = rail;
    int next = first[from & first.length - 1] + 1;
    first[from & first.length - 1] = next;
    passedFrom = NONE;
    boolean exhausted = next == end[from & end.length - 1];
    if (exhausted && --live == 0) {
      return;
    }
    if (--stripeLeft == 0 || exhausted) {
      lastRail = from;
      advance();
    }
  }

  /**
   * {@link #head} is early: another rail's turn.
   *
   * @return false when each rail's first frame is; then it is the first one's turn again
   */
  boolean pass() {
    if (passedFrom == ALL) {
      return false;
    }
    if (passedFrom == NONE) {
      passedFrom = rail;
      if (stripeLeft < stripe) {
        // The stripe was shorter than was thought.
        stripe -= stripeLeft;
        lastRail = NONE;
      }
    }
    advance();
    if (rail == passedFrom) {
      passedFrom = ALL;
      return false;
    }
    if (rail == lastRail) {
      // It was longer: it goes on.
      stripeLeft = UNKNOWN - stripe;
      stripe = UNKNOWN;
    }
    return true;
  }

  /** To the next rail that has frames; there is one, perhaps the same. */
  private void advance() {
    int[] first = heads;
    int[] end = ends;
    int next = rail;
    do {
      next = next + 1 < rails ? next + 1 : 0;
    } while (first[next & first.length - 1] == end[next & end.length - 1]);
    rail = next;
    stripeLeft = stripe;
  }
}
