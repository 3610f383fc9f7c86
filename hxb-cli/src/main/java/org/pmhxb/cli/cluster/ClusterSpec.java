package org.pmhxb.cli.cluster;

import java.util.Locale;
import org.pmhxb.cli.veth.FabricPlan;
import org.pmhxb.cli.veth.LinkRate;
import org.pmhxb.router.Shape;

/**
 * A cluster of processes on this machine.
 *
 * @param rails links per node in each dimension, 1 to 9
 * @param rate raw rate of each link, or null for as fast as it goes; veth only
 * @param poll how the nodes' poll threads behave
 * @param options key and faults
 */
public record ClusterSpec(
    Fabric fabric, Shape shape, int rails, LinkRate rate, PollPolicy poll, NodeOptions options) {
  /** What joins the processes. */
  public enum Fabric {
    /** Veth pairs and bridges between network namespaces. */
    VETH,
    /** Shared memory; lines of two nodes only. */
    SHM,
    /** The same by memif. */
    MEMIF;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** A cluster whose poll threads behave as they do by default. */
  public ClusterSpec(Fabric fabric, Shape shape, int rails, LinkRate rate) {
    this(fabric, shape, rails, rate, PollPolicy.DEFAULT, NodeOptions.NONE);
  }

  /** The same cluster with other poll threads. */
  public ClusterSpec withPoll(PollPolicy policy) {
    return new ClusterSpec(fabric, shape, rails, rate, policy, options);
  }

  public ClusterSpec {
    if (fabric == Fabric.VETH && !poll.shared().isEmpty()) {
      throw new IllegalArgumentException(
          "nodes of the veth fabric have a network namespace each and share no process");
    }
    if (fabric == Fabric.VETH) {
      FabricPlan.requireFits(shape);
    }
    if (shape.nodes() < 2) {
      throw new IllegalArgumentException("--shape is " + shape + "; must have 2 nodes or more");
    }
    if (fabric != Fabric.VETH) {
      if (rate != null) {
        throw new IllegalArgumentException(
            "--rate is " + rate + "; " + fabric + " links cannot be shaped, those of veth can");
      }
      requireLinesOfTwo(fabric, shape);
    }
  }

  /**
   * @throws IllegalArgumentException a line has more nodes than memory of two processes joins
   */
  public static void requireLinesOfTwo(Fabric fabric, Shape shape) {
    for (int d = 0; d < 3; d++) {
      if (shape.extent(d) > 2) {
        throw new IllegalArgumentException(
            "--shape is "
                + shape
                + "; "
                + fabric
                + " joins lines of two nodes only: veth joins longer ones, and so does ring,"
                + " for demo and bench");
      }
    }
  }
}
