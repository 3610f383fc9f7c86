package org.pmhxb.collectives.logp;

import java.util.ArrayDeque;
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

  private enum Kind {
    /** A frame has come to a node's rail. */
    ARRIVAL,
    /** The rail's gap is over: the node may receive it. */
    FRAME,
    /** The node has a processor, and looks what there is. */
    TURN
  }

  /**
   * Something that happens at a node.
   *
   * @param order of its making, which decides between equal times
   * @param step at which a frame is awaited
   */
  private record Event(double atNs, int order, Kind kind, int rank, int step, int rail) {}

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

    /** When each node was done with what it did last. */
    private final double[] doneNs;

    private final double[][] railOutNs;
    private final double[][] railInNs;

    /** Step numbers of the frames that each node has not received yet, in order. */
    private final ArrayDeque<Integer>[] inbox;

    /** The node has arrived at the barrier. */
    private final boolean[] begun;

    /** It has a processor, or waits for one. */
    private final boolean[] awake;

    /** Nodes that want one, in the order in which they do. */
    private final ArrayDeque<Integer> ready = new ArrayDeque<>();

    private int idleProcessors;
    private int made;
    private final PriorityQueue<Event> events =
        new PriorityQueue<>(Comparator.comparingDouble(Event::atNs).thenComparingInt(Event::order));

    @SuppressWarnings("unchecked")
    Play(Participants group, List<BarrierPlan> plans) {
      this.group = group;
      this.plans = plans;
      int n = plans.size();
      step = new int[n];
      missing = new int[n][];
      doneNs = new double[n];
      railOutNs = new double[n][RAILS_MAX];
      railInNs = new double[n][RAILS_MAX];
      inbox = new ArrayDeque[n];
      begun = new boolean[n];
      awake = new boolean[n];
      idleProcessors = Math.min(n, processors.count());
      for (int rank = 0; rank < n; rank++) {
        missing[rank] =
            plans.get(rank).steps().stream().mapToInt(s -> s.sources().length).toArray();
        Arrays.fill(railOutNs[rank], Double.NEGATIVE_INFINITY);
        Arrays.fill(railInNs[rank], Double.NEGATIVE_INFINITY);
        inbox[rank] = new ArrayDeque<>();
      }
    }

    /** All arrive at once, those that have to wait for a processor as soon as they get it. */
    double run() {
      for (int rank = 0; rank < plans.size(); rank++) {
        wantProcessor(rank, 0);
      }
      while (!events.isEmpty()) {
        Event event = events.poll();
        switch (event.kind()) {
          case ARRIVAL -> arrive(event);
          case FRAME -> offer(event);
          case TURN -> turn(event.rank(), event.atNs());
        }
      }
      return Arrays.stream(doneNs).max().orElse(0);
    }

    private void add(double atNs, Kind kind, int rank, int frameStep, int rail) {
      events.add(new Event(atNs, made++, kind, rank, frameStep, rail));
    }

    private void addTurn(double atNs, int rank) {
      add(atNs, Kind.TURN, rank, 0, 0);
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
      Integer frame = inbox[rank].poll();
      if (frame == null && begun[rank]) {
        sleep(rank, nowNs);
        return;
      }
      double now = nowNs;
      begun[rank] = true;
      if (frame != null) {
        now += logp.orNs();
        note(rank, frame);
      }
      doneNs[rank] = goOn(rank, now);
      addTurn(doneNs[rank], rank);
    }

    private void sleep(int rank, double nowNs) {
      awake[rank] = false;
      Integer next = ready.poll();
      if (next == null) {
        idleProcessors++;
      } else {
        addTurn(nowNs + wakeNs(nowNs), next);
      }
    }

    // --- frames ---

    private void arrive(Event frame) {
      double[] in = railInNs[frame.rank()];
      double atNs = Math.max(frame.atNs(), in[frame.rail()] + logp.gapNs());
      in[frame.rail()] = atNs;
      add(atNs, Kind.FRAME, frame.rank(), frame.step(), frame.rail());
    }

    private void offer(Event frame) {
      inbox[frame.rank()].add(frame.step());
      if (!awake[frame.rank()]) {
        wantProcessor(frame.rank(), frame.atNs());
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
      int[] targets = send.targets();
      double startNs = Math.max(nowNs, railOutNs[rank][rail] + logp.gapNs());
      railOutNs[rank][rail] = startNs;
      double sentNs = startNs + logp.osNs() + (targets.length - 1) * logp.copyNs();
      for (int target : targets) {
        int relays = group.shape().hops(plans.get(rank).node(), target) - 1;
        double atNs = sentNs + logp.latencyNs(relays);
        add(atNs, Kind.ARRIVAL, group.rank(target), send.step(), rail);
      }
      return sentNs;
    }
  }
}
