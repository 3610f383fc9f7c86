package org.pmhxb.collectives.logp;

import java.util.List;
import org.pmhxb.collectives.barrier.plan.BarrierPlan;
import org.pmhxb.collectives.barrier.plan.Participants;

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
  /** A frame on its way is one int: who receives it, the step that awaits it, relays to come. */
  private static final int STEP_SHIFT = 2;

  private static final int RANK_SHIFT = 10;

  @Override
  public double predictNs(Participants group, List<BarrierPlan> plans) {
    int n = plans.size();
    int[] step = new int[n];
    int[][] missing = new int[n][];
    for (int rank = 0; rank < n; rank++) {
      missing[rank] =
          plans.get(rank).steps().stream().mapToInt(BarrierPlan.Step::sourceCount).toArray();
    }
    IntQueue way = new IntQueue();
    double ns = 0;
    for (int rank = 0; rank < n; rank++) {
      ns += sendNs * advance(group, plans.get(rank), step, missing[rank], rank, way);
    }
    while (!way.isEmpty()) {
      int arriving = way.size();
      ns += roundNs + receiveNs * arriving;
      for (int i = 0; i < arriving; i++) {
        int frame = way.take();
        if ((frame & 3) > 0) {
          way.add(frame - 1);
          continue;
        }
        int rank = frame >>> RANK_SHIFT;
        List<BarrierPlan.Step> steps = plans.get(rank).steps();
        for (int s = 0; s < steps.size(); s++) {
          missing[rank][s] -= steps.get(s).number() == (frame >>> STEP_SHIFT & 0xFF) ? 1 : 0;
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
      Participants group, BarrierPlan plan, int[] step, int[] missing, int rank, IntQueue way) {
    int sent = 0;
    while (step[rank] < missing.length && missing[step[rank]] == 0) {
      for (BarrierPlan.Send send : plan.steps().get(step[rank]).sends()) {
        sent++;
        for (int i = 0; i < send.targetCount(); i++) {
          int target = send.target(i);
          int relays = group.shape().hops(plan.node(), target) - 1;
          way.add(group.rank(target) << RANK_SHIFT | send.step() << STEP_SHIFT | relays);
        }
      }
      step[rank]++;
    }
    return sent;
  }
}
