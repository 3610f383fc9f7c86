package org.pmhxb.pm;

import java.lang.foreign.MemorySegment;

/**
 * Routing on one line: every node one Ethernet hop away, addresses known beforehand. It makes
 * pm-ethernet complete by itself on a 1-D network. Owner: the poll thread.
 */
public final class LineRouting implements Routing {
  private final int self;
  private final int nodes;
  private final int rails;

  /** By node, then by rail: who chooses among the rails to a node finds theirs together. */
  private final long[] macs;

  /**
   * @param self own node number
   * @param macOfRailAndNode address of each node on each rail, low 48 bits
   */
  public LineRouting(int self, long[][] macOfRailAndNode) {
    if (macOfRailAndNode.length < 1 || macOfRailAndNode.length > 9) {
      throw new IllegalArgumentException(
          macOfRailAndNode.length + " rails on a line: must be in 1..9");
    }
    int nodes = macOfRailAndNode[0].length;
    if (self < 0 || self >= nodes) {
      throw new IllegalArgumentException("own node " + self + " is not in 0.." + (nodes - 1));
    }
    this.self = self;
    this.nodes = nodes;
    this.rails = macOfRailAndNode.length;
    this.macs = new long[nodes * rails];
    for (int i = 0; i < macs.length; i++) {
      macs[i] = macOfRailAndNode[i % rails][i / rails];
    }
  }

  @Override
  public int self() {
    return self;
  }

  @Override
  public int nodes() {
    return nodes;
  }

  @Override
  public int pathCount(int node) {
    return node == self ? 0 : rails;
  }

  @Override
  public int firstChoiceCount(int node) {
    return pathCount(node);
  }

  @Override
  public int path(int node, int index) {
    return index << 8;
  }

  @Override
  public int egressRail(int node, int index) {
    return index;
  }

  @Override
  public long nextHopMac(int node, int index) {
    return macs[node * rails + index];
  }

  @Override
  public int hops(int node) {
    return node == self ? 0 : 1;
  }

  @Override
  public int wayBack(int node, int path) {
    return (path & ~0xF00) == 0 && path >>> 8 < pathCount(node) ? path : NO_PATH;
  }

  @Override
  public int egressRailOf(int node, int path) {
    return path >>> 8;
  }

  @Override
  public long nextHopMacOf(int node, int path) {
    return macs[node * rails + (path >>> 8)];
  }

  /** Nobody relays on a line. */
  @Override
  public int transit(MemorySegment frames, long at, int lengthBytes, int ingressRail) {
    return DropReason.NO_ROUTE.code();
  }

  /** Addresses are given: announcements are nothing new. */
  @Override
  public void onLinkFrame(int rail, MemorySegment frames, long at, int lengthBytes, long nowNs) {}

  @Override
  public int linkWork(long nowNs, LinkOutput out) {
    return 0;
  }

  @Override
  public long nextLinkWorkNs(long nowNs) {
    return Long.MAX_VALUE;
  }

  @Override
  public boolean complete() {
    return true;
  }
}
