package org.pmhxb.collectives.logp;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.pmhxb.collectives.barrier.plan.BarrierAlgorithm;
import org.pmhxb.collectives.barrier.plan.BarrierPlan;
import org.pmhxb.collectives.barrier.plan.BarrierSpec;
import org.pmhxb.collectives.barrier.plan.Participants;
import org.pmhxb.collectives.barrier.plan.Planner;

/**
 * The algorithm for a group by a model: the least time, of equal ones the fewer frames. Given the
 * same model all participants choose the same.
 *
 * @param candidates in the order of their times
 */
public record BarrierChoice(Participants group, List<Candidate> candidates) {
  /**
   * One that was looked at.
   *
   * @param predictedNs by the model
   * @param frames of all nodes together
   */
  public record Candidate(BarrierSpec spec, double predictedNs, int frames) {}

  public BarrierChoice {
    candidates = List.copyOf(candidates);
  }

  /**
   * Looks at every algorithm that suits the group: over one rail and over all, with lines and
   * without.
   */
  public static BarrierChoice of(Participants group, BarrierModel model) {
    List<Candidate> found = new ArrayList<>();
    for (BarrierAlgorithm algorithm : BarrierAlgorithm.values()) {
      BarrierSpec plain = BarrierSpec.of(algorithm);
      BarrierSpec wide = plain.withRails(group.railsPerDimension());
      for (BarrierSpec spec : List.of(plain, wide, plain.withoutLines(), wide.withoutLines())) {
        if (found.stream().noneMatch(c -> c.spec().equals(spec)) && Planner.suits(group, spec)) {
          List<BarrierPlan> plans = Planner.plans(group, spec);
          found.add(new Candidate(spec, model.predictNs(group, plans), Planner.frames(plans)));
        }
      }
    }
    found.sort(
        Comparator.comparingDouble(Candidate::predictedNs).thenComparingInt(Candidate::frames));
    return new BarrierChoice(group, found);
  }

  /** The one to take. */
  public BarrierSpec best() {
    return candidates.getFirst().spec();
  }

  /** Why, in a line. */
  public String explanation() {
    Candidate first = candidates.getFirst();
    StringBuilder text = new StringBuilder();
    text.append(
        String.format(
            Locale.ROOT,
            "%s for %s: %.2f us and %d frames by the model",
            first.spec(),
            group,
            first.predictedNs() / 1e3,
            first.frames()));
    candidates.stream()
        .filter(c -> c.spec().algorithm() != first.spec().algorithm())
        .limit(2)
        .forEach(
            c ->
                text.append(
                    String.format(Locale.ROOT, "; %s %.2f us", c.spec(), c.predictedNs() / 1e3)));
    return text.toString();
  }
}
