package org.pmhxb.collectives;

/**
 * What one rank does in one collective: steps in an order, as arrays. A step moves a range of bytes
 * from front to back and may begin before earlier ones have ended: what it has to wait for are the
 * bytes that it shares with them. So whatever is passed on is passed on frame by frame, and what is
 * combined is combined in the order of the steps, byte for byte. Immutable.
 */
final class Plan {
  static final byte SEND = 0;
  static final byte RECEIVE = 1;
  static final byte COMBINE = 2;
  static final byte COPY = 3;

  /** No earlier step to wait for. */
  static final int[] NONE = {};

  final Algorithm algorithm;
  final byte[] kinds;

  /** Index into {@link #ranks}; -1 of a copy. */
  final int[] partners;

  /** Area that is read or written, and where. */
  final byte[] areas;

  final long[] offsets;

  /** Of a combination its other operand, of a copy its source. */
  final byte[] fromAreas;

  final long[] fromOffsets;
  final long[] bytes;

  /** Earlier steps that share bytes, and by how much their range begins behind this one's. */
  final int[][] sharers;

  final long[][] shareDeltas;

  /** Earlier steps that have to be over, or {@link #NONE}. */
  final int[][] predecessors;

  /** Ranks that messages go to or come from. */
  final int[] ranks;

  /** Steps by partner, in order: the channel between two ranks is first in, first out. */
  final int[][] sends;

  final int[][] receives;
  final int[] copies;
  final long scratchBytes;

  Plan(PlanBuilder b) {
    algorithm = b.algorithm();
    kinds = b.kinds();
    partners = b.partners();
    areas = b.areas();
    offsets = b.offsets();
    fromAreas = b.fromAreas();
    fromOffsets = b.fromOffsets();
    bytes = b.bytes();
    sharers = b.sharers();
    shareDeltas = b.shareDeltas();
    predecessors = b.predecessors();
    ranks = b.ranks();
    sends = b.stepsOfPartners(true);
    receives = b.stepsOfPartners(false);
    copies = b.copies();
    scratchBytes = b.scratchBytes();
  }

  int steps() {
    return kinds.length;
  }

  /**
   * How far a step may go.
   *
   * @param done bytes of every step that are done
   */
  long limit(int step, long[] done) {
    long limit = bytes[step];
    int[] earlier = sharers[step];
    for (int i = 0; i < earlier.length; i++) {
      int e = earlier[i];
      if (done[e] < bytes[e]) {
        limit = Math.min(limit, done[e] + shareDeltas[step][i]);
      }
    }
    for (int e : predecessors[step]) {
      if (done[e] < bytes[e]) {
        return 0;
      }
    }
    return Math.max(limit, 0);
  }
}
