package org.pmhxb.pm.flow;

/**
 * Frames of one lane that were sent one behind the other on one path and are acknowledged together.
 * Owner: the poll thread.
 */
public final class FrameRun {
  /** Frames at most. */
  public static final int CAPACITY = 64;

  private final int[] ids = new int[CAPACITY];
  private int size;
  private int bytes;
  private int messages;
  private int lane;
  private int path;

  void set(int frameCount, int byteCount, int messageCount, int laneNumber, int pathNumber) {
    size = frameCount;
    bytes = byteCount;
    messages = messageCount;
    lane = laneNumber;
    path = pathNumber;
  }

  public int size() {
    return size;
  }

  /** Buffer IDs, in {@code [0, size())}. */
  public int[] ids() {
    return ids;
  }

  /** Bytes of all frames. */
  public int bytes() {
    return bytes;
  }

  /** Messages in all frames. */
  public int messages() {
    return messages;
  }

  public int lane() {
    return lane;
  }

  /** The path that they were sent on. */
  public int path() {
    return path;
  }
}
