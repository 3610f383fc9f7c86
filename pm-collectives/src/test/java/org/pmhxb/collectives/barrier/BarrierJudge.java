package org.pmhxb.collectives.barrier;

import java.util.ArrayList;
import java.util.List;
import org.pmhxb.collectives.barrier.plan.Participants;

/** Sees every arrival and departure of a simulated machine, and says what must not be. */
final class BarrierJudge {
  private final Participants[] groups;

  /** By barrier and node: the last epoch at which any life of the node arrived. */
  private final int[][] arrived;

  private final int[][] left;

  /** By node: what its last life saw, where that is not its first: by barrier and other node. */
  private final int[][][] sinceAgain;

  private final List<String> wrong = new ArrayList<>();
  private final List<String> ends = new ArrayList<>();
  private int connected;

  BarrierJudge(Participants... groups) {
    this.groups = groups;
    int nodes = groups[0].shape().nodes();
    this.arrived = new int[groups.length][nodes];
    this.left = new int[groups.length][nodes];
    this.sinceAgain = new int[nodes][][];
  }

  /** The node starts again: what others did before is no business of its new life. */
  void startsAgain(int node) {
    sinceAgain[node] = new int[groups.length][arrived[0].length];
  }

  void arrived(int barrier, int node, int epoch) {
    arrived[barrier][node] = Math.max(arrived[barrier][node], epoch);
    for (int[][] since : sinceAgain) {
      if (since != null) {
        since[barrier][node] = Math.max(since[barrier][node], epoch);
      }
    }
  }

  void left(int barrier, int node, int epoch) {
    left[barrier][node] = Math.max(left[barrier][node], epoch);
    int[] there = sinceAgain[node] == null ? arrived[barrier] : sinceAgain[node][barrier];
    for (int rank = 0; rank < groups[barrier].size(); rank++) {
      int other = groups[barrier].node(rank);
      if (there[other] < epoch) {
        wrong.add(
            "barrier %d: node %d left epoch %d, node %d is at %d"
                .formatted(barrier, node, epoch, other, there[other]));
      }
    }
  }

  void broken(int barrier, int node, int down) {
    ends.add(barrier + ":" + node + ":" + down);
  }

  /** A node has all its sessions. */
  void connected() {
    connected++;
  }

  int connectedNodes() {
    return connected;
  }

  /** What went wrong, in words. */
  List<String> wrong() {
    return wrong;
  }

  /** Barriers that ended broken: {@code barrier:node:the node that is down}. */
  List<String> ends() {
    return ends;
  }

  int leftBy(int barrier, int node) {
    return left[barrier][node];
  }
}
