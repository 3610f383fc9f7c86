package org.pmhxb.cli.bench.collective;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.pmhxb.cli.bench.Spread;
import org.pmhxb.collectives.Algorithm;
import org.pmhxb.collectives.AlgorithmRegistry;
import org.pmhxb.collectives.Choice;
import org.pmhxb.collectives.Collective;
import org.pmhxb.collectives.CostModel;
import org.pmhxb.collectives.Group;
import org.pmhxb.collectives.Problem;
import org.pmhxb.collectives.Topology;
import org.pmhxb.collectives.algorithm.StandardAlgorithms;
import org.pmhxb.router.Shape;

/** Every algorithm that suits a collective among all nodes of a machine, and the model's choice. */
public final class CollectiveSuite {
  private final Shape shape;
  private final CostModel model;
  private final AlgorithmRegistry registry = StandardAlgorithms.registry();

  public CollectiveSuite(Shape shape, CostModel model) {
    this.shape = shape;
    this.model = model;
  }

  /**
   * Measures every algorithm that can do it; rooted ones at rank 0, reductions of ints.
   *
   * @param progress takes lines for people
   */
  public List<CollectivePoint> measure(
      CollectiveMachine machine,
      Collective collective,
      int bytes,
      int rounds,
      Consumer<String> progress)
      throws IOException, InterruptedException {
    Problem problem = problem(collective, bytes);
    Choice choice = registry.choose(problem, model);
    Map<Algorithm, CollectiveMachine.Taken> taken = new LinkedHashMap<>();
    for (Algorithm algorithm : registry.of(collective)) {
      if (algorithm.objection(problem) == null) {
        progress.accept(collective + " " + algorithm.name() + " " + bytes + " B");
        taken.put(algorithm, machine.measure(algorithm, problem, rounds));
      }
    }
    List<CollectivePoint> points = new ArrayList<>();
    taken.values().stream()
        .map(CollectiveMachine.Taken::microseconds)
        .min(Comparator.comparingDouble(Spread::median))
        .ifPresent(
            fastest ->
                taken.forEach(
                    (algorithm, its) -> points.add(point(algorithm, choice, its, fastest))));
    return points;
  }

  private Problem problem(Collective collective, int bytes) {
    int[] nodes = IntStream.range(0, shape.nodes()).toArray();
    int elementBytes = collective.isReducing() ? Integer.BYTES : 1;
    Group all = Group.of(1, 0, nodes);
    return new Problem(collective, all, Topology.crossbar(shape), bytes, elementBytes, 0, false);
  }

  private CollectivePoint point(
      Algorithm algorithm, Choice choice, CollectiveMachine.Taken taken, Spread fastest) {
    Problem problem = choice.problem();
    long most = Math.max(problem.inputBytes(), problem.outputBytes());
    return new CollectivePoint(
        problem.collective().toString(),
        algorithm.name(),
        (int) problem.blockBytes(),
        algorithm.name().equals(choice.algorithm().name()),
        algorithm.predictNs(problem, model) / 1e3,
        taken.microseconds().median() / fastest.median(),
        taken.microseconds().min() > fastest.max(),
        taken.microseconds(),
        most / taken.microseconds().median(),
        taken.operations(),
        (double) taken.earlyCopies() / taken.operations(),
        (double) taken.earlyLoans() / taken.operations());
  }
}
