package org.pmhxb.sim;

import java.util.ArrayList;
import java.util.List;
import org.pmhxb.sim.work.Host;
import org.pmhxb.sim.work.Program;
import org.pmhxb.sim.work.Workload;

/** Notes how many messages of the whole machine were delivered by each bin's end. */
final class Deliveries implements Program {
  private final Host host;
  private final long binNs;
  private final List<Long> counts = new ArrayList<>();
  private long firstNs = -1;

  private Deliveries(Host host, long binNs) {
    this.host = host;
    this.binNs = binNs;
  }

  /** A workload with one of these on each node, which are added to {@code all} by node number. */
  static Workload watching(Workload work, long binNs, List<Deliveries> all) {
    return host -> {
      List<Program> programs = new ArrayList<>(work.programs(host));
      all.add(new Deliveries(host, binNs));
      programs.add(all.getLast());
      return programs;
    };
  }

  @Override
  public int step(long nowNs) {
    // The node's clock began at some moment of its own.
    firstNs = firstNs < 0 ? nowNs : firstNs;
    while (counts.size() < (nowNs - firstNs) / binNs) {
      counts.add(host.oracle().delivered());
    }
    return 0;
  }

  @Override
  public boolean isDone() {
    return true;
  }

  @Override
  public void close() {}

  /** Messages a second between two times since the first step. */
  double rate(long fromNs, long toNs) {
    long messages = counts.get((int) (toNs / binNs)) - counts.get((int) (fromNs / binNs));
    return messages * 1e9 / (toNs - fromNs);
  }

  /** End of the last bin from a time on that delivers less than {@code least} a second. */
  long shortUntilNs(long fromNs, long toNs, double least) {
    long shortUntilNs = fromNs;
    for (long at = fromNs; at < toNs; at += binNs) {
      if (rate(at, at + binNs) < least) {
        shortUntilNs = at + binNs;
      }
    }
    return shortUntilNs;
  }
}
