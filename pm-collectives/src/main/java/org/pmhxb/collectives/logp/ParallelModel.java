package org.pmhxb.collectives.logp;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import org.pmhxb.collectives.barrier.plan.BarrierPlan;
import org.pmhxb.collectives.barrier.plan.BarrierSpec;
import org.pmhxb.collectives.barrier.plan.Participants;
import org.pmhxb.collectives.barrier.plan.Planner;
import org.pmhxb.router.RailLayout;

/**
 * LogP with a processor for each node. It does not hold the papers' formulas but what they follow
 * from: it plays the plans of all nodes, each send costing its node os, each receive or, each frame
 * L on its way, and frames of one rail keeping their gap. Where the papers have a formula it comes
 * to the same; it holds for any group, rails and relays besides.
 */
public final class ParallelModel implements BarrierModel {
  private static final int RAILS_MAX = 3 * RailLayout.MAX_PER_DIMENSION;

  private final LogP logp;

  public ParallelModel(LogP logp) {
    this.logp = logp;
  }

  /** A frame on its way. */
  private record Frame(double atNs, int rank, int source, int step, int rail) {}

  @Override
  public double predictNs(Participants group, BarrierSpec spec) {
    return new Play(group, Planner.plans(group, spec)).run();
  }

  /** One barrier. */
  private final class Play {
    private final Participants group;
    private final List<BarrierPlan> plans;
    private final int[] step;
    private final int[][] missing;
    private final double[] freeNs;
    private final double[][] railOutNs;
    private final double[][] railInNs;
    private final PriorityQueue<Frame> frames =
        new PriorityQueue<>(Comparator.comparingDouble(Frame::atNs));

    Play(Participants group, List<BarrierPlan> plans) {
      this.group = group;
      this.plans = plans;
      int n = plans.size();
      step = new int[n];
      missing = new int[n][];
      freeNs = new double[n];
      railOutNs = new double[n][RAILS_MAX];
      railInNs = new double[n][RAILS_MAX];
      for (int rank = 0; rank < n; rank++) {
        missing[rank] =
            plans.get(rank).steps().stream().mapToInt(s -> s.sources().length).toArray();
        Arrays.fill(railOutNs[rank], Double.NEGATIVE_INFINITY);
        Arrays.fill(railInNs[rank], Double.NEGATIVE_INFINITY);
      }
    }

    double run() {
      for (int rank = 0; rank < plans.size(); rank++) {
        goOn(rank);
      }
      while (!frames.isEmpty()) {
        receive(frames.poll());
      }
      return Arrays.stream(freeNs).max().orElse(0);
    }

    private void receive(Frame frame) {
      int rank = frame.rank();
      double[] in = railInNs[rank];
      double arrivedNs = Math.max(frame.atNs(), in[frame.rail()] + logp.gapNs());
      in[frame.rail()] = arrivedNs;
      freeNs[rank] = Math.max(freeNs[rank], arrivedNs) + logp.orNs();
      List<BarrierPlan.Step> steps = plans.get(rank).steps();
      for (int i = 0; i < steps.size(); i++) {
        if (steps.get(i).number() == frame.step()) {
          missing[rank][i]--;
        }
      }
      goOn(rank);
    }

    private void goOn(int rank) {
      BarrierPlan plan = plans.get(rank);
      while (step[rank] < plan.steps().size() && missing[rank][step[rank]] == 0) {
        for (BarrierPlan.Send send : plan.steps().get(step[rank]).sends()) {
          send(rank, send);
        }
        step[rank]++;
      }
    }

    private void send(int rank, BarrierPlan.Send send) {
      int rail = send.rail() >= 0 ? send.rail() % group.railsPerDimension() : send.way();
      double startNs = Math.max(freeNs[rank], railOutNs[rank][rail] + logp.gapNs());
      railOutNs[rank][rail] = startNs;
      freeNs[rank] = startNs + logp.osNs();
      for (int target : send.targets()) {
        int relays = group.shape().hops(plans.get(rank).node(), target) - 1;
        double atNs = freeNs[rank] + logp.latencyNs(relays);
        frames.add(new Frame(atNs, group.rank(target), rank, send.step(), rail));
      }
    }
  }
}
