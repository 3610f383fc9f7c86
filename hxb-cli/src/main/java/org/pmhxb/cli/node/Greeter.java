package org.pmhxb.cli.node;

import org.pmhxb.pm.PeerState;
import org.pmhxb.pm.PmNode;
import org.pmhxb.router.Discovery;

/**
 * Opens a session with every neighbour as soon as it is known on all its rails, or has been on some
 * for {@link Discovery#GRACE_NS}: from then on each watches the others, and the death of one is
 * noticed and named although no program communicates. Sends no message. Who is absent holds up
 * nobody: it is greeted when it comes. Owner: the poll thread.
 */
final class Greeter implements LoopWork.Task {
  private static final long INTERVAL_NS = 5_000_000L;

  /** Nodes of a cluster start apart: so long after the start an absent one is waited for. */
  static final long ABSENT_NS = 10_000_000_000L;

  private final PmNode node;
  private final Discovery discovery;
  private final int[] neighbours;

  // By neighbour.
  private final boolean[] known;
  private final long[] knownNs;
  private final boolean[] greeted;

  private int left;
  private long startNs;
  private long dueNs;
  private boolean started;
  private volatile boolean ready;

  Greeter(PmNode node, Discovery discovery) {
    this.node = node;
    this.discovery = discovery;
    this.neighbours = discovery.neighbourNodes();
    this.left = neighbours.length;
    this.known = new boolean[left];
    this.knownNs = new long[left];
    this.greeted = new boolean[left];
  }

  @Override
  public int doWork(long nowNs) {
    if (started && nowNs - dueNs < 0) {
      return 0;
    }
    if (!started) {
      started = true;
      startNs = nowNs;
    }
    dueNs = nowNs + INTERVAL_NS;
    for (int i = 0; i < neighbours.length; i++) {
      if (!greeted[i] && mayBeGreeted(i, nowNs) && isUp(neighbours[i])) {
        greeted[i] = true;
        left--;
      }
    }
    boolean all = left == 0;
    boolean waited = nowNs - startNs >= ABSENT_NS;
    if (!ready && (all || waited && left < neighbours.length)) {
      ready = true;
    }
    return 0;
  }

  private boolean mayBeGreeted(int i, long nowNs) {
    if (!discovery.hasFirstHop(neighbours[i])) {
      known[i] = false;
      return false;
    }
    if (!known[i]) {
      known[i] = true;
      knownNs[i] = nowNs;
    }
    return discovery.hasEveryFirstHop(neighbours[i]) || nowNs - knownNs[i] >= Discovery.GRACE_NS;
  }

  private boolean isUp(int peer) {
    if (node.peerState(peer) == PeerState.UP) {
      return true;
    }
    node.connect(peer);
    return false;
  }

  /** Nobody waits for it. */
  @Override
  public boolean isBrief() {
    return true;
  }

  @Override
  public boolean over() {
    return left == 0;
  }

  /**
   * Whether a session with every neighbour has been opened, or some time after the start with those
   * that are there. Any thread.
   */
  boolean ready() {
    return ready;
  }
}
