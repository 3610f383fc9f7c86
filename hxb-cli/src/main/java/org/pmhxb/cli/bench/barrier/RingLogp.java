package org.pmhxb.cli.bench.barrier;

import java.util.Arrays;
import org.pmhxb.collectives.barrier.Barrier;
import org.pmhxb.collectives.barrier.plan.BarrierSpec;
import org.pmhxb.collectives.barrier.plan.Participants;
import org.pmhxb.collectives.logp.SharedThreadModel;
import org.pmhxb.collectives.probe.FabricLogp;
import org.pmhxb.collectives.probe.FabricProbe;
import org.pmhxb.collectives.probe.ProbeClock;
import org.pmhxb.pm.CollectiveFrames;
import org.pmhxb.router.fabric.RingCluster;

/**
 * LogP of the ring fabric, measured with frames of no barrier: they go all the way that a barrier's
 * go, and nobody answers them. Medians, because the machine has other work.
 */
public final class RingLogp {
  private static final int ROUNDS = 6_001;
  private static final int PINGS = 10_001;
  private static final long WARM_UP_NS = 2_500_000_000L;

  /** Of no barrier: a number that nobody opens. */
  private static final long NOBODYS = 1L << 56 | 0xFFFFL << 32;

  private final RingCluster cluster;
  private final Participants group;
  private final CollectiveFrames[] frames;
  private final int n;

  /** The sessions of all neighbours in the ring of node numbers have to be up. */
  public RingLogp(RingBarrierRun run) {
    // Its sessions are those that the measurement needs.
    Barrier[] sessions = run.open(BarrierSpec.parse("dissemination"));
    for (Barrier barrier : sessions) {
      barrier.close();
    }
    this.cluster = run.cluster();
    this.group = run.group();
    this.n = cluster.size();
    this.frames = new CollectiveFrames[n];
    Arrays.setAll(frames, i -> cluster.node(i).collectives());
  }

  /**
   * What was measured.
   *
   * @param model for predictions
   * @param fabric by pings of one node, as over any fabric; or is the model's, because a round's
   *     length says nothing of one of the nodes that share the thread
   */
  public record Found(SharedThreadModel model, FabricLogp fabric) {}

  /** Measures, after two seconds and a half of the same. */
  public Found measure() {
    double[] idleNs = new double[ROUNDS];
    double[] sendNs = new double[ROUNDS];
    double[] receiveNs = new double[ROUNDS];
    // The compilers are done with these loops, or the parameters are those of an interpreter.
    long startNs = System.nanoTime();
    do {
      for (int i = 0; i < ROUNDS; i++) {
        settle();
        long t0 = System.nanoTime();
        cluster.doWork(t0);
        long t1 = System.nanoTime();
        for (int node = 0; node < n; node++) {
          frames[node].send((node + 1) % n, 0, NOBODYS, 0, 0);
          frames[node].flush();
        }
        long t2 = System.nanoTime();
        cluster.doWork(t2);
        long t3 = System.nanoTime();
        idleNs[i] = t1 - t0;
        sendNs[i] = (double) (t2 - t1) / n;
        receiveNs[i] = (double) (t3 - t2) / n;
      }
    } while (System.nanoTime() - startNs < WARM_UP_NS);
    double round = median(idleNs);
    double send = median(sendNs);
    double receive = Math.max(0, median(receiveNs) - round / n);
    return new Found(new SharedThreadModel(round, send, receive), probe(receive));
  }

  private FabricLogp probe(double receiveNs) {
    FabricProbe probe =
        new FabricProbe(
            cluster.node(0), group, ProbeClock.polling(System::nanoTime), timeNs -> {}, PINGS);
    while (!probe.isOver()) {
      cluster.doWork(System.nanoTime());
      if (probe.isConnected()) {
        probe.step();
      }
    }
    return probe.found(receiveNs);
  }

  /** Rounds until nothing happens, so that an idle one is idle. */
  private void settle() {
    while (cluster.doWork(System.nanoTime()) > 0) {
      Thread.onSpinWait();
    }
  }

  private static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }
}
