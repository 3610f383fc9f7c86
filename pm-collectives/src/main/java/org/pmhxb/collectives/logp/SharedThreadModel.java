package org.pmhxb.collectives.logp;

import java.util.ArrayList;
import java.util.List;
import org.pmhxb.collectives.barrier.plan.BarrierPlan;
import org.pmhxb.collectives.barrier.plan.BarrierSpec;
import org.pmhxb.collectives.barrier.plan.Participants;
import org.pmhxb.collectives.barrier.plan.Planner;

/**
 * LogP where one thread is every processor, as on the ring fabric: it carries what was sent, then
 * polls one node after the other. So nothing overlaps, os and or of all nodes add up, and L is the
 * time of a round. What a frame to a line saves is sending; each of its copies is received.
 *
 * @param roundNs a round in which nothing is to be done
 * @param sendNs one frame more to send
 * @param receiveNs one frame more to carry and to receive
 */
public record SharedThreadModel(double roundNs, double sendNs, double receiveNs)
    implements BarrierModel {
  /** One on its way: who receives it, the number of the step that awaits it, and relays to come. */
  private record Frame(int rank, int step, int relays) {}

  @Override
  public double predictNs(Participants group, BarrierSpec spec) {
    List<BarrierPlan> plans = Planner.plans(group, spec);
    int n = plans.size();
    int[] step = new int[n];
    int[][] missing = new int[n][];
    for (int rank = 0; rank < n; rank++) {
      missing[rank] = plans.get(rank).steps().stream().mapToInt(s -> s.sources().length).toArray();
    }
    List<Frame> way = new ArrayList<>();
    double ns = 0;
    for (int rank = 0; rank < n; rank++) {
      ns += sendNs * advance(group, plans.get(rank), step, missing[rank], rank, way);
    }
    while (!way.isEmpty()) {
      List<Frame> arriving = way;
      way = new ArrayList<>();
      ns += roundNs + receiveNs * arriving.size();
      for (Frame frame : arriving) {
        if (frame.relays() > 0) {
          way.add(new Frame(frame.rank(), frame.step(), frame.relays() - 1));
          continue;
        }
        List<BarrierPlan.Step> steps = plans.get(frame.rank()).steps();
        for (int i = 0; i < steps.size(); i++) {
          missing[frame.rank()][i] -= steps.get(i).number() == frame.step() ? 1 : 0;
        }
      }
      for (int rank = 0; rank < n; rank++) {
        ns += sendNs * advance(group, plans.get(rank), step, missing[rank], rank, way);
      }
    }
    return ns;
  }

  /** Frames that a node sends now; a relay takes a round more each. */
  private static int advance(
      Participants group, BarrierPlan plan, int[] step, int[] missing, int rank, List<Frame> way) {
    int sent = 0;
    while (step[rank] < missing.length && missing[step[rank]] == 0) {
      for (BarrierPlan.Send send : plan.steps().get(step[rank]).sends()) {
        sent++;
        for (int target : send.targets()) {
          int relays = group.shape().hops(plan.node(), target) - 1;
          way.add(new Frame(group.rank(target), send.step(), relays));
        }
      }
      step[rank]++;
    }
    return sent;
  }
}
