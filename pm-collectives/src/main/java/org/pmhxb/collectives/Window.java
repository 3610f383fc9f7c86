package org.pmhxb.collectives;

/**
 * How much of a use of a group may be with a member unused (PROTOCOL.md section 12).
 *
 * @param bytes each message counting {@link Wire#COST_BYTES} more
 * @param chunkBytes of the program in one message at most, a multiple of 8: three quarters of the
 *     window, since as much as a quarter may be used there without a word of it
 */
record Window(int bytes, int chunkBytes) {
  /** The least for who was not heard of, in however large a group. */
  static final int LEAST_BYTES = 512;

  /**
   * @param frameBytes that one frame carries of the program
   */
  static Window of(int bytes, int frameBytes) {
    int most = bytes - bytes / 4 - Wire.COST_BYTES;
    return new Window(bytes, Math.min(frameBytes, most) & -Long.BYTES);
  }

  /**
   * Of a member that was not heard of in this use: it may not have joined, and keeps what comes
   * from all others until then.
   */
  static Window ofUnheard(CollectiveLimits limits, int members, int frameBytes) {
    int share = limits.strangerBytes() / Math.max(1, members - 1);
    return of(Math.clamp(share, LEAST_BYTES, limits.windowBytes()), frameBytes);
  }

  /** What was used of it is told unasked from here on. */
  int worthTellingBytes() {
    return bytes / 4;
  }
}
