package org.pmhxb.cli.bench.mpi;

import org.pmhxb.cli.veth.LinkRate;
import org.pmhxb.router.Shape;

/**
 * A kernel on eight ranks, 1-D against 3-D with as many links per node, as table 9 of the paper.
 *
 * @param slowdown of 3-D: its seconds over those of 1-D, less one
 * @param idle1d share of the machine's processor time that was idle meanwhile
 * @param idle least of the two
 * @param sentBytes that a rank sends of the large messages
 * @param hops3d links that such a byte crosses in 3-D; 1 in 1-D
 * @param linkShare share of the 1-D time for which these bytes keep a node's links busy
 * @param bandwidthSlowdown by how much 3-D is slower if the program waits for all of that: the
 *     links are busy for {@code hops3d} times as long
 */
public record KernelRow(
    String kernel,
    String size,
    double seconds1d,
    double seconds3d,
    double slowdown,
    double idle1d,
    double idle3d,
    double idle,
    double sentBytes,
    double hops3d,
    double linkShare,
    double bandwidthSlowdown) {
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
    MpiFigures.Figure a = line.of(kernel, size).orElseThrow();
    MpiFigures.Figure b = cube.of(kernel, size).orElseThrow();
    double sentBytes = line.of(kernel + "-bytes", size).orElseThrow().value();
    double linkShare = sentBytes / (LINKS * rate.bytesPerSecond()) / a.value();
    return new KernelRow(
        kernel,
        size,
        a.value(),
        b.value(),
        b.value() / a.value() - 1,
        1 - a.busy(),
        1 - b.busy(),
        1 - Math.max(a.busy(), b.busy()),
        sentBytes,
        hops3d,
        linkShare,
        linkShare * (hops3d - 1));
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
