package org.pmhxb.cli.node;

import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import org.pmhxb.cli.workload.LatencyHistogram;
import org.pmhxb.cli.workload.RankData;
import org.pmhxb.collectives.CollectiveCall;
import org.pmhxb.collectives.CollectiveLimits;
import org.pmhxb.collectives.Collectives;
import org.pmhxb.collectives.Communicator;
import org.pmhxb.collectives.CostModel;
import org.pmhxb.collectives.Group;
import org.pmhxb.collectives.Topology;
import org.pmhxb.collectives.algorithm.StandardAlgorithms;
import org.pmhxb.collectives.barrier.Barrier;
import org.pmhxb.collectives.barrier.Barriers;
import org.pmhxb.collectives.barrier.plan.BarrierAlgorithm;
import org.pmhxb.collectives.barrier.plan.BarrierSpec;
import org.pmhxb.collectives.barrier.plan.Participants;
import org.pmhxb.pm.PmNode;
import org.pmhxb.router.Shape;

/** Collectives of all nodes whose program is the node's poll thread. */
final class PolledCollectives implements CollectivesHandle {
  private static final int ENDPOINT = 5;
  private static final int GROUP = 1;

  /** Of no benchmark of barriers. */
  private static final int BARRIER = 65_000;

  private final LoopWork loop;
  private final Collectives collectives;
  private final Communicator world;
  private final Barrier barrier;

  private PolledCollectives(
      LoopWork loop, Collectives collectives, Communicator world, Barrier barrier) {
    this.loop = loop;
    this.collectives = collectives;
    this.world = world;
    this.barrier = barrier;
  }

  /** Poll thread. */
  private static PolledCollectives open(PmNode node, LoopWork loop, Shape shape) {
    // Every algorithm is named in an order: the model chooses nothing here.
    Collectives collectives =
        new Collectives(
            node,
            ENDPOINT,
            StandardAlgorithms.registry(),
            CostModel.gigabit(),
            CollectiveLimits.defaults());
    try {
      Communicator world = collectives.join(Group.all(GROUP, node), Topology.crossbar(shape));
      BarrierSpec spec = BarrierSpec.of(BarrierAlgorithm.DISSEMINATION);
      Barrier barrier = Barriers.of(node).open(BARRIER, Participants.all(node), spec);
      return new PolledCollectives(loop, collectives, world, barrier);
    } catch (RuntimeException e) {
      collectives.close();
      throw e;
    }
  }

  /** Opens the endpoint and joins; any thread but the poll thread. */
  static PolledCollectives join(PmNode node, LoopWork loop, Shape shape) {
    return loop.make(() -> open(node, loop, shape), PolledCollectives::closeNow);
  }

  @Override
  public CollectiveTimes run(CollectiveOrder order, long limitMs, BooleanSupplier gone)
      throws InterruptedException, TimeoutException {
    Repeated repeated = new Repeated(order);
    String what =
        "%d times %s %s of %d B are"
            .formatted(order.count(), order.collective(), order.algorithm(), order.bytes());
    AwaitedTask.drive(loop, repeated, limitMs, gone, what);
    return repeated.times();
  }

  @Override
  public void close() {
    loop.call(
        () -> {
          closeNow();
          return null;
        });
  }

  /** Poll thread. */
  private void closeNow() {
    barrier.close();
    collectives.close();
  }

  /**
   * A barrier, then the operation, again and again, until all that it sent has arrived. Owner: the
   * poll thread; the times are read when it is over.
   */
  private final class Repeated implements LoopWork.Task {
    private final LatencyHistogram latency = new LatencyHistogram();
    private final CollectiveOrder order;
    private RankData data;
    private int done;

    /** What the data are made of. */
    private int filled;

    private boolean inBarrier;
    private CollectiveCall call;
    private long beganNs;
    private long copies;
    private long loans;
    private boolean over;

    Repeated(CollectiveOrder order) {
      this.order = order;
    }

    @Override
    public int doWork(long nowNs) {
      if (data == null) {
        begin();
      }
      int work = collectives.poll();
      int steps = 0;
      while (steps < LoopWork.STEPS_MAX && !over && step()) {
        steps++;
      }
      return work + steps;
    }

    private void begin() {
      world.use(order.collective(), order.algorithm());
      int ranks = world.group().size();
      data = new RankData(order.collective(), order.bytes(), ranks, world.group().rank());
      fill(order.fill());
      copies = collectives.earlyCopies();
      loans = collectives.earlyLoans();
      enter();
    }

    private void fill(int iteration) {
      filled = iteration;
      data.fill(iteration);
    }

    private void enter() {
      if (barrier.test()) { // else an arrival of a run that was given up stands
        barrier.arrive();
      }
      inBarrier = true;
    }

    private boolean step() {
      if (inBarrier) {
        return barrier.test() && call();
      }
      if (done == order.count()) {
        over = collectives.isSettled();
        return over;
      }
      if (!call.isDone()) {
        return false;
      }
      call.check();
      latency.record(System.nanoTime() - beganNs);
      done++;
      if (done >= order.count() - 1) {
        data.check(filled);
      }
      if (done == order.count() - 1) {
        fill(~order.fill()); // else the first could have done all that is found behind the last
      }
      if (done < order.count()) {
        enter();
      }
      return true;
    }

    private boolean call() {
      inBarrier = false;
      beganNs = System.nanoTime();
      call = data.start(world);
      return true;
    }

    @Override
    public boolean over() {
      return over;
    }

    CollectiveTimes times() {
      return new CollectiveTimes(
          latency.encoded(),
          done,
          collectives.earlyCopies() - copies,
          collectives.earlyLoans() - loans);
    }
  }
}
