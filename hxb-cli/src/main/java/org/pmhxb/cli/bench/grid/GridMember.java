package org.pmhxb.cli.bench.grid;

import org.pmhxb.cli.workload.RankData;
import org.pmhxb.collectives.Collective;
import org.pmhxb.collectives.CollectiveCall;
import org.pmhxb.collectives.Collectives;
import org.pmhxb.collectives.Communicator;
import org.pmhxb.collectives.Group;
import org.pmhxb.sim.work.Program;

/**
 * One rank of a case: the operation some times to warm up, then measured. All ranks begin at the
 * same instant, which they agree on outside the network. A stream is that many broadcasts in a
 * group of two, one behind the other. Results are checked between the instants that count.
 */
final class GridMember implements Program {
  private static final int WARM_UPS = 2;

  private final GridCase grid;
  private final GridClock clock;
  private final Collectives collectives;
  private final Communicator communicator;
  private final int messages;
  private final RankData data;
  private final long[] began = new long[GridRun.REPEATS];
  private final long[] ended = new long[GridRun.REPEATS];

  /** The node's time at the machine's start, within a microsecond. */
  private long startNs = -1;

  private int iteration;
  private int message;
  private CollectiveCall call;

  GridMember(GridCase grid, GridClock clock, Collectives collectives, Group group) {
    this.grid = grid;
    this.clock = clock;
    this.collectives = collectives;
    this.communicator = collectives.join(group, grid.network().topology());
    this.messages = grid.operation() == null ? GridRun.streamMessages(grid.bytes()) : 1;
    Collective what = grid.operation() == null ? Collective.BROADCAST : grid.operation();
    this.data = new RankData(what, grid.bytes(), group.size(), group.rank());
    communicator.use(what, grid.operation() == null ? "chain" : grid.algorithm());
    data.fill(0);
  }

  long beganNs(int repeat) {
    return began[repeat];
  }

  long endedNs(int repeat) {
    return ended[repeat];
  }

  @Override
  public int step(long nowNs) {
    if (startNs < 0) {
      startNs = nowNs;
    }
    int work = collectives.poll();
    if (call != null && call.isDone()) {
      call.check();
      call = null;
      goOn(nowNs - startNs);
      work++;
    }
    if (call == null && !isOver() && (message > 0 || clock.mayBegin(iteration, nowNs - startNs))) {
      begin(nowNs - startNs);
      work++;
    }
    return work;
  }

  private boolean isOver() {
    return iteration == WARM_UPS + GridRun.REPEATS;
  }

  private void begin(long atNs) {
    if (message == 0 && iteration >= WARM_UPS) {
      began[iteration - WARM_UPS] = atNs;
    }
    call = data.start(communicator);
  }

  private void goOn(long atNs) {
    message++;
    if (message < messages) {
      return;
    }
    if (iteration >= WARM_UPS) {
      ended[iteration - WARM_UPS] = atNs;
    }
    data.check(iteration);
    message = 0;
    iteration++;
    data.fill(iteration);
    clock.ended(atNs);
  }

  @Override
  public boolean isDone() {
    return isOver() && collectives.isSettled();
  }

  @Override
  public void close() {
    collectives.close();
  }
}
