package org.pmhxb.cli.bench;

import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.pmhxb.cli.bench.PacketCostReport.Line;
import org.pmhxb.cli.bench.PacketCostWorker.Answer;
import org.pmhxb.cost.Measurement.Effort;
import org.pmhxb.cost.Pace;
import org.pmhxb.cost.Path;
import org.pmhxb.cost.Scenario;

/**
 * Measures scenarios one after the other, each path's in a JVM of its own: what one compiles must
 * not depend on what another did before. What met the machine at its slower speed throughout is
 * measured again at the end. Owner: one thread.
 */
public final class PacketCostSuite implements AutoCloseable {
  /** What the second measurements may take of the time that the first ones took. */
  private static final double AGAIN_PART = 0.3;

  private final Effort effort;
  private final Map<Path, PacketCostWorker> workers = new EnumMap<>(Path.class);
  private final List<Scenario> scenarios = new ArrayList<>();
  private final List<Answer> answers = new ArrayList<>();
  private final long beginNs = System.nanoTime();

  public PacketCostSuite(Effort effort) {
    this.effort = effort;
  }

  /**
   * Measures one.
   *
   * @throws IllegalStateException it cannot be measured here
   */
  public void measure(Scenario scenario) throws IOException, InterruptedException {
    PacketCostWorker worker = workers.get(scenario.path());
    if (worker == null) {
      worker = new PacketCostWorker(effort);
      workers.put(scenario.path(), worker);
    }
    answers.add(worker.measure(scenario));
    scenarios.add(scenario);
  }

  /** Of the machine in all of them, ns. */
  private double leastStepNs() {
    return answers.stream().mapToDouble(Answer::leastStepNs).min().orElse(Double.MAX_VALUE);
  }

  /** Who is told of each that is measured again. */
  public interface Listener {
    void again(Scenario scenario);
  }

  /** Measures again what should be, and returns all lines in the order of the scenarios. */
  public List<Line> finish(Listener listener) throws IOException, InterruptedException {
    long untilNs = System.nanoTime() + (long) (AGAIN_PART * (System.nanoTime() - beginNs));
    Map<Path, Integer> earlier = new EnumMap<>(Path.class);
    for (int i = 0; i < scenarios.size(); i++) {
      Scenario scenario = scenarios.get(i);
      if (isSlow(answers.get(i))) {
        listener.again(scenario);
      }
      long forMs = Math.max(0, TimeUnit.NANOSECONDS.toMillis(untilNs - System.nanoTime()));
      int number = earlier.merge(scenario.path(), 1, Integer::sum) - 1;
      answers.set(i, workers.get(scenario.path()).measureAgain(number, leastStepNs(), forMs));
    }
    return answers.stream().flatMap(a -> a.lines().stream()).toList();
  }

  private boolean isSlow(Answer answer) {
    return answer.lines().stream()
        .anyMatch(l -> l.stepNs() != null && Pace.isSlower(l.stepNs(), leastStepNs()));
  }

  @Override
  public void close() {
    workers.values().forEach(PacketCostWorker::close);
  }
}
