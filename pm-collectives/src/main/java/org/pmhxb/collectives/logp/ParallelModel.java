package org.pmhxb.collectives.logp;

import java.util.Arrays;
import java.util.List;
import org.pmhxb.collectives.barrier.plan.BarrierPlan;
import org.pmhxb.collectives.barrier.plan.Participants;
import org.pmhxb.router.RailLayout;

/**
 * LogP of nodes that work side by side. It does not hold the papers' formulas but what they follow
 * from: it plays the plans of all nodes, each send costing its node os, each receive or, each frame
 * L on its way, and frames of one rail keeping their gap. Where the papers have a formula it comes
 * to the same; it holds for any group, rails and relays besides.
 *
 * <p>Nodes may have to share {@link Processors}: then a node gives its processor up when nothing is
 * there for it, and a frame that comes to such a node waits until a processor is free, and costs
 * that one a wake-up.
 */
public final class ParallelModel implements BarrierModel {
  private static final int RAILS_MAX = RailLayout.MAX_PER_DIMENSION;

  /** A frame has come to a node's rail. */
  private static final int ARRIVAL = 0;

  /** The rail's gap is over: the node may receive it. */
  private static final int FRAME = 1;

  /** The node has a processor, and looks what there is. */
  private static final int TURN = 2;

  /** Something that happens at a node is one int: what, its rail, the step that awaits it, rank. */
  private static final int RAIL_SHIFT = 2;

  private static final int STEP_SHIFT = 6;
  private static final int RANK_SHIFT = 14;

  private final LogP logp;
  private final Processors processors;

  /** A processor for each node. */
  public ParallelModel(LogP logp) {
    this(logp, Processors.ONE_EACH);
  }

  public ParallelModel(LogP logp, Processors processors) {
    this.logp = logp;
    this.processors = processors;
  }

  @Override
  public double predictNs(Participants group, List<BarrierPlan> plans) {
    return new Play(group, plans).run();
  }

  /** One barrier. */
  private final class Play {
    private final Participants group;
    private final List<BarrierPlan> plans;
    private final int[] step;
    private final int[][] missing;

    /** When each node was done with what it did last. */
    private final double[] doneNs;

    private final double[][] railOutNs;
    private final double[][] railInNs;

    /** Step numbers of the frames that each node has not received yet, in order. */
    private final IntQueue[] inbox;

    /** The node has arrived at the barrier. */
    private final boolean[] begun;

    /** It has a processor, or waits for one. */
    private final boolean[] awake;

    /** Nodes that want one, in the order in which they do. */
    private final IntQueue ready = new IntQueue();

    private int idleProcessors;
    private final Agenda events = new Agenda();

    Play(Participants group, List<BarrierPlan> plans) {
      this.group = group;
      this.plans = plans;
      int n = plans.size();
      step = new int[n];
      missing = new int[n][];
      doneNs = new double[n];
      railOutNs = new double[n][RAILS_MAX];
      railInNs = new double[n][RAILS_MAX];
      inbox = new IntQueue[n];
      begun = new boolean[n];
      awake = new boolean[n];
      idleProcessors = Math.min(n, processors.count());
      for (int rank = 0; rank < n; rank++) {
        missing[rank] =
            plans.get(rank).steps().stream().mapToInt(BarrierPlan.Step::sourceCount).toArray();
        Arrays.fill(railOutNs[rank], Double.NEGATIVE_INFINITY);
        Arrays.fill(railInNs[rank], Double.NEGATIVE_INFINITY);
        inbox[rank] = new IntQueue();
      }
    }

    /** All arrive at once, those that have to wait for a processor as soon as they get it. */
    double run() {
      for (int rank = 0; rank < plans.size(); rank++) {
        wantProcessor(rank, 0);
      }
      while (!events.isEmpty()) {
        int event = events.take();
        double nowNs = events.nowNs();
        int rank = event >>> RANK_SHIFT;
        switch (event & 3) {
          case ARRIVAL -> arrive(event, rank, nowNs);
          case FRAME -> offer(event, rank, nowNs);
          default -> turn(rank, nowNs);
        }
      }
      return Arrays.stream(doneNs).max().orElse(0);
    }

    private void addTurn(double atNs, int rank) {
      events.add(atNs, rank << RANK_SHIFT | TURN);
    }

    // --- processors ---

    private void wantProcessor(int rank, double nowNs) {
      awake[rank] = true;
      if (idleProcessors > 0) {
        idleProcessors--;
        addTurn(nowNs + wakeNs(nowNs), rank);
      } else {
        ready.add(rank);
      }
    }

    /** Nobody sleeps at the beginning. */
    private double wakeNs(double nowNs) {
      return nowNs == 0 ? 0 : processors.wakeNs();
    }

    /** Receives one frame, if there is one, and does what follows; else gives the processor up. */
    private void turn(int rank, double nowNs) {
      IntQueue frames = inbox[rank];
      boolean comes = !frames.isEmpty();
      if (!comes && begun[rank]) {
        sleep(rank, nowNs);
        return;
      }
      double now = nowNs;
      begun[rank] = true;
      if (comes) {
        now += logp.orNs();
        note(rank, frames.take());
      }
      doneNs[rank] = goOn(rank, now);
      addTurn(doneNs[rank], rank);
    }

    private void sleep(int rank, double nowNs) {
      awake[rank] = false;
      if (ready.isEmpty()) {
        idleProcessors++;
      } else {
        addTurn(nowNs + wakeNs(nowNs), ready.take());
      }
    }

    // --- frames ---

    private void arrive(int frame, int rank, double nowNs) {
      double[] in = railInNs[rank];
      int rail = frame >>> RAIL_SHIFT & 0xF;
      in[rail] = Math.max(nowNs, in[rail] + logp.gapNs());
      events.add(in[rail], frame - ARRIVAL + FRAME);
    }

    private void offer(int frame, int rank, double nowNs) {
      inbox[rank].add(frame >>> STEP_SHIFT & 0xFF);
      if (!awake[rank]) {
        wantProcessor(rank, nowNs);
      }
    }

    private void note(int rank, int frameStep) {
      List<BarrierPlan.Step> steps = plans.get(rank).steps();
      for (int i = 0; i < steps.size(); i++) {
        if (steps.get(i).number() == frameStep) {
          missing[rank][i]--;
        }
      }
    }

    /** Sends what may be sent now; the time at which that is done. */
    private double goOn(int rank, double nowNs) {
      BarrierPlan plan = plans.get(rank);
      double now = nowNs;
      while (step[rank] < plan.steps().size() && missing[rank][step[rank]] == 0) {
        for (BarrierPlan.Send send : plan.steps().get(step[rank]).sends()) {
          now = send(rank, send, now);
        }
        step[rank]++;
      }
      return now;
    }

    private double send(int rank, BarrierPlan.Send send, double nowNs) {
      int rail = send.way();
      int targets = send.targetCount();
      double startNs = Math.max(nowNs, railOutNs[rank][rail] + logp.gapNs());
      railOutNs[rank][rail] = startNs;
      double sentNs = startNs + logp.osNs() + (targets - 1) * logp.copyNs();
      int frame = send.step() << STEP_SHIFT | rail << RAIL_SHIFT | ARRIVAL;
      int node = plans.get(rank).node();
      for (int i = 0; i < targets; i++) {
        int target = send.target(i);
        int relays = group.shape().hops(node, target) - 1;
        events.add(sentNs + logp.latencyNs(relays), group.rank(target) << RANK_SHIFT | frame);
      }
      return sentNs;
    }
  }
}
