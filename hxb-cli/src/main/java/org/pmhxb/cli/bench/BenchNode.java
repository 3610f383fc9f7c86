package org.pmhxb.cli.bench;

import java.io.IOException;
import java.util.Map;
import org.pmhxb.cli.workload.WorkloadReport;
import org.pmhxb.cli.workload.WorkloadSpec;

/**
 * A node that takes part in a benchmark, in this process or another. Owner: one thread at a time.
 */
public interface BenchNode extends AutoCloseable {
  /** Node number. */
  int node();

  /** Counters by name, now. */
  Map<String, Long> counters() throws IOException;

  /** Opens the endpoint, so that what others send is received. */
  void prepare(WorkloadSpec spec) throws IOException;

  /**
   * Runs what was prepared, from the given time of the machine's monotonic clock to its end; the
   * endpoint stays open.
   */
  WorkloadReport run(WorkloadSpec spec, long startNs) throws IOException, InterruptedException;

  /** Closes the endpoint. */
  @Override
  void close() throws IOException;
}
