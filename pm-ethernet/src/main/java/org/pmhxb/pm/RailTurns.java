package org.pmhxb.pm;

/**
 * Whose frame is the next one when several rails brought some: senders spread a flow's frames over
 * their rails, so that one rail's frames after the other's would nearly all be out of order. Each
 * rail's frames keep theirs.
 *
 * <p>It is the next rail's turn when as many frames came from one as the last time: senders change
 * rails after each long frame, and after some short ones. A frame that is early, because one before
 * it lies on another rail, is passed over until each rail's first is. Nothing of this decides more
 * than who waits; what is early on all rails is out of order indeed. Owner: the poll thread.
 */
final class RailTurns {
  private static final int NONE = -1;
  private static final int ALL = -2;

  // Of each rail that brought frames: the first that was not taken, and the end.
  private final int[] heads;
  private final int[] ends;
  private int rails;

  /** Frames that were not taken. */
  private int left;

  /** Whose turn it is. */
  private int rail;

  /** From where the last frame was taken, and how many in a row. */
  private int lastRail;

  private int run;

  /** How many in a row came from the rail before; kept for the next bursts. */
  private int lastRun = 1;

  /** The rail whose frame was the first to be passed over since one was taken. */
  private int passedFrom;

  RailTurns(int railsMax) {
    heads = new int[railsMax];
    ends = new int[railsMax];
  }

  /** Begins with no frames. */
  void clear() {
    rails = 0;
    left = 0;
    rail = 0;
    lastRail = 0;
    run = 0;
    passedFrom = NONE;
  }

  /** The next rail brought the frames {@code [from, to)}, at least one. */
  void add(int from, int to) {
    heads[rails] = from;
    ends[rails] = to;
    rails++;
    left += to - from;
  }

  /** Rails that brought frames. */
  int rails() {
    return rails;
  }

  /** Frames that were not taken. */
  int left() {
    return left;
  }

  /** The frame whose turn it is; there is one. */
  int head() {
    return heads[rail];
  }

  /** {@link #head} is done with. */
  void taken() {
    int from = rail;
    if (from != lastRail) {
      lastRail = from;
      lastRun = run;
      run = 0;
    }
    run++;
    passedFrom = NONE;
    int next = heads[from] + 1;
    heads[from] = next;
    left--;
    if (left > 0 && (run == lastRun || next == ends[from])) {
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
    }
    advance();
    if (rail != passedFrom) {
      return true;
    }
    passedFrom = ALL;
    return false;
  }

  /** To the next rail that has frames; there is one, perhaps the same. */
  private void advance() {
    int next = rail;
    do {
      next = next + 1 < rails ? next + 1 : 0;
    } while (heads[next] == ends[next]);
    rail = next;
  }
}
