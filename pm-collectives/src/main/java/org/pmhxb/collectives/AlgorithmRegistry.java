package org.pmhxb.collectives;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The algorithms that there are, and the choice among them: of those that can, the one of the least
 * predicted time; of equals the one that was added first. Immutable.
 */
public final class AlgorithmRegistry {
  private final List<Algorithm> algorithms;

  private AlgorithmRegistry(List<Algorithm> algorithms) {
    this.algorithms = List.copyOf(algorithms);
  }

  /** With these only. */
  public static AlgorithmRegistry of(List<? extends Algorithm> algorithms) {
    AlgorithmRegistry registry = new AlgorithmRegistry(List.of());
    for (Algorithm algorithm : algorithms) {
      registry = registry.with(algorithm);
    }
    return registry;
  }

  /**
   * With one more.
   *
   * @throws IllegalArgumentException there is one of that name for that collective
   */
  public AlgorithmRegistry with(Algorithm algorithm) {
    for (Algorithm known : algorithms) {
      if (known.collective() == algorithm.collective() && known.name().equals(algorithm.name())) {
        throw new IllegalArgumentException(
            "%s has an algorithm %s already: choose another name"
                .formatted(known.collective(), known.name()));
      }
    }
    List<Algorithm> more = new ArrayList<>(algorithms);
    more.add(algorithm);
    return new AlgorithmRegistry(more);
  }

  /** Those of a collective, in the order in which they were added. */
  public List<Algorithm> of(Collective collective) {
    return algorithms.stream().filter(a -> a.collective() == collective).toList();
  }

  /**
   * Chooses by predicted time.
   *
   * @throws IllegalArgumentException none can do it
   */
  public Choice choose(Problem problem, CostModel model) {
    return choose(problem, model, null);
  }

  /**
   * Chooses by name.
   *
   * @param name of the algorithm; null: by predicted time
   * @throws IllegalArgumentException there is none of that name, or it cannot do this
   */
  public Choice choose(Problem problem, CostModel model, String name) {
    List<Choice.Candidate> candidates = new ArrayList<>();
    Algorithm best = null;
    double bestNs = Double.POSITIVE_INFINITY;
    for (Algorithm algorithm : of(problem.collective())) {
      String objection = algorithm.objection(problem);
      double ns = objection == null ? algorithm.predictNs(problem, model) : Double.NaN;
      candidates.add(new Choice.Candidate(algorithm.name(), ns, objection));
      boolean wanted = name == null ? ns < bestNs : algorithm.name().equals(name);
      if (objection == null && wanted) {
        best = algorithm;
        bestNs = ns;
      }
    }
    candidates.sort(
        Comparator.comparing((Choice.Candidate c) -> c.objection() != null)
            .thenComparing(Choice.Candidate::predictedNs));
    if (best == null) {
      throw new IllegalArgumentException(
          "%s: %s; there are %s"
              .formatted(
                  problem,
                  name == null ? "no algorithm can do it" : "\"" + name + "\" cannot do it",
                  candidates));
    }
    return new Choice(best, problem, candidates, name != null);
  }
}
