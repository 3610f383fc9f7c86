package org.pmhxb.mpi.launch;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.pmhxb.mpi.engine.Engine;
import org.pmhxb.mpi.engine.EngineLimits;
import org.pmhxb.pm.PollIdle;
import org.pmhxb.pm.PollThread;
import org.pmhxb.router.HxbConfig;
import org.pmhxb.router.node.HxbNode;

/**
 * One rank and its node in a process of their own; started by {@code hxb mpirun}.
 *
 * <p>The node is closed by a shutdown hook, so that its peers hear of the end at once however the
 * program ends.
 */
public final class RankProcess {
  private static final long START_LIMIT_NS = 60_000_000_000L;
  private static final long POLL_MS = 2;

  private final HxbNode hxb;
  private final Engine engine;
  private final PollThread poller;

  private RankProcess(HxbConfig config, int[] nodeOfRank) {
    hxb = HxbNode.launch(config, HxbNode.Progress.INLINE);
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
    Runtime.getRuntime().addShutdownHook(new Thread(poller::close, "hxb-close"));
    poller.start();
  }

  private void atEnd() {
    engine.end("the node's poll thread has ended");
    hxb.close();
  }

  private void awaitComplete() throws InterruptedException {
    long startNs = System.nanoTime();
    while (!hxb.isComplete()) {
      if (poller.failure() != null) {
        throw new IllegalStateException("the node broke", poller.failure());
      }
      if (System.nanoTime() - startNs > START_LIMIT_NS) {
        throw new IllegalStateException(
            "neighbours not heard within "
                + START_LIMIT_NS / 1_000_000_000L
                + " s: "
                + hxb.discovery().missing());
      }
      Thread.sleep(POLL_MS);
    }
  }

  /**
   * Arguments: --config, the node's file, main class and its arguments. Properties: hxb.mpi.rank,
   * hxb.mpi.ranks, hxb.mpi.map, hxb.mpi.job.
   */
  public static void main(String[] args) throws Exception {
    HxbConfig config = HxbConfig.read(Path.of(args[1]));
    int rank = Integer.getInteger("hxb.mpi.rank");
    int ranks = Integer.getInteger("hxb.mpi.ranks");
    String map = System.getProperty("hxb.mpi.map", "LINES").toUpperCase(Locale.ROOT);
    int[] nodes = Placement.valueOf(map).nodes(config.shape(), ranks);
    RankProcess process = new RankProcess(config, nodes);
    process.awaitComplete();
    ClassLoader loader = RankProcess.class.getClassLoader();
    RankContext.register(
        loader, new RankContext(process.engine, Long.getLong("hxb.mpi.job", 1L), START_LIMIT_NS));
    try {
      new Program(args[2], Arrays.copyOfRange(args, 3, args.length)).run(loader, rank);
    } catch (Throwable t) {
      t.printStackTrace();
      System.err.println("hxb: rank " + rank + " failed (" + t + ")");
      System.exit(1);
    }
    // Threads that the program left running keep this process up, as they would without us.
  }
}
