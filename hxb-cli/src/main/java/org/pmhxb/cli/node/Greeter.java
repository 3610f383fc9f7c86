package org.pmhxb.cli.node;

import org.pmhxb.pm.PeerState;
import org.pmhxb.pm.PmNode;
import org.pmhxb.router.Discovery;

/**
 * Opens a session with every neighbour as soon as it is known on all its rails, or has been on some
 * for {@link Discovery#GRACE_NS}: from then on each watches the others, and the death of one is
 * noticed and named although no program communicates. Sends no message. Who is absent holds up
 * nobody: it is greeted when it comes, and again when it is back after its session has ended.
 * Owner: the poll thread.
 */
final class Greeter implements LoopWork.Task {
  private static final long INTERVAL_NS = 5_000_000L;

  /** A node that serves already need not wake for who is absent more often than that. */
  private static final long READY_INTERVAL_NS = 100_000_000L;

  /** Nodes of a cluster start apart: so long after the start an absent one is waited for. */
  static final long ABSENT_NS = 10_000_000_000L;

  private final PmNode node;
  private final Discovery discovery;
  private final int[] neighbours;

  // By neighbour.
  private final boolean[] known;
  private final long[] knownNs;
  private final boolean[] greeted;
  private final boolean[] lost;
  private final long[] lostNs;

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
    this.lost = new boolean[left];
    this.lostNs = new long[left];
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
    // What is heard before may have been under way, or be of one who leaves.
    lost[i] = lost[i] && !discovery.heardSince(neighbours[i], lostNs[i] + Discovery.GRACE_NS);
    if (lost[i]) {
      return false;
    }
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

  /**
   * The session with a peer has ended.
   *
   * @return whether there was nothing left to do, so that this task has to be added again
   */
  boolean lost(int peer, long nowNs) {
    for (int i = 0; i < neighbours.length; i++) {
      if (neighbours[i] == peer && greeted[i]) {
        greeted[i] = false;
        lost[i] = true;
        lostNs[i] = nowNs;
        left++;
        return left == 1;
      }
    }
    return false;
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
  public long intervalNs() {
    return ready ? READY_INTERVAL_NS : INTERVAL_NS;
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
