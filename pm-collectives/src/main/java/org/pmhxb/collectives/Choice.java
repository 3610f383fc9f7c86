package org.pmhxb.collectives;

import java.util.List;

/**
 * An algorithm for a problem, and why that one.
 *
 * @param candidates all of the collective, those that object last, else by predicted time
 * @param forced the program named it
 */
public record Choice(
    Algorithm algorithm, Problem problem, List<Candidate> candidates, boolean forced) {
  /**
   * What was considered.
   *
   * @param objection why it cannot, or null
   */
  public record Candidate(String name, double predictedNs, String objection) {}

  public Choice {
    candidates = List.copyOf(candidates);
  }

  /** For people: each candidate with its predicted time, and which won. */
  public String explain() {
    StringBuilder text = new StringBuilder();
    text.append("%s (%s):%n".formatted(problem, problem.topology()));
    for (Candidate c : candidates) {
      boolean won = c.name().equals(algorithm.name());
      text.append(
          c.objection() == null
              ? "  %-24s predicted %.1f us%s%n"
                  .formatted(c.name(), c.predictedNs() / 1e3, won ? why() : "")
              : "  %-24s cannot: %s%n".formatted(c.name(), c.objection()));
    }
    return text.toString();
  }

  private String why() {
    return forced ? "   <- named by the program" : "   <- chosen";
  }
}
