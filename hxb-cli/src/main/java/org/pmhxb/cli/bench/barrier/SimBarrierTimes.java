package org.pmhxb.cli.bench.barrier;

import java.util.List;
import org.pmhxb.collectives.barrier.Barrier;
import org.pmhxb.collectives.barrier.Barriers;
import org.pmhxb.collectives.barrier.plan.BarrierSpec;
import org.pmhxb.collectives.barrier.plan.Participants;
import org.pmhxb.collectives.logp.LogP;
import org.pmhxb.pm.Counter;
import org.pmhxb.pm.PmNode;
import org.pmhxb.router.Shape;
import org.pmhxb.sim.NodeOptions;
import org.pmhxb.sim.SimOptions;
import org.pmhxb.sim.SimResult;
import org.pmhxb.sim.Simulation;
import org.pmhxb.sim.fault.Schedule;
import org.pmhxb.sim.net.LinkSpec;
import org.pmhxb.sim.work.Host;
import org.pmhxb.sim.work.Program;

/**
 * Barriers of lines of any length in the simulator: the production classes under a virtual clock,
 * with a fabric of the given LogP. A link takes the gap for a frame; os, L and or lie on the way of
 * a frame; each further frame that a node sends or receives in a row costs it os or or. Every node
 * has a processor, and the switch copies what goes to a line. Beside that a node's cycle costs 0.5
 * us, and each frame 0.1 us at least, which is the simulator's own.
 */
public final class SimBarrierTimes {
  private static final long PEER_TIMEOUT_NS = 5_000_000_000L;

  /** The quickest link: a gap below its 0.1 us is not simulated. */
  private static final long BITS_PER_SECOND_MAX = 10_000_000_000L;

  private static final int QUEUE_BYTES = 256 * 1024;
  private static final int RING_FRAMES = 128;

  /** A COLLECTIVE frame to a line: header, three words, incarnation. */
  private static final int FRAME_BYTES = 96;

  /** What each thing done adds to a simulated node's duty cycle. */
  private static final double WORK_NS = 100;

  private static final int WARM_UP = 20;
  private static final int COUNT = 100;

  private final LogP logp;
  private final LinkSpec link;

  /**
   * @param logp what the fabric shall cost
   */
  public SimBarrierTimes(LogP logp) {
    this.logp = logp;
    LinkSpec quickest = new LinkSpec(BITS_PER_SECOND_MAX, 0, QUEUE_BYTES, RING_FRAMES);
    double slower = Math.max(1, logp.gapNs() / quickest.sendNs(FRAME_BYTES));
    long bitsPerSecond = Math.round(BITS_PER_SECOND_MAX / slower);
    LinkSpec wire = new LinkSpec(bitsPerSecond, 0, QUEUE_BYTES, RING_FRAMES);
    double wayNs = logp.osNs() + logp.latencyNs(0) + logp.orNs();
    long latencyNs = Math.max(1, Math.round(wayNs) - 2 * wire.sendNs(FRAME_BYTES));
    this.link = new LinkSpec(bitsPerSecond, latencyNs, QUEUE_BYTES, RING_FRAMES);
  }

  /**
   * Mean time of a barrier of all nodes on a line, nanoseconds.
   *
   * @throws IllegalStateException the simulation found something wrong
   */
  public double meanNs(int nodes, int rails, BarrierSpec spec) {
    Shape shape = Shape.of(nodes);
    Participants group = BarrierSuite.everyone(shape, rails);
    Clock clock = new Clock();
    SimOptions options =
        new SimOptions(
            shape,
            rails,
            1,
            NodeOptions.small(),
            List.of(link, link, link),
            new Schedule(shape, rails, PEER_TIMEOUT_NS, List.of()),
            host -> List.of(new Repeated(host, group, spec, clock, logp)),
            SimOptions.PROGRESS_BOUND_NS,
            1_000_000,
            false);
    SimResult result = Simulation.run(options);
    if (!result.ok()) {
      throw new IllegalStateException(
          "simulated barrier " + spec + " of " + nodes + " nodes: " + result.violation());
    }
    return (double) (clock.endNs - clock.beginNs) / COUNT;
  }

  /** Node 0's times of the first and of the last barrier that count. */
  private static final class Clock {
    long beginNs;
    long endNs;
  }

  /** Arrives again as soon as it has left. */
  private static final class Repeated implements Program {
    private final PmNode node;
    private final LogP logp;
    private double chargedNs;
    private final Barrier barrier;
    private final Clock clock;
    private final boolean first;
    private boolean inside;
    private boolean done;

    Repeated(Host host, Participants group, BarrierSpec spec, Clock clock, LogP logp) {
      this.node = host.node();
      this.logp = logp;
      this.barrier = Barriers.of(host.node()).open(1, group, spec);
      this.clock = clock;
      this.first = host.self() == 0;
    }

    @Override
    public int step(long nowNs) {
      return advance(nowNs) + charge();
    }

    /** The processor time of frames since the last round, in units of the simulator's. */
    private int charge() {
      double dueNs =
          logp.osNs() * node.counters().get(Counter.COLLECTIVES_SENT)
              + Math.max(0, logp.orNs() - WORK_NS)
                  * node.counters().get(Counter.COLLECTIVES_RECEIVED);
      int units = (int) ((dueNs - chargedNs) / WORK_NS);
      chargedNs += units * WORK_NS;
      return units;
    }

    private int advance(long nowNs) {
      if (done || inside && !barrier.test()) {
        return 0;
      }
      if (first && barrier.epoch() == WARM_UP) {
        clock.beginNs = nowNs;
      }
      if (barrier.epoch() == WARM_UP + COUNT) {
        clock.endNs = first ? nowNs : clock.endNs;
        done = true;
        return 1;
      }
      barrier.arrive();
      inside = true;
      return 1;
    }

    @Override
    public boolean isDone() {
      return done;
    }

    @Override
    public void close() {
      barrier.close();
    }
  }
}
