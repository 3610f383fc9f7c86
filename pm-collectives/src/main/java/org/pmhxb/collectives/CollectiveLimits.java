package org.pmhxb.collectives;

/**
 * Bounds of what collectives hold.
 *
 * @param windowBytes that one member of a group may send to another before that has used them: what
 *     comes before its turn is kept within twice this, and what is beyond is not sent; memory that
 *     was needed for it is used again for messages of like length, and given back when a group is
 *     left. At least the product of rate and round trip of the slowest link, 4 KB to 1 GB; the same
 *     at every member, since each tells what it used after a quarter of its own
 * @param strangerBytes kept of a group that this node has not joined yet, counted as in the window,
 *     4 KB to 1 GB, the same at every member: each of the others sends its share of it before it
 *     hears from this node. Beyond 8 times as much, of several groups, messages of all groups stay
 *     undelivered until it joins one
 */
public record CollectiveLimits(int windowBytes, int strangerBytes) {
  private static final int LEAST_BYTES = 4_096;
  private static final int MOST_BYTES = 1 << 30;

  public CollectiveLimits {
    check("windowBytes", windowBytes);
    check("strangerBytes", strangerBytes);
  }

  /** 1 MB from each member, 4 MB of strangers. */
  public static CollectiveLimits defaults() {
    return new CollectiveLimits(1 << 20, 4 << 20);
  }

  private static void check(String name, int bytes) {
    if (bytes < LEAST_BYTES || bytes > MOST_BYTES) {
      throw new IllegalArgumentException(
          name + " is " + bytes + "; must be in " + LEAST_BYTES + ".." + MOST_BYTES);
    }
  }
}
