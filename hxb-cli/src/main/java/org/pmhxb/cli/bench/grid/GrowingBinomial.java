package org.pmhxb.cli.bench.grid;

import org.pmhxb.collectives.Algorithm;
import org.pmhxb.collectives.Area;
import org.pmhxb.collectives.Collective;
import org.pmhxb.collectives.CostModel;
import org.pmhxb.collectives.PlanBuilder;
import org.pmhxb.collectives.Problem;

/**
 * The broadcast of the paper's cluster MPI: a binomial tree whose distances grow, so that in its
 * last step all eight nodes of the one cluster send to the other (GridMPI, section 3.5). Here as
 * the stand-in for a library that knows nothing of clusters; added to the registry as any user's
 * algorithm is.
 */
final class GrowingBinomial implements Algorithm {
  static final String NAME = "binomial-growing";

  @Override
  public Collective collective() {
    return Collective.BROADCAST;
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public double predictNs(Problem p, CostModel model) {
    double ns = 0;
    for (int step = 1; step < p.size(); step <<= 1) {
      // The last step crosses, as many times as there are members on one side.
      boolean crosses = 2 * step >= p.size();
      int links = Math.max(1, p.topology().links());
      double perByte =
          crosses
              ? Math.max(model.nsPerByte(), model.slowNsPerByte() * step / links)
              : model.nsPerByte();
      ns += model.overheadNs() + (crosses ? model.slowLatencyNs() : model.latencyNs());
      ns += p.blockBytes() * perByte;
    }
    return ns;
  }

  @Override
  public void plan(Problem p, PlanBuilder plan) {
    int n = p.size();
    int place = Math.floorMod(p.rank() - p.root(), n);
    int own = Integer.highestOneBit(place);
    if (place > 0) {
      plan.receive((p.root() + place - own) % n, Area.OUTPUT, 0, p.blockBytes());
    }
    for (int step = Math.max(1, own << 1); place + step < n; step <<= 1) {
      plan.send((p.root() + place + step) % n, Area.OUTPUT, 0, p.blockBytes());
    }
  }
}
