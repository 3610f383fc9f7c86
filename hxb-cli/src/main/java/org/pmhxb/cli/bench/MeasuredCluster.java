package org.pmhxb.cli.bench;

import java.io.IOException;
import java.util.List;

/** A cluster as a suite of measurements sees it. */
public interface MeasuredCluster extends AutoCloseable {
  /** Links per node in each dimension. */
  int rails();

  /** Processes that run its nodes, by pid. */
  List<Long> processes();

  /**
   * Runs one plan; may be called again with another. Nodes that do not answer are left out.
   *
   * @param warmUpMs traffic before the measurement, milliseconds
   * @param measureMs length of the measurement, milliseconds
   */
  Benchmark.Outcome measure(TrafficPlan plan, int sizeBytes, long warmUpMs, long measureMs)
      throws IOException, InterruptedException;

  /**
   * The same traffic before anything is measured, for so many milliseconds; it says nothing to
   * people, who would take it for the measurement.
   */
  default Benchmark.Outcome warmUp(TrafficPlan plan, int sizeBytes, long ms)
      throws IOException, InterruptedException {
    return measure(plan, sizeBytes, 0, ms);
  }

  @Override
  void close() throws IOException;
}
