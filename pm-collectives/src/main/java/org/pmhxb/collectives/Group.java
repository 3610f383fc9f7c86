package org.pmhxb.collectives;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.pmhxb.pm.PmNode;

/**
 * Some nodes in an order, and this node's place in it: its rank. Every member makes the group with
 * the same number and the same nodes in the same order. Immutable.
 */
public final class Group {
  /** Largest number of a group. */
  public static final int MAX_ID = 0xFFFF;

  private final int id;
  private final int[] nodes;
  private final int rank;

  private Group(int id, int[] nodes, int rank) {
    this.id = id;
    this.nodes = nodes;
    this.rank = rank;
  }

  /**
   * A group as one of its nodes sees it.
   *
   * @param id 0 to 65,535; tells the group's messages from those of others on the same endpoint
   * @param self this node's number, one of {@code nodes}
   * @param nodes by rank, each once
   */
  public static Group of(int id, int self, int... nodes) {
    if (id < 0 || id > MAX_ID) {
      throw new IllegalArgumentException("group " + id + " is out of range 0.." + MAX_ID);
    }
    int rank = -1;
    Map<Integer, Integer> ranks = new HashMap<>();
    for (int r = 0; r < nodes.length; r++) {
      Integer before = ranks.put(nodes[r], r);
      if (nodes[r] < 0 || before != null) {
        throw new IllegalArgumentException(
            "group %d: node %d at rank %d %s"
                .formatted(
                    id,
                    nodes[r],
                    r,
                    before == null ? "does not exist" : "is at rank " + before + " too"));
      }
      rank = nodes[r] == self ? r : rank;
    }
    if (rank < 0) {
      throw new IllegalArgumentException(
          "node " + self + " is none of group " + id + ": " + Arrays.toString(nodes));
    }
    return new Group(id, nodes.clone(), rank);
  }

  /** All nodes of a machine, in the order of their numbers. */
  public static Group all(int id, PmNode node) {
    int[] nodes = new int[node.nodes()];
    Arrays.setAll(nodes, i -> i);
    return of(id, node.self(), nodes);
  }

  public int id() {
    return id;
  }

  /** Number of members, 1 or more. */
  public int size() {
    return nodes.length;
  }

  /** This node's place. */
  public int rank() {
    return rank;
  }

  /** The node at a rank. */
  public int node(int atRank) {
    return nodes[atRank];
  }

  /** The same group as another member sees it. */
  public Group at(int otherRank) {
    return new Group(id, nodes, otherRank);
  }

  /** By rank. */
  int[] nodes() {
    return nodes.clone();
  }

  @Override
  public String toString() {
    return "group " + id + " of " + nodes.length + " nodes, rank " + rank;
  }
}
