package org.pmhxb.collectives.algorithm;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.pmhxb.collectives.CostModel;
import org.pmhxb.collectives.Problem;
import org.pmhxb.router.Coordinates;
import org.pmhxb.router.Shape;

/**
 * What a pattern takes by LogGP: rounds, each as long as its longest latency and the most bytes
 * that one node or one link between clusters has to carry; and streams, in which the frames of a
 * message pass several nodes at once.
 */
final class Estimate {
  private static final int DIMENSIONS = 3;

  /**
   * Frames that a sender has on its way before a queue's length can tell it to stop: its first
   * window, two frames (DelayWindow), and that once more.
   */
  private static final int UNTOLD_FRAMES = 4;

  private final Problem problem;
  private final CostModel model;

  /** Bytes by rank and dimension: a node has rails of its own in each. */
  private final double[] out;

  private final double[] in;
  private double latencyNs;
  private double crossing;
  private double crossingBack;

  /** Bytes by sender and receiver in different clusters. */
  private final Map<Long, Double> crossingPairs = new HashMap<>();

  private int messages;
  private double totalNs;

  Estimate(Problem problem, CostModel model) {
    this.problem = problem;
    this.model = model;
    this.out = new double[problem.size() * DIMENSIONS];
    this.in = new double[problem.size() * DIMENSIONS];
  }

  /** A message of the present round. */
  Estimate flow(int from, int to, double bytes) {
    out[from * DIMENSIONS + dimension(from, to)] += bytes;
    in[to * DIMENSIONS + lastDimension(from, to)] += bytes;
    messages = Math.max(messages, 1);
    latencyNs = Math.max(latencyNs, latencyNs(from, to));
    int a = cluster(from);
    int b = cluster(to);
    crossing += a < b ? bytes : 0;
    crossingBack += a > b ? bytes : 0;
    if (a != b) {
      crossingPairs.merge((long) from << 32 | to, bytes, Double::sum);
    }
    return this;
  }

  /** A node sends that many messages one after the other in the present round. */
  Estimate messages(int count) {
    messages = Math.max(messages, count);
    return this;
  }

  /** 1 when two ranks are in different clusters, else 0. */
  int crosses(int a, int b) {
    return cluster(a) == cluster(b) ? 0 : 1;
  }

  private int cluster(int rank) {
    return problem.topology().cluster(problem.group().node(rank));
  }

  /** In which a message leaves: X before Y before Z. */
  private int dimension(int from, int to) {
    Shape shape = problem.topology().shape();
    if (shape == null) {
      return 0;
    }
    Coordinates a = shape.coordinates(problem.group().node(from));
    Coordinates b = shape.coordinates(problem.group().node(to));
    return a.x() != b.x() ? 0 : a.y() != b.y() ? 1 : 2;
  }

  /** In which it arrives. */
  private int lastDimension(int from, int to) {
    Shape shape = problem.topology().shape();
    if (shape == null) {
      return 0;
    }
    Coordinates a = shape.coordinates(problem.group().node(from));
    Coordinates b = shape.coordinates(problem.group().node(to));
    return a.z() != b.z() ? 2 : a.y() != b.y() ? 1 : 0;
  }

  private double latencyNs(int from, int to) {
    Shape shape = problem.topology().shape();
    int a = problem.group().node(from);
    int b = problem.group().node(to);
    int relays = shape == null ? 0 : shape.hops(a, b) - 1;
    double ns = cluster(from) == cluster(to) ? model.latencyNs() : model.slowLatencyNs();
    return ns + relays * model.relayNs();
  }

  /** Time to carry what the present round's messages have. */
  private double carryNs() {
    double node = Math.max(most(out), most(in)) * model.nsPerByte();
    int links = problem.topology().links();
    double slow = links == 0 ? 0 : Math.max(crossing, crossingBack) * model.slowNsPerByte() / links;
    return Math.max(node, slow * overflow(links));
  }

  /**
   * How often what crosses has to be carried, at least: once, or, where the senders of one side
   * together have more on the way than the switch in front of the slow links keeps, as often as
   * that is too much. What is lost comes again, and takes its part of the link a second time.
   */
  private double overflow(int links) {
    if (model.slowQueueBytes() == 0 || links == 0) {
      return 1;
    }
    double there = 0;
    double back = 0;
    for (Map.Entry<Long, Double> pair : crossingPairs.entrySet()) {
      double atOnce = Math.min(pair.getValue(), (double) UNTOLD_FRAMES * model.frameBytes());
      int from = cluster((int) (pair.getKey() >>> 32));
      int to = cluster((int) (long) pair.getKey());
      there += from < to ? atOnce : 0;
      back += from > to ? atOnce : 0;
    }
    return Math.max(1, Math.max(there, back) / links / model.slowQueueBytes());
  }

  private static double most(double[] values) {
    double most = 0;
    for (double v : values) {
      most = Math.max(most, v);
    }
    return most;
  }

  private void clear() {
    Arrays.fill(out, 0);
    Arrays.fill(in, 0);
    latencyNs = 0;
    crossing = 0;
    crossingBack = 0;
    crossingPairs.clear();
    messages = 0;
  }

  /** The next round begins when all of this one has arrived. */
  Estimate round() {
    totalNs += messages * model.overheadNs() + latencyNs + carryNs();
    clear();
    return this;
  }

  /**
   * The messages of this round are one stream: its first frame passes so many nodes one after the
   * other, the rest follows as fast as the busiest part carries it.
   *
   * @param depth messages from the first node to the last
   * @param slow of those that go from one cluster to another
   * @param bytes that pass
   */
  Estimate stream(int depth, int slow, double bytes) {
    double frame = Math.min(bytes, model.frameBytes());
    double near = model.overheadNs() + model.latencyNs() + frame * model.nsPerByte();
    double far = model.overheadNs() + model.slowLatencyNs() + frame * model.slowNsPerByte();
    double rest = bytes > frame ? carryNs() * (bytes - frame) / bytes : 0;
    totalNs += (depth - slow) * near + slow * far + rest;
    clear();
    return this;
  }

  /** Combining received bytes, where it is not hidden behind the network. */
  Estimate reduce(double bytes) {
    totalNs += bytes * model.reduceNsPerByte();
    return this;
  }

  double ns() {
    return totalNs;
  }
}
