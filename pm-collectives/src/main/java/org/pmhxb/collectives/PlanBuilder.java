package org.pmhxb.collectives;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Takes down the steps of an {@link Algorithm} for one rank. The order of the calls is the order in
 * which the steps' effects show; what does not touch the same bytes goes on at the same time, and
 * what does goes on byte by byte. Between two ranks, the n-th send of the one is the n-th receive
 * (or combination) of the other and has its length. Steps of no bytes are left out.
 *
 * <p>The steps of all ranks together must be such that they could also be gone through in the order
 * in which they stand, with sends that wait for their receives: then they end with any buffers.
 */
public final class PlanBuilder {
  private record Step(
      byte kind,
      int partner,
      Area area,
      long offset,
      Area fromArea,
      long fromOffset,
      long bytes,
      List<Integer> predecessors) {

    boolean writes() {
      return kind != Plan.SEND;
    }

    boolean reads() {
      return kind != Plan.RECEIVE;
    }

    /** Read: the source of a copy, an operand, what is sent. */
    Area readArea() {
      return kind == Plan.SEND ? area : fromArea;
    }

    long readOffset() {
      return kind == Plan.SEND ? offset : fromOffset;
    }
  }

  private final Problem problem;
  private final Algorithm algorithm;
  private final List<Step> steps = new ArrayList<>();
  private final List<Integer> ranks = new ArrayList<>();
  private final int[] partnerOfRank;
  private long scratchBytes;

  private PlanBuilder(Problem problem, Algorithm algorithm) {
    this.problem = problem;
    this.algorithm = algorithm;
    this.partnerOfRank = new int[problem.size()];
    Arrays.fill(partnerOfRank, -1);
  }

  /** The plan of an algorithm for the problem's rank. */
  static Plan plan(Problem problem, Algorithm algorithm) {
    PlanBuilder builder = new PlanBuilder(problem, algorithm);
    algorithm.plan(problem, builder);
    return new Plan(builder);
  }

  public Problem problem() {
    return problem;
  }

  public int rank() {
    return problem.rank();
  }

  public int size() {
    return problem.size();
  }

  // --- steps ------------------------------------------------------------------------------------

  /**
   * Sends a range of bytes.
   *
   * @return the step's number, or -1 when there was nothing to do
   */
  public int send(int toRank, Area area, long offset, long bytes) {
    return add(Plan.SEND, toRank, area, offset, Area.INPUT, 0, bytes);
  }

  /** Receives into a range of bytes. */
  public int receive(int fromRank, Area area, long offset, long bytes) {
    return add(Plan.RECEIVE, fromRank, area, offset, Area.INPUT, 0, bytes);
  }

  /** Receives a vector and combines it, element by element: {@code area = from op received}. */
  public int combine(int fromRank, Area from, long fromOffset, Area area, long offset, long bytes) {
    return add(Plan.COMBINE, fromRank, area, offset, from, fromOffset, bytes);
  }

  /** Copies within this rank. */
  public int copy(Area from, long fromOffset, Area area, long offset, long bytes) {
    if (problem.inPlace() && fromOffset == offset && from != Area.SCRATCH && area != Area.SCRATCH) {
      return -1;
    }
    return add(Plan.COPY, -1, area, offset, from, fromOffset, bytes);
  }

  /** Lets a step wait until an earlier one is over, although they share no bytes. */
  public void after(int step, int earlier) {
    if (step >= 0 && earlier >= 0) {
      if (earlier >= step) {
        throw new IllegalArgumentException("step " + earlier + " is not before step " + step);
      }
      steps.get(step).predecessors.add(earlier);
    }
  }

  /**
   * Takes memory for what is on its way.
   *
   * @return its offset in {@link Area#SCRATCH}
   */
  public long scratch(long bytes) {
    long at = scratchBytes;
    scratchBytes = Math.addExact(at, bytes + 63) & -64;
    return at;
  }

  /** Where block i of n begins when a message is cut at element boundaries; block n ends it. */
  public long cut(long bytes, int i, int n) {
    long elements = bytes / problem.elementBytes();
    return i == n ? bytes : elements * i / n * problem.elementBytes();
  }

  private int add(
      byte kind, int rank, Area area, long offset, Area from, long fromOffset, long bytes) {
    if (bytes == 0) {
      return -1;
    }
    check(area, offset, bytes, kind != Plan.SEND);
    if (kind == Plan.COMBINE || kind == Plan.COPY) {
      check(from, fromOffset, bytes, false);
    }
    if (kind != Plan.COPY && (rank < 0 || rank >= size() || rank == rank())) {
      throw new IllegalArgumentException(
          "%s: rank %d of %d has no messages with rank %d"
              .formatted(algorithm.name(), rank(), size(), rank));
    }
    steps.add(
        new Step(
            kind,
            kind == Plan.COPY ? -1 : partner(rank),
            actual(area),
            offset,
            actual(from),
            fromOffset,
            bytes,
            new ArrayList<>(0)));
    return steps.size() - 1;
  }

  /** In place, input and output are the same bytes. */
  private Area actual(Area area) {
    return area == Area.INPUT && problem.inPlace() ? Area.OUTPUT : area;
  }

  private void check(Area area, long offset, long bytes, boolean written) {
    long size =
        switch (area) {
          case INPUT -> problem.inputBytes();
          case OUTPUT -> problem.outputBytes();
          case SCRATCH -> scratchBytes;
        };
    if (bytes < 0 || offset < 0 || offset > size - bytes || written && area == Area.INPUT) {
      throw new IllegalArgumentException(
          "%s: %d bytes at %d of %s, which has %d%s"
              .formatted(
                  algorithm.name(),
                  bytes,
                  offset,
                  area,
                  size,
                  area == Area.INPUT ? " and is not written" : ""));
    }
  }

  private int partner(int rank) {
    if (partnerOfRank[rank] < 0) {
      partnerOfRank[rank] = ranks.size();
      ranks.add(rank);
    }
    return partnerOfRank[rank];
  }

  // --- the plan's arrays ------------------------------------------------------------------------

  Algorithm algorithm() {
    return algorithm;
  }

  long scratchBytes() {
    return scratchBytes;
  }

  byte[] kinds() {
    byte[] kinds = new byte[steps.size()];
    for (int i = 0; i < kinds.length; i++) {
      kinds[i] = steps.get(i).kind;
    }
    return kinds;
  }

  int[] partners() {
    return steps.stream().mapToInt(Step::partner).toArray();
  }

  byte[] areas() {
    byte[] areas = new byte[steps.size()];
    for (int i = 0; i < areas.length; i++) {
      areas[i] = (byte) steps.get(i).area.ordinal();
    }
    return areas;
  }

  long[] offsets() {
    return steps.stream().mapToLong(Step::offset).toArray();
  }

  byte[] fromAreas() {
    byte[] areas = new byte[steps.size()];
    for (int i = 0; i < areas.length; i++) {
      areas[i] = (byte) steps.get(i).fromArea.ordinal();
    }
    return areas;
  }

  long[] fromOffsets() {
    return steps.stream().mapToLong(Step::fromOffset).toArray();
  }

  long[] bytes() {
    return steps.stream().mapToLong(Step::bytes).toArray();
  }

  int[] ranks() {
    return ranks.stream().mapToInt(r -> r).toArray();
  }

  int[] copies() {
    return numbers(s -> s.kind == Plan.COPY);
  }

  int[][] stepsOfPartners(boolean sends) {
    int[][] all = new int[ranks.size()][];
    for (int p = 0; p < all.length; p++) {
      int partner = p;
      all[p] = numbers(s -> s.partner == partner && (s.kind == Plan.SEND) == sends);
    }
    return all;
  }

  private int[] numbers(java.util.function.Predicate<Step> wanted) {
    int[] found = new int[steps.size()];
    int n = 0;
    for (int i = 0; i < steps.size(); i++) {
      if (wanted.test(steps.get(i))) {
        found[n++] = i;
      }
    }
    return Arrays.copyOf(found, n);
  }

  int[][] predecessors() {
    int[][] all = new int[steps.size()][];
    for (int i = 0; i < all.length; i++) {
      List<Integer> before = steps.get(i).predecessors;
      all[i] = before.isEmpty() ? Plan.NONE : before.stream().mapToInt(e -> e).toArray();
    }
    return all;
  }

  int[][] sharers() {
    int[][] all = new int[steps.size()][];
    for (int i = 0; i < all.length; i++) {
      int[] found = new int[2 * i];
      int n = 0;
      for (int e = 0; e < i; e++) {
        if (delta(e, i) != Long.MIN_VALUE) {
          found[n++] = e;
        }
      }
      all[i] = n == 0 ? Plan.NONE : Arrays.copyOf(found, n);
    }
    return all;
  }

  long[][] shareDeltas() {
    int[][] sharers = sharers();
    long[][] all = new long[sharers.length][];
    for (int i = 0; i < all.length; i++) {
      all[i] = new long[sharers[i].length];
      for (int k = 0; k < all[i].length; k++) {
        all[i][k] = delta(sharers[i][k], i);
      }
    }
    return all;
  }

  /** By how much the earlier range begins behind the later one's; least long: nothing shared. */
  private long delta(int earlier, int later) {
    Step e = steps.get(earlier);
    Step l = steps.get(later);
    long least = Long.MAX_VALUE;
    if (e.writes() && l.writes()) {
      least = Math.min(least, overlap(e.area, e.offset, e.bytes, l.area, l.offset, l.bytes));
    }
    if (e.writes() && l.reads()) {
      least =
          Math.min(
              least, overlap(e.area, e.offset, e.bytes, l.readArea(), l.readOffset(), l.bytes));
    }
    if (e.reads() && l.writes()) {
      least =
          Math.min(
              least, overlap(e.readArea(), e.readOffset(), e.bytes, l.area, l.offset, l.bytes));
    }
    return least == Long.MAX_VALUE ? Long.MIN_VALUE : least;
  }

  private static long overlap(Area a, long aAt, long aBytes, Area b, long bAt, long bBytes) {
    boolean shared = a == b && aAt < bAt + bBytes && bAt < aAt + aBytes;
    return shared ? aAt - bAt : Long.MAX_VALUE;
  }
}
