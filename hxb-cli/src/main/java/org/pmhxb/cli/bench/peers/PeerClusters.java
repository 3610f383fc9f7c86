package org.pmhxb.cli.bench.peers;

import java.io.IOException;
import org.pmhxb.cli.bench.MeasuredCluster;
import org.pmhxb.cli.cluster.ClusterSpec;

/** Brings up what is measured: two nodes of ours, and then their namespaces for others. */
public interface PeerClusters {
  /** A cluster of two nodes; closing it takes it down. */
  Ends up(ClusterSpec spec) throws IOException;

  /** The two nodes, and what they run on. */
  interface Ends extends MeasuredCluster {
    /** Ends the nodes; returns the names of their namespaces, which stay. */
    String[] free() throws IOException;
  }
}
