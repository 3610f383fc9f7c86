package org.pmhxb.jmh;

import java.util.ArrayList;
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
  static final String WITH_ACKS = "withAcks.median";
  static final String GENERATOR = "generator.median";

  /** Of the loop that runs in this JVM; null when the benchmark has no phases. */
  static PhaseTimes current;

  @Override
  public String getDescription() {
    return "ns per packet of the node under test, alone and with acknowledgements, and of the frame"
        + " generator, median of batches";
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
    List<Result<?>> results = new ArrayList<>();
    results.add(perPacket(PATH, current.pathNs()));
    results.add(perPacket(GENERATOR, current.generatorNs()));
    if (current.hasAcks()) {
      results.add(perPacket(WITH_ACKS, current.withAcksNs()));
    }
    return results;
  }

  private static ScalarResult perPacket(String label, double ns) {
    return new ScalarResult(label, ns, "ns/packet", AggregationPolicy.AVG);
  }
}
