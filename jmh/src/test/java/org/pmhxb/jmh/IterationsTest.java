package org.pmhxb.jmh;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.AverageTimeResult;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.ResultRole;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.results.ScalarResult;

/** Which iterations count, by how slow the machine was and by nothing else. */
class IterationsTest {
  private static final RunResult MIXED =
      run(fork(path(31, 2.5), path(40, 1.375)), fork(path(20, 1.75), path(44, 1.5)));
  private static final RunResult SLOW = run(fork(path(60, 1.75), path(50, 2)));

  @Test
  void thoseOfTheFasterSpeedCountOfAllForks() {
    Iterations iterations = new Iterations(List.of(MIXED));
    assertThat(iterations.counted(MIXED, PhaseProfiler.PATH)).containsExactly(40, 44);
    assertThat(iterations.fastOfAll(MIXED)).isEqualTo("2/4");
    assertThat(Iterations.all(MIXED, PhaseProfiler.PATH)).containsExactly(20, 31, 40, 44);
  }

  /** Another benchmark of the same run has met a faster one. */
  @Test
  void whereNoneIsAllCountAndItIsSaid() {
    Iterations iterations = new Iterations(List.of(SLOW, MIXED));
    assertThat(iterations.counted(SLOW, PhaseProfiler.PATH)).containsExactly(50, 60);
    assertThat(iterations.fastOfAll(SLOW)).isEqualTo("0/2");

    Iterations alone = new Iterations(List.of(SLOW));
    assertThat(alone.counted(SLOW, PhaseProfiler.PATH)).containsExactly(50, 60);
    assertThat(alone.fastOfAll(SLOW)).isEqualTo("2/2");
    assertThat(alone.counted(SLOW, PhaseProfiler.GENERATOR)).isEmpty();
  }

  @Test
  void ofWhatHasNoPhasesAllCount() {
    IterationResult iteration = iteration();
    iteration.addResult(new ScalarResult("allocated", 3, "B", AggregationPolicy.AVG));
    RunResult result = run(fork(iteration));
    assertThat(new Iterations(List.of(result)).counted(result, "allocated")).containsExactly(3);
  }

  private static RunResult run(BenchmarkResult... forks) {
    return new RunResult(null, List.of(forks));
  }

  private static BenchmarkResult fork(IterationResult... iterations) {
    return new BenchmarkResult(null, Arrays.asList(iterations));
  }

  /** With a score, which JMH wants of each. */
  private static IterationResult iteration() {
    IterationResult iteration = new IterationResult(null, null, null);
    iteration.addResult(
        new AverageTimeResult(ResultRole.PRIMARY, "score", 1, 100, TimeUnit.NANOSECONDS));
    return iteration;
  }

  private static IterationResult path(double ns, double stepNs) {
    IterationResult iteration = iteration();
    iteration.addResult(
        new ScalarResult(PhaseProfiler.PATH, ns, "ns/packet", AggregationPolicy.AVG));
    iteration.addResult(
        new ScalarResult(PhaseProfiler.STEP, stepNs, "ns/step", AggregationPolicy.AVG));
    return iteration;
  }
}
