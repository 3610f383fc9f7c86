package org.pmhxb.mpi.launch;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.pmhxb.mpi.engine.Engine;
import org.pmhxb.mpi.engine.EngineLimits;
import org.pmhxb.pm.PollIdle;
import org.pmhxb.pm.PollThread;
import org.pmhxb.router.Discovery;
import org.pmhxb.router.HxbConfig;
import org.pmhxb.router.node.HxbNode;

/**
 * The node and the engine of a process with one rank, on one poll thread. A shutdown hook closes
 * them, so that the peers hear of the end at once however the program ends.
 */
final class RankNode {
  static final long START_LIMIT_NS = 60_000_000_000L;
  private static final long POLL_MS = 2;

  /** Says who is where, once this node is known. */
  interface Directory {
    int[] nodeOfRank(HxbNode node);
  }

  private final HxbNode hxb;
  private final int[] nodeOfRank;
  private final Engine engine;
  private final PollThread poller;
  private final AtomicBoolean finished = new AtomicBoolean();

  RankNode(HxbConfig config, Directory directory) {
    hxb = HxbNode.launch(config, HxbNode.Progress.INLINE);
    nodeOfRank = directory.nodeOfRank(hxb);
    engine =
        new Engine(
            hxb.node(),
            hxb.node().open(Engine.ENDPOINT),
            nodeOfRank,
            EngineLimits.fromProperties());
    hxb.pool().handOver();
    poller =
        new PollThread(
            "hxb-poll-" + config.node(),
            List.of(hxb.node(), engine),
            hxb.node().wakeFds(),
            PollIdle.valueOf(config.idle().name()),
            config.pollCpu(),
            this::atEnd);
    hxb.node().doorbell(poller);
    engine.drivenBy(poller);
    Runtime.getRuntime().addShutdownHook(new Thread(poller::close, "hxb-close"));
    poller.start();
  }

  private void atEnd() {
    engine.end("the node's poll thread has ended");
    hxb.close();
  }

  /**
   * Runs a program as this rank; ends the process when it fails.
   *
   * @param job the same number at all ranks
   */
  void run(Program program, ClassLoader loader, long job) {
    try {
      awaitReachable();
      RankContext.register(loader, new RankContext(engine, job, START_LIMIT_NS, finished));
      program.run(loader, engine.rank());
    } catch (Throwable t) {
      finished.set(false);
      t.printStackTrace();
      System.err.println("hxb: rank " + engine.rank() + " failed (" + t + ")");
      System.exit(1);
    }
    // Threads that the program left running keep this process up, as they would without us.
  }

  /**
   * Whether an end of the process would be in order: the program has called MPI.Finalize, and its
   * main method has thrown nothing. Any thread.
   */
  boolean mayEnd() {
    return finished.get();
  }

  /**
   * Until a frame to each node of the job can leave, and for a while until all rails of this node
   * are whole: what is missing then holds up nobody, and is told.
   */
  private void awaitReachable() throws InterruptedException {
    long startNs = System.nanoTime();
    long reachableNs = 0;
    while (!hxb.isComplete()) {
      if (poller.failure() != null) {
        throw new IllegalStateException("the node broke", poller.failure());
      }
      long nowNs = System.nanoTime();
      int[] absent = absent();
      if (absent.length > 0) {
        reachableNs = 0;
        if (nowNs - startNs > START_LIMIT_NS) {
          throw new IllegalStateException(
              "no way to the job's nodes "
                  + Arrays.toString(absent)
                  + " within "
                  + START_LIMIT_NS / 1_000_000_000L
                  + " s: "
                  + hxb.discovery().missing(nowNs));
        }
      } else if (reachableNs == 0) {
        reachableNs = nowNs;
      } else if (nowNs - reachableNs > Discovery.GRACE_NS) {
        hxb.discovery()
            .missing(nowNs)
            .forEach(
                who -> System.err.println("hxb: rank " + engine.rank() + " begins without " + who));
        return;
      }
      Thread.sleep(POLL_MS);
    }
  }

  private int[] absent() {
    return Arrays.stream(nodeOfRank)
        .filter(node -> node != hxb.config().node() && !hxb.discovery().hasFirstHop(node))
        .toArray();
  }
}
