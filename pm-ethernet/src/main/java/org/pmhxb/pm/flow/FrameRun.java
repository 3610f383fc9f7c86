package org.pmhxb.pm.flow;

/**
 * Frames of one peer that go the same way one behind the other, so that each step is done to all of
 * them in a short loop. Fields are arrays side by side; what is not set has the last run's values.
 * Owner: the poll thread.
 */
public final class FrameRun {
  /** Frames at most. */
  public static final int CAPACITY = 64;

  final int[] id = new int[CAPACITY];
  final int[] frameBytes = new int[CAPACITY];
  final int[] lane = new int[CAPACITY];
  final int[] messages = new int[CAPACITY];

  /** The path that acknowledged frames were on. */
  int path;

  private int size;
  private int bytes;

  public int size() {
    return size;
  }

  /** Bytes of all frames. */
  public int bytes() {
    return bytes;
  }

  public void clear() {
    size = 0;
    bytes = 0;
  }

  /** Adds a frame; the caller has looked at {@link #size()}. */
  public void add(int bufferId, int lengthBytes, int laneNumber, int messageCount) {
    int i = size++;
    id[i] = bufferId;
    frameBytes[i] = lengthBytes;
    lane[i] = laneNumber;
    messages[i] = messageCount;
    bytes += lengthBytes;
  }

  /** The path that they were sent on; of an acknowledged run. */
  public int path() {
    return path;
  }

  /** Buffer IDs, in {@code [0, size())}. */
  public int[] ids() {
    return id;
  }

  public int frameBytes(int i) {
    return frameBytes[i];
  }

  public int lane(int i) {
    return lane[i];
  }

  public int messages(int i) {
    return messages[i];
  }
}
