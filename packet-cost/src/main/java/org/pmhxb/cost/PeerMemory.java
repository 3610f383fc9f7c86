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
  /** Nodes of the paper's machine, 16 x 16 x 10. */
  public static final int NODES = 2_560;

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private static final int FEW_NODES = 2;
  private static final int PAYLOAD_BYTES = 64;
  private static final int BUFFERS = 1_024;

  private PeerMemory() {}

  /**
   * Heap in bytes for each further peer: a node that knows all of {@link #NODES}, less one that
   * knows a single peer.
   */
  public static double bytesEach() {
    return (double) (heapBytes(NODES) - heapBytes(FEW_NODES)) / (NODES - FEW_NODES);
  }

  private static long heapBytes(int nodes) {
    long[] macs = new long[nodes];
    for (int n = 0; n < nodes; n++) {
      macs[n] = Lab.mac(n, 0);
    }
    try (Lab lab = new Lab(1, BUFFERS)) {
      long before = THREADS.getCurrentThreadAllocatedBytes();
      try (PmNode node =
          Bench.node(
              lab,
              nodes,
              Lab.grantFrames(nodes - 1),
              PAYLOAD_BYTES,
              new LineRouting(0, new long[][] {macs}))) {
        for (int peer = 1; peer < nodes; peer++) {
          node.longWayNs(peer); // who is asked about becomes known
        }
        return THREADS.getCurrentThreadAllocatedBytes() - before;
      }
    }
  }
}
