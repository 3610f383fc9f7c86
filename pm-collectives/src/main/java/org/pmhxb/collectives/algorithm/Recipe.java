package org.pmhxb.collectives.algorithm;

import org.pmhxb.collectives.Algorithm;
import org.pmhxb.collectives.Collective;
import org.pmhxb.collectives.CostModel;
import org.pmhxb.collectives.PlanBuilder;
import org.pmhxb.collectives.Problem;

/** An algorithm as three functions. */
record Recipe(
    Collective collective, String name, Objection objecting, Prediction prediction, Planner planner)
    implements Algorithm {
  /** Why a problem cannot be done, or null. */
  @FunctionalInterface
  interface Objection {
    String to(Problem problem);
  }

  /** Adds up what it takes. */
  @FunctionalInterface
  interface Prediction {
    void add(Problem problem, Estimate estimate);
  }

  /** Writes down the steps of the problem's rank. */
  @FunctionalInterface
  interface Planner {
    void plan(Problem problem, PlanBuilder plan);
  }

  /** One that can do everything. */
  static Recipe of(Collective collective, String name, Prediction prediction, Planner planner) {
    return new Recipe(collective, name, p -> null, prediction, planner);
  }

  @Override
  public String objection(Problem problem) {
    return objecting.to(problem);
  }

  @Override
  public double predictNs(Problem problem, CostModel model) {
    Estimate estimate = new Estimate(problem, model);
    prediction.add(problem, estimate);
    return estimate.ns();
  }

  @Override
  public void plan(Problem problem, PlanBuilder plan) {
    planner.plan(problem, plan);
  }
}
