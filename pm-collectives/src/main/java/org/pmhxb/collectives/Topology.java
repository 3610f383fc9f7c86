package org.pmhxb.collectives;

import java.util.Arrays;
import java.util.Objects;
import org.pmhxb.router.Shape;

/**
 * What algorithms know of the network: the shape of the crossbar, and which nodes are near each
 * other. The same at every member of a group. Immutable.
 */
public final class Topology {
  private final Shape shape;
  private final int[] clusterOfNode;
  private final int links;

  private Topology(Shape shape, int[] clusterOfNode, int links) {
    this.shape = shape;
    this.clusterOfNode = clusterOfNode;
    this.links = links;
  }

  /** Every node is as near as any other. */
  public static Topology flat() {
    return new Topology(null, null, 0);
  }

  /** A hyper-crossbar: nodes that differ in one coordinate are one hop apart. */
  public static Topology crossbar(Shape shape) {
    return new Topology(Objects.requireNonNull(shape), null, 0);
  }

  /**
   * The same with slow lines in one dimension: nodes of equal coordinate there are a cluster, and
   * two clusters have as many links as lines.
   *
   * @param dimension 0 to 2
   */
  public static Topology crossbar(Shape shape, int dimension) {
    int[] clusters = new int[shape.nodes()];
    Arrays.setAll(clusters, node -> shape.coordinates(node).get(dimension));
    return new Topology(shape, clusters, shape.nodes() / shape.extent(dimension));
  }

  /**
   * Clusters joined by slow links.
   *
   * @param clusterOfNode by node number
   * @param links that join two clusters, 1 or more: so many pairs of nodes use them at full rate
   */
  public static Topology clusters(int[] clusterOfNode, int links) {
    if (links < 1) {
      throw new IllegalArgumentException(links + " links between clusters: at least 1");
    }
    return new Topology(null, clusterOfNode.clone(), links);
  }

  /** The crossbar's shape, or null. */
  public Shape shape() {
    return shape;
  }

  /** Some links are slow. */
  public boolean hasClusters() {
    return clusterOfNode != null;
  }

  /**
   * The cluster that a node belongs to; any number, 0 where there are none.
   *
   * @throws IllegalArgumentException there are, and of this node it is not known
   */
  public int cluster(int node) {
    if (clusterOfNode == null) {
      return 0;
    }
    if (node >= clusterOfNode.length) {
      throw new IllegalArgumentException(
          "node %d has no cluster: the topology has those of 0..%d"
              .formatted(node, clusterOfNode.length - 1));
    }
    return clusterOfNode[node];
  }

  /** Links between two clusters, 0 where there are none. */
  public int links() {
    return links;
  }

  @Override
  public String toString() {
    String form = shape == null ? "flat" : "crossbar " + shape;
    return hasClusters() ? form + ", clusters with " + links + " links between" : form;
  }
}
