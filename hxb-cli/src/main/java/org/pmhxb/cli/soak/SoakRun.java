package org.pmhxb.cli.soak;

import java.io.IOException;
import java.util.function.Consumer;
import org.pmhxb.cli.cluster.ClusterLauncher;
import org.pmhxb.cli.cluster.ClusterPaths;
import org.pmhxb.cli.cluster.ClusterSpec;
import org.pmhxb.cli.demo.DemoReport;
import org.pmhxb.cli.demo.DemoRun;
import org.pmhxb.pm.port.PortFaults;
import org.pmhxb.router.Shape;
import org.pmhxb.router.fabric.RingCluster;

/** One soak: rounds over ring and veth in turn until the time is over. Owner: the main thread. */
public final class SoakRun {
  private static final double RING_SECONDS = 6;
  private static final int SIZE_BYTES = 2_048;

  private final Soak soak;
  private final long startNs = System.nanoTime();
  private final long endNs;
  private final Consumer<String> progress;
  private Vitals first;
  private int ringRounds;

  /**
   * @param progress takes lines for people
   */
  public SoakRun(long seed, double minutes, Consumer<String> progress) {
    this.soak = new Soak(seed);
    this.endNs = startNs + (long) (minutes * 60e9);
    this.progress = progress;
  }

  /** Within this process. */
  public SoakReport overRing() throws IOException, InterruptedException {
    do {
      ringRound();
    } while (goesOn());
    return report();
  }

  /** A process per node. */
  public SoakReport overVeth(ClusterSpec spec, ClusterPaths paths, ClusterLauncher launcher)
      throws IOException, InterruptedException {
    try (VethSoak veth = new VethSoak(soak, spec, paths, launcher, progress)) {
      do {
        veth.round();
      } while (goesOn());
    }
    return report();
  }

  /** In turn. */
  public SoakReport overBoth(ClusterSpec spec, ClusterPaths paths, ClusterLauncher launcher)
      throws IOException, InterruptedException {
    try (VethSoak veth = new VethSoak(soak, spec, paths, launcher, progress)) {
      do {
        ringRound();
        veth.round();
      } while (goesOn());
    }
    return report();
  }

  private boolean goesOn() {
    return System.nanoTime() - endNs < 0 && soak.failures.size() < 10 && !soak.nodeEnded;
  }

  private SoakReport report() {
    return soak.report((System.nanoTime() - startNs) / 60e9);
  }

  private void ringRound() throws IOException, InterruptedException {
    PortFaults faults = soak.nextFaults();
    RingCluster.Options options =
        RingCluster.Options.of(Shape.of(2, 2, 2), 2).withSeed(faults.seed()).withFaults(faults);
    DemoReport report;
    try (RingCluster cluster = RingCluster.create(options)) {
      report = new DemoRun(cluster, SIZE_BYTES, progress).run(RING_SECONDS);
    }
    soak.leakedBuffers += report.leakedBuffers();
    soak.count(
        "ring with " + faults,
        report.messages(),
        report.lost(),
        report.duplicated(),
        report.misordered(),
        report.corrupt(),
        report.resent());
    if (!report.ok()) {
      soak.failures.add("ring with " + faults + ": not ok");
    }
    soak.heapNow();
    Vitals now = Vitals.of(ProcessHandle.current().pid());
    if (++ringRounds == 2) {
      first = now;
    } else if (first != null) {
      soak.grown("this process", now.since(first));
    }
  }
}
