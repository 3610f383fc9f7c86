package org.pmhxb.collectives.algorithm;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.pmhxb.collectives.Problem;

/**
 * A group's ranks by cluster. Within a cluster they are in the order of their nodes, so that equal
 * places of two clusters are at the ends of one slow line of a crossbar: counterparts.
 */
final class Clusters {
  private final Problem problem;
  private final List<int[]> clusters = new ArrayList<>();
  private final int[] clusterOfRank;
  private final int[] placeOfRank;

  private Clusters(Problem problem) {
    this.problem = problem;
    Map<Integer, List<Integer>> byCluster = new TreeMap<>();
    for (int r = 0; r < problem.size(); r++) {
      byCluster
          .computeIfAbsent(
              problem.topology().cluster(problem.group().node(r)), c -> new ArrayList<>())
          .add(r);
    }
    clusterOfRank = new int[problem.size()];
    placeOfRank = new int[problem.size()];
    for (List<Integer> ranks : byCluster.values()) {
      ranks.sort(Comparator.comparingInt(r -> problem.group().node(r)));
      for (int i = 0; i < ranks.size(); i++) {
        clusterOfRank[ranks.get(i)] = clusters.size();
        placeOfRank[ranks.get(i)] = i;
      }
      clusters.add(ranks.stream().mapToInt(r -> r).toArray());
    }
  }

  static Clusters of(Problem problem) {
    return new Clusters(problem);
  }

  static String objection(Problem problem) {
    if (!problem.topology().hasClusters()) {
      return "the topology has no clusters";
    }
    return of(problem).count() < 2 ? "the group lies in one cluster" : null;
  }

  /** For what needs a counterpart of everybody. */
  static String objectionUnlessEqual(Problem problem) {
    String objection = objection(problem);
    if (objection != null) {
      return objection;
    }
    Clusters clusters = of(problem);
    for (int c = 1; c < clusters.count(); c++) {
      if (clusters.size(c) != clusters.size(0)) {
        return "clusters of %d and %d ranks".formatted(clusters.size(0), clusters.size(c));
      }
    }
    return null;
  }

  int count() {
    return clusters.size();
  }

  int size(int cluster) {
    return clusters.get(cluster).length;
  }

  int cluster(int rank) {
    return clusterOfRank[rank];
  }

  int place(int rank) {
    return placeOfRank[rank];
  }

  /** The rank at a place of a cluster, counted in a circle. */
  int rank(int cluster, int place) {
    int[] ranks = clusters.get(cluster);
    return ranks[Math.floorMod(place, ranks.length)];
  }

  /** A cluster in a circle from a place on. */
  Members members(int cluster, int first) {
    int[] ranks = new int[size(cluster)];
    for (int i = 0; i < ranks.length; i++) {
      ranks[i] = rank(cluster, first + i);
    }
    return Members.of(problem.rank(), ranks);
  }

  /** The rank at a place in each cluster, in a circle from a cluster on. */
  Members counterparts(int firstCluster, int place) {
    int[] ranks = new int[count()];
    for (int i = 0; i < ranks.length; i++) {
      ranks[i] = rank((firstCluster + i) % count(), place);
    }
    return Members.of(problem.rank(), ranks);
  }

  /**
   * Nodes of a cluster that use links to another at the same time: as many as there are of both.
   */
  int gateways(long bytes, int leastBytes) {
    int n = Math.max(1, problem.topology().links());
    for (int c = 0; c < count(); c++) {
      n = Math.min(n, size(c));
    }
    return (int) Math.clamp(bytes / leastBytes, 1, n);
  }
}
