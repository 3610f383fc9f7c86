package org.pmhxb.cli.bench.mpi;

import org.pmhxb.cli.veth.LinkRate;
import org.pmhxb.router.Shape;

/**
 * A kernel on eight ranks, 1-D against 3-D with as many links per node, as table 9 of the paper.
 *
 * @param slowdown of 3-D: its seconds over those of 1-D, less one
 * @param idle least share of processor time that was idle, of the two
 * @param sentBytes that a rank sends of the large messages
 * @param hops3d links that such a byte crosses in 3-D; 1 in 1-D
 * @param linkShare share of the 1-D time for which these bytes keep a node's links busy
 * @param bandwidthSlowdown by how much 3-D is slower if the program waits for all of that: the
 *     links are busy for {@code hops3d} times as long
 * @param slowdownMet the slowdown is at most {@value #MOST_SLOWDOWN}
 * @param idleMet the idle share is at least {@value #LEAST_IDLE} in both shapes
 */
public record KernelRow(
    String kernel,
    String size,
    KernelRuns line,
    KernelRuns cube,
    double slowdown,
    double idle,
    double sentBytes,
    double hops3d,
    double linkShare,
    double bandwidthSlowdown,
    boolean slowdownMet,
    boolean idleMet) {
  /** The aim for 3-D. */
  public static final double MOST_SLOWDOWN = 0.05;

  /** The links, not the processors, are to be compared. */
  public static final double LEAST_IDLE = 0.2;

  static final int RANKS = 8;
  static final Shape LINE = Shape.parse("8");
  static final Shape CUBE = Shape.parse("2x2x2");
  private static final int LINKS = 6;

  /** Each rank sends as much to each other. */
  static KernelRow allToAll(
      String kernel, String size, LinkRate rate, MpiFigures line, MpiFigures cube) {
    return of(kernel, size, rate, line, cube, meanHops(CUBE));
  }

  /** Ranks send to those that differ from them in one bit. */
  static KernelRow neighbours(
      String kernel, String size, LinkRate rate, MpiFigures line, MpiFigures cube) {
    return of(kernel, size, rate, line, cube, 1);
  }

  private static KernelRow of(
      String kernel, String size, LinkRate rate, MpiFigures line, MpiFigures cube, double hops3d) {
    KernelRuns a = KernelRuns.of(kernel, size, line);
    KernelRuns b = KernelRuns.of(kernel, size, cube);
    double sentBytes = line.of(kernel + "-bytes", size).orElseThrow().value();
    double linkShare = sentBytes / (LINKS * rate.bytesPerSecond()) / a.seconds();
    double slowdown = b.seconds() / a.seconds() - 1;
    double idle = Math.min(a.idle(), b.idle());
    return new KernelRow(
        kernel,
        size,
        a,
        b,
        slowdown,
        idle,
        sentBytes,
        hops3d,
        linkShare,
        linkShare * (hops3d - 1),
        slowdown <= MOST_SLOWDOWN,
        idle >= LEAST_IDLE);
  }

  /** Both aims. */
  public boolean met() {
    return slowdownMet && idleMet;
  }

  /** Links on the way from one node to another, over all pairs. */
  static double meanHops(Shape shape) {
    int sum = 0;
    for (int a = 0; a < shape.nodes(); a++) {
      for (int b = 0; b < shape.nodes(); b++) {
        sum += shape.hops(a, b);
      }
    }
    return (double) sum / (shape.nodes() * (shape.nodes() - 1));
  }
}
