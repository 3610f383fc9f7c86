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
import org.pmhxb.cost.Pace;
import org.pmhxb.cost.PhaseTimes;

/**
 * Adds the medians of {@link PhaseTimes} to JMH's results: of the batches at the machine's faster
 * speed if enough of the iteration's are, as far as this JVM has met it, else of all.
 */
public final class PhaseProfiler implements InternalProfiler {
  static final String PATH = "path.median";
  static final String WITH_ACKS = "withAcks.median";
  static final String GENERATOR = "generator.median";

  /** How slow the machine was in the batches that count, ns a step ({@link Pace#stepNs}). */
  static final String STEP = "step.median";

  /** Of the loop that runs in this JVM; null when the benchmark has no phases. */
  private static PhaseTimes current;

  private static Pace pace;

  /** From now on this is the loop that runs. */
  static void watch(PhaseTimes times, Pace itsPace) {
    current = times;
    pace = itsPace;
  }

  @Override
  public String getDescription() {
    return "ns per packet of the node under test, alone and with acknowledgements, and of the frame"
        + " generator, median of batches, and how slow the machine was";
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
    double mostStepNs = Pace.mostNs(pace.leastNs());
    if (!current.isFast(mostStepNs)) {
      mostStepNs = Double.MAX_VALUE;
    }
    results.add(median(PATH, current.pathNs(mostStepNs), "ns/packet"));
    results.add(median(GENERATOR, current.generatorNs(mostStepNs), "ns/packet"));
    if (current.hasAcks()) {
      results.add(median(WITH_ACKS, current.withAcksNs(mostStepNs), "ns/packet"));
    }
    results.add(median(STEP, current.stepNs(mostStepNs), "ns/step"));
    return results;
  }

  private static ScalarResult median(String label, double ns, String unit) {
    return new ScalarResult(label, ns, unit, AggregationPolicy.AVG);
  }
}
