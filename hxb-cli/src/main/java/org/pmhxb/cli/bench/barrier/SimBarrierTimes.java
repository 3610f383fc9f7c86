package org.pmhxb.cli.bench.barrier;

import java.util.List;
import org.pmhxb.collectives.barrier.Barrier;
import org.pmhxb.collectives.barrier.BarrierSpec;
import org.pmhxb.collectives.barrier.Barriers;
import org.pmhxb.collectives.barrier.Group;
import org.pmhxb.collectives.logp.LogP;
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
 * with a wire of the given latency. What a node's cycle costs is the simulator's own (0.5 us, and
 * 0.1 us for each frame).
 */
public final class SimBarrierTimes {
  private static final long PEER_TIMEOUT_NS = 5_000_000_000L;
  private static final long BITS_PER_SECOND = 10_000_000_000L;
  private static final int QUEUE_BYTES = 256 * 1024;
  private static final int RING_FRAMES = 128;

  /** A COLLECTIVE frame to a line: header, three words, incarnation. */
  private static final int FRAME_BYTES = 96;

  /** What each frame adds to a simulated node's duty cycle. */
  private static final double FRAME_NS = 100;

  private static final int WARM_UP = 20;
  private static final int COUNT = 100;

  private final LinkSpec link;

  /**
   * @param latencyNs of a frame from port to port
   */
  public SimBarrierTimes(long latencyNs) {
    this.link = new LinkSpec(BITS_PER_SECOND, latencyNs, QUEUE_BYTES, RING_FRAMES);
  }

  /**
   * LogP of this machine: what a cycle costs follows its frames, so os is 0; a frame takes its time
   * on the wire twice, to the switch and from it, and nothing else comes or goes by that rail
   * meanwhile.
   */
  public LogP logp() {
    double sendNs = link.sendNs(FRAME_BYTES);
    return new LogP(0, FRAME_NS, sendNs, new double[] {link.latencyNs() + 2 * sendNs});
  }

  /**
   * Mean time of a barrier of all nodes on a line, nanoseconds.
   *
   * @throws IllegalStateException the simulation found something wrong
   */
  public double meanNs(int nodes, int rails, BarrierSpec spec) {
    Shape shape = Shape.of(nodes);
    Group group = BarrierSuite.everyone(shape, rails);
    Clock clock = new Clock();
    SimOptions options =
        new SimOptions(
            shape,
            rails,
            1,
            NodeOptions.small(),
            List.of(link, link, link),
            new Schedule(shape, rails, PEER_TIMEOUT_NS, List.of()),
            host -> List.of(new Repeated(host, group, spec, clock)),
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
    private final Barrier barrier;
    private final Clock clock;
    private final boolean first;
    private boolean inside;
    private boolean done;

    Repeated(Host host, Group group, BarrierSpec spec, Clock clock) {
      this.barrier = Barriers.of(host.node()).open(1, group, spec);
      this.clock = clock;
      this.first = host.self() == 0;
    }

    @Override
    public int step(long nowNs) {
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
