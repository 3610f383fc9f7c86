package org.pmhxb.cli.node;

import java.util.ArrayList;
import java.util.List;
import org.pmhxb.pm.PeerState;
import org.pmhxb.pm.PmNode;
import org.pmhxb.router.Discovery;
import org.pmhxb.router.Neighbour;

/**
 * Opens a session with every neighbour once the cluster is complete: from then on each watches the
 * others, and the death of one is noticed and named although no program communicates. Sends no
 * message. Owner: the poll thread.
 */
final class Greeter implements LoopWork.Task {
  private static final long INTERVAL_NS = 5_000_000L;

  private final PmNode node;
  private final Discovery discovery;
  private List<Integer> waiting;
  private long dueNs;
  private boolean started;
  private volatile boolean complete;

  Greeter(PmNode node, Discovery discovery) {
    this.node = node;
    this.discovery = discovery;
  }

  @Override
  public int doWork(long nowNs) {
    if (complete || started && nowNs - dueNs < 0) {
      return 0;
    }
    started = true;
    dueNs = nowNs + INTERVAL_NS;
    if (waiting == null && discovery.complete()) {
      waiting =
          new ArrayList<>(discovery.neighbours().stream().map(Neighbour::node).distinct().toList());
    }
    if (waiting != null) {
      waiting.removeIf(this::greeted);
      complete = waiting.isEmpty();
    }
    return 0;
  }

  private boolean greeted(int peer) {
    if (node.peerState(peer) == PeerState.UP) {
      return true;
    }
    node.connect(peer);
    return false;
  }

  @Override
  public boolean over() {
    return complete;
  }

  /** Whether a session with every neighbour has been opened. Any thread. */
  boolean complete() {
    return complete;
  }
}
