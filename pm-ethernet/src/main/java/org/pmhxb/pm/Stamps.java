package org.pmhxb.pm;

import java.util.Arrays;
import org.pmhxb.pm.flow.ReplayWindow;

/**
 * What makes the tags of one peer's frames count once (PROTOCOL.md section 2.6). Made when the
 * first frame is stamped or looked at, so only where stamps are in use. Owner: the poll thread.
 */
final class Stamps {
  private long next;
  private int sentWraps;
  private int lastNextOut;
  private int receivedWraps;
  private int lastNext;
  private ReplayWindow control;
  private ReplayWindow line;
  private ReplayWindow[] discover = {};

  /** The stamp of the next control frame to this peer. */
  long next(FrameKey key) {
    next = next == 0 ? key.firstStamp() : next + 1;
    return next;
  }

  /** Whether this stamp of a control frame was not seen before. */
  boolean isNewControl(long its) {
    control = control == null ? new ReplayWindow() : control;
    return control.accept(its);
  }

  /** Whether this stamp of a frame to a line, other than a DISCOVER, was not seen before. */
  boolean isNewToLine(long its) {
    line = line == null ? new ReplayWindow() : line;
    return line.accept(its);
  }

  /**
   * Whether this stamp of a DISCOVER was not seen before on a rail. Where several rails are on one
   * network each hears it, and only one of them is the one that it is for.
   */
  boolean isNewDiscover(int rail, long its) {
    if (rail >= discover.length) {
      discover = Arrays.copyOf(discover, rail + 1);
    }
    if (discover[rail] == null) {
      discover[rail] = new ReplayWindow();
    }
    return discover[rail].accept(its);
  }

  /** A session begins with these numbers. */
  void startWraps(int myFirstSeq, int peerFirstSeq) {
    sentWraps = 0;
    lastNextOut = myFirstSeq;
    receivedWraps = 0;
    lastNext = peerFirstSeq;
  }

  /**
   * How often the numbers had passed 2^32 at a frame that is held; asked for each of them.
   *
   * @param next number of the frame that is sent next
   */
  long wrapsOfSent(int seq, int next) {
    if (Integer.compareUnsigned(next, lastNextOut) < 0) {
      sentWraps++;
    }
    lastNextOut = next;
    return Integer.compareUnsigned(seq, next) < 0 ? sentWraps : sentWraps - 1;
  }

  /**
   * The same for a received frame; -1 for one before the session's first.
   *
   * @param next the next number in order
   */
  long wrapsOfReceived(int seq, int next) {
    if (Integer.compareUnsigned(next, lastNext) < 0) {
      receivedWraps++;
    }
    lastNext = next;
    boolean smaller = Integer.compareUnsigned(seq, next) < 0;
    if (seq - next >= 0) {
      return smaller ? receivedWraps + 1 : receivedWraps;
    }
    return smaller ? receivedWraps : receivedWraps - 1;
  }
}
