package org.pmhxb.cost;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import org.pmhxb.pm.LineRouting;
import org.pmhxb.pm.PmNode;

/**
 * What a node keeps for each peer that it knows and has no session with, each place in the node's
 * own arrays included. Counted is what making it allocates: the same as is left behind a
 * collection, for nothing of it is garbage, and without what a collector leaves lying. Nothing off
 * the heap is a single peer's. Owner: one thread.
 */
public final class PeerMemory {
  /** Of each node of the paper's machine, 16 x 16 x 10. */
  public static final int PEERS = 2_559;

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private static final int PAYLOAD_BYTES = 64;
  private static final int BUFFERS = 1_024;

  private PeerMemory() {}

  /**
   * Heap in bytes for each further peer: a node that knows {@link #PEERS}, less one that knows a
   * single one.
   */
  public static double bytesEach() {
    return (double) (heapBytes(PEERS) - heapBytes(1)) / (PEERS - 1);
  }

  private static long heapBytes(int peers) {
    int nodes = peers + 1;
    long[][] macs = {Lab.macs(nodes, 0)};
    try (Lab lab = new Lab(1, BUFFERS)) {
      long before = THREADS.getCurrentThreadAllocatedBytes();
      try (PmNode node =
          Bench.node(lab, nodes, Lab.grantFrames(peers), PAYLOAD_BYTES, new LineRouting(0, macs))) {
        for (int peer = 1; peer <= peers; peer++) {
          node.longWayNs(peer); // who is asked about becomes known
        }
        return THREADS.getCurrentThreadAllocatedBytes() - before;
      }
    }
  }
}
