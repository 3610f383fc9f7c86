package org.pmhxb.mpi.launch;

import java.net.URL;
import java.nio.file.Path;
import java.util.function.IntFunction;
import org.pmhxb.mpi.pmix.PmixClient;
import org.pmhxb.mpi.pmix.PmixException;
import org.pmhxb.router.HxbConfig;
import org.pmhxb.router.node.HxbNode;

/**
 * A rank whose launcher speaks PMIx: Open MPI's mpirun, PRRTE, Slurm. It learns its rank from the
 * launcher, starts its node, and exchanges business cards with the others.
 *
 * <p>It takes leave of the launcher when the main method has returned, and all threads that it left
 * but daemons have ended, or, after MPI.Finalize, when the process ends by itself. Any other end is
 * a failure, and the launcher ends the job.
 */
public final class PmixRank {
  private static final String CARD = "hxb.card";

  /** How long an ending process waits for its launcher. */
  private static final long LEAVE_LIMIT_MS = 3_000;

  private final PmixClient pmix = new PmixClient();

  /** This process's rank. */
  public int rank() {
    return pmix.rank();
  }

  /** Processes of the job. */
  public int size() {
    return pmix.size();
  }

  /**
   * Runs a program as this rank.
   *
   * @param namespace to open the rails in, or null for this process's own
   * @param path what the rank loads for itself: pm-mpj, MPJ, the program
   * @param printMap on standard error, at rank 0
   */
  public void run(HxbConfig config, Path namespace, URL[] path, Program program, boolean printMap)
      throws Exception {
    RankLoader loader = new RankLoader(rank(), path, PmixRank.class.getClassLoader());
    RankNode.Directory cards = node -> exchange(config, node, printMap);
    RankNode node =
        namespace == null
            ? new RankNode(config, cards)
            : NetworkNamespace.call(namespace, () -> new RankNode(config, cards));
    Runtime.getRuntime().addShutdownHook(new Thread(() -> leave(node), "hxb-leave"));
    Thread main =
        ProgramThreads.start(
            rank(),
            () -> {
              node.run(program, loader, config.keyHash());
              ProgramThreads.awaitOthers();
            });
    main.join();
    pmix.close();
  }

  /** As the process ends. The launcher may hang, so another thread speaks to it. */
  private void leave(RankNode node) {
    if (!node.mayEnd()) {
      return;
    }
    Thread leaving = Thread.ofPlatform().name("hxb-pmix").daemon(true).start(this::close);
    try {
      leaving.join(LEAVE_LIMIT_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (leaving.isAlive()) {
      System.err.println(
          "hxb: rank "
              + rank()
              + ": the launcher has not answered PMIx_Finalize within "
              + LEAVE_LIMIT_MS / 1_000
              + " s");
    }
  }

  private void close() {
    try {
      pmix.close();
    } catch (PmixException e) {
      System.err.println("hxb: rank " + rank() + ": " + e.getMessage());
    }
  }

  private int[] exchange(HxbConfig config, HxbNode node, boolean printMap) {
    BusinessCard mine = BusinessCard.of(config, node.incarnation());
    String[] cards = pmix.exchange(CARD, mine.encode());
    int[] nodes = BusinessCard.nodeOfRank(cards, config.shape());
    if (printMap && rank() == 0) {
      System.err.print(Placement.describe(config.shape(), nodes));
    }
    return nodes;
  }

  /** A configuration by rank: for ranks that share a host, which therefore does not decide. */
  public HxbConfig choose(Placement placement, IntFunction<HxbConfig> byNode) {
    HxbConfig any = byNode.apply(0);
    return byNode.apply(placement.nodes(any.shape(), size())[rank()]);
  }
}
