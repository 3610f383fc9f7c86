package org.pmhxb.cli.bench;

import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.pmhxb.cli.bench.PacketCostReport.Line;
import org.pmhxb.cli.bench.PacketCostWorker.Answer;
import org.pmhxb.cli.bench.PacketCostWorker.Order;
import org.pmhxb.cost.Measurement.Effort;
import org.pmhxb.cost.Path;
import org.pmhxb.cost.Scenario;

/**
 * Measures scenarios one after the other, each path's in a JVM of its own: what one compiles must
 * not depend on what another did before. What met the machine at its slower speed all but
 * throughout is measured again at the end. Owner: one thread.
 */
public final class PacketCostSuite implements AutoCloseable {
  /** What the second measurements may take of the time that the first ones took. */
  private static final double AGAIN_PART = 0.3;

  private final Effort effort;
  private final Map<Path, PacketCostWorker> workers = new EnumMap<>(Path.class);
  private final List<Measured> all = new ArrayList<>();
  private final long beginNs = System.nanoTime();

  /** The shortest step of the machine's that any of the JVMs saw, ns. */
  private double leastStepNs = Double.MAX_VALUE;

  /** One scenario, in its worker the so manieth. */
  private static final class Measured {
    final Scenario scenario;
    final int number;
    List<Line> lines = List.of();

    Measured(Scenario scenario, int number) {
      this.scenario = scenario;
      this.number = number;
    }

    boolean isSlow() {
      return lines.stream().anyMatch(Line::slow);
    }
  }

  public PacketCostSuite(Effort effort) {
    this.effort = effort;
  }

  /**
   * Measures one.
   *
   * @throws IllegalStateException it cannot be measured here
   */
  public void measure(Scenario scenario) throws IOException, InterruptedException {
    if (!workers.containsKey(scenario.path())) {
      workers.put(scenario.path(), new PacketCostWorker(effort));
    }
    int number = (int) all.stream().filter(m -> m.scenario.path() == scenario.path()).count();
    Measured measured = new Measured(scenario, number);
    all.add(measured);
    ask(measured, 0);
  }

  /**
   * Measures again what should be.
   *
   * @param listener is told of each that is
   * @return all lines in the order of the scenarios
   */
  public List<Line> finish(Consumer<Scenario> listener) throws IOException, InterruptedException {
    long nowNs = System.nanoTime();
    long untilNs = nowNs + (long) (AGAIN_PART * (nowNs - beginNs));
    judge();
    for (List<Measured> slow = slow(); !slow.isEmpty() && nowNs < untilNs; slow = slow()) {
      for (int i = 0; i < slow.size(); i++) {
        listener.accept(slow.get(i).scenario);
        // Each has its share of the time: none waits for a machine that stays slow until all is
        // over.
        long shareNs = (untilNs - System.nanoTime()) / (slow.size() - i);
        ask(slow.get(i), Math.max(0, TimeUnit.NANOSECONDS.toMillis(shareNs)));
      }
      nowNs = System.nanoTime();
    }
    judge();
    return all.stream().flatMap(m -> m.lines.stream()).toList();
  }

  private List<Measured> slow() {
    return all.stream().filter(Measured::isSlow).toList();
  }

  /** By what is known of the machine's speed now, and for all the same. */
  private void judge() throws IOException, InterruptedException {
    for (Measured measured : all) {
      ask(measured, 0);
    }
  }

  private void ask(Measured measured, long forMs) throws IOException, InterruptedException {
    Order order = new Order(measured.number, measured.scenario, leastStepNs, forMs);
    Answer answer = workers.get(measured.scenario.path()).obey(order);
    measured.lines = answer.lines();
    leastStepNs = Math.min(leastStepNs, answer.leastStepNs());
  }

  @Override
  public void close() {
    workers.values().forEach(PacketCostWorker::end);
    workers.values().forEach(PacketCostWorker::close);
  }
}
