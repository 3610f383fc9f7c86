package org.pmhxb.collectives;

/**
 * One way to do one collective. Implementations have no state: the same object serves all
 * communicators. Add your own with {@link AlgorithmRegistry#with}.
 */
public interface Algorithm {
  Collective collective();

  /** Unique within its collective; lower case with hyphens. */
  String name();

  /** Why it cannot do this, for people, or null. The same answer at every member. */
  default String objection(Problem problem) {
    return null;
  }

  /**
   * The time that it takes by a model of the network, in nanoseconds. The same answer at every
   * member: it must not depend on the group's rank.
   */
  double predictNs(Problem problem, CostModel model);

  /** Writes down what this rank sends and receives. */
  void plan(Problem problem, PlanBuilder plan);
}
