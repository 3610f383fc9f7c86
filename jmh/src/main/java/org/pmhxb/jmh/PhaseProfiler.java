package org.pmhxb.jmh;

import java.util.Collection;
import java.util.List;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;
import org.pmhxb.cost.PhaseTimes;

/** Adds the medians of {@link PhaseTimes} to JMH's results. */
public final class PhaseProfiler implements InternalProfiler {
  static final String PATH = "path.median";
  static final String GENERATOR = "generator.median";

  /** Of the loop that runs in this JVM; null when the benchmark has no phases. */
  static PhaseTimes current;

  @Override
  public String getDescription() {
    return "ns per packet of the node under test and of the frame generator, median of batches";
  }

  @Override
  public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
    if (current != null) {
      current.begin();
    }
  }

  @Override
  public Collection<? extends Result> afterIteration(
      BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
    if (current == null || current.isEmpty()) {
      return List.of();
    }
    return List.of(
        new ScalarResult(PATH, current.pathNs(), "ns/packet", AggregationPolicy.AVG),
        new ScalarResult(GENERATOR, current.generatorNs(), "ns/packet", AggregationPolicy.AVG));
  }
}
