package org.pmhxb.mpi.launch;

import java.io.File;
import java.io.PrintStream;
import java.net.MalformedURLException;
import java.net.URL;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.pmhxb.ffi.NativeException;
import org.pmhxb.ffi.ProcessGroup;
import org.pmhxb.mpi.engine.Engine;
import org.pmhxb.mpi.engine.EngineLimits;
import org.pmhxb.pm.PollIdle;
import org.pmhxb.pm.PollThread;
import org.pmhxb.pm.PollWork;
import org.pmhxb.router.Shape;
import org.pmhxb.router.fabric.RingCluster;

/**
 * All ranks of a job as threads of this JVM, over a ring cluster. A process of its own: started by
 * {@code hxb mpirun}.
 *
 * <p>The ring fabric is one process, since DPDK's rings are; and MPJ's state is per JVM. So each
 * rank has a {@link RankLoader}.
 */
public final class RingJob implements AutoCloseable {
  private static final long START_LIMIT_NS = 60_000_000_000L;
  private static final long POLL_MS = 1;

  /**
   * How a rank ended; null failure: its main method returned.
   *
   * @param owesFinalize others may wait for it for ever: its node goes on with the process
   */
  private record End(int rank, Throwable failure, boolean owesFinalize) {}

  private final RingCluster cluster;
  private final List<Engine> engines = new ArrayList<>();
  private final PollThread poller;

  /** What ranks that still run are told. Written by the main thread before the poll thread ends. */
  private volatile String whyEnded = "the cluster's poll thread has ended";

  /**
   * Builds the cluster and starts its poll thread.
   *
   * @param nodeOfRank see {@link Placement}
   */
  public RingJob(Shape shape, int rails, int[] nodeOfRank) {
    cluster = RingCluster.create(RingCluster.Options.of(shape, rails));
    List<PollWork> work = new ArrayList<>();
    work.add(cluster);
    EngineLimits limits = EngineLimits.fromProperties();
    for (int node : nodeOfRank) {
      Engine engine =
          new Engine(
              cluster.node(node), cluster.node(node).open(Engine.ENDPOINT), nodeOfRank, limits);
      engines.add(engine);
      work.add(engine);
    }
    for (int node = 0; node < cluster.size(); node++) {
      cluster.pool(node).handOver();
    }
    poller = new PollThread("hxb-ring", work, new int[0], PollIdle.BACKOFF, -1, this::atEnd);
    for (int node = 0; node < cluster.size(); node++) {
      cluster.node(node).doorbell(poller);
    }
    poller.start();
  }

  private void atEnd() {
    engines.forEach(engine -> engine.end(whyEnded));
    cluster.close();
  }

  public Engine engine(int rank) {
    return engines.get(rank);
  }

  /**
   * Runs a program as all ranks until every one has returned, with the threads that it started but
   * daemons, or the first has failed: also by returning between MPI.Init and MPI.Finalize.
   *
   * @param path what each rank loads for itself: pm-mpj, MPJ, the program
   * @return 0, or 1 after a failure, which is on standard error
   */
  public int run(Program program, URL[] path) throws InterruptedException {
    return run(program, path, START_LIMIT_NS);
  }

  /**
   * @param startLimitNs how long MPI.Init waits for the other ranks
   */
  int run(Program program, URL[] path, long startLimitNs) throws InterruptedException {
    LinkedBlockingQueue<End> ends = new LinkedBlockingQueue<>();
    long job = System.nanoTime();
    for (int rank = 0; rank < engines.size(); rank++) {
      start(rank, program, path, job, startLimitNs, ends);
    }
    for (int left = engines.size(); left > 0; left--) {
      End end = null;
      while (end == null) {
        end = ends.poll(100, TimeUnit.MILLISECONDS);
        if (end == null && poller.failure() != null) {
          System.err.println("hxb: the cluster's poll thread broke");
          poller.failure().printStackTrace();
          return 1;
        }
      }
      if (end.failure != null) {
        return failed(end);
      }
      if (end.owesFinalize) {
        return left(end);
      }
    }
    return 0;
  }

  private int left(End end) {
    RankOutput.writeAs(end.rank);
    return endsWith("rank " + end.rank + " has returned from its main method without MPI.Finalize");
  }

  private int failed(End end) {
    RankOutput.writeAs(end.rank);
    end.failure.printStackTrace();
    return endsWith("rank " + end.rank + " failed (" + end.failure + ")");
  }

  private int endsWith(String reason) {
    whyEnded = reason;
    System.err.println("hxb: " + reason + "; the job ends");
    return 1;
  }

  private void start(
      int rank,
      Program program,
      URL[] path,
      long job,
      long startLimitNs,
      LinkedBlockingQueue<End> ends) {
    RankLoader loader = new RankLoader(rank, path, RingJob.class.getClassLoader());
    RankContext context =
        new RankContext(engines.get(rank), job, startLimitNs, new AtomicBoolean());
    RankContext.register(loader, context);
    ProgramThreads.start(
        rank,
        () -> {
          RankOutput.writeAs(rank);
          Throwable failure = null;
          try {
            program.run(loader, rank);
            ProgramThreads.awaitOthers();
          } catch (Throwable t) {
            failure = t;
          }
          ends.add(new End(rank, failure, context.owesFinalize()));
        });
  }

  /** Waits until every node has heard its neighbours. */
  public void awaitComplete() throws InterruptedException {
    long startNs = System.nanoTime();
    while (!cluster.isComplete()) {
      if (System.nanoTime() - startNs > START_LIMIT_NS || poller.failure() != null) {
        throw new IllegalStateException("the ring cluster is not complete", poller.failure());
      }
      Thread.sleep(POLL_MS);
    }
  }

  @Override
  public void close() {
    poller.close();
  }

  /**
   * Arguments: main class and its arguments. Properties: hxb.mpi.shape, hxb.mpi.rails,
   * hxb.mpi.ranks, hxb.mpi.map, hxb.mpi.path (what each rank loads), hxb.mpi.label.
   */
  public static void main(String[] args) throws Exception {
    ProcessGroup.own();
    Shape shape = Shape.parse(System.getProperty("hxb.mpi.shape"));
    int ranks = Integer.getInteger("hxb.mpi.ranks");
    int[] nodes = Placement.valueOf(System.getProperty("hxb.mpi.map", "LINES")).nodes(shape, ranks);
    if (Boolean.parseBoolean(System.getProperty("hxb.mpi.label", "true"))) {
      System.setOut(RankOutput.over(System.out, ranks));
      System.setErr(RankOutput.over(System.err, ranks));
    }
    PrintStream out = System.out;
    PrintStream err = System.err;
    // However this process ends: a rank may end it.
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  RankOutput.putRest(out);
                  RankOutput.putRest(err);
                },
                "rest"));
    int code = 1;
    try (RingJob job = new RingJob(shape, Integer.getInteger("hxb.mpi.rails", 1), nodes)) {
      job.awaitComplete();
      code =
          job.run(
              new Program(args[0], Arrays.copyOfRange(args, 1, args.length)),
              urls(System.getProperty("hxb.mpi.path")));
    } catch (NativeException e) {
      // What DPDK refuses is the machine's affair: the message names the mend, no trace does.
      err.println("hxb: " + e.getMessage());
    } catch (Exception | Error e) {
      e.printStackTrace();
    }
    // Whatever came of it: threads of a program may go on for ever.
    System.exit(code);
  }

  static URL[] urls(String path) throws MalformedURLException {
    List<URL> urls = new ArrayList<>();
    for (String entry : path.split(File.pathSeparator)) {
      if (!entry.isEmpty()) {
        urls.add(Path.of(entry).toUri().toURL());
      }
    }
    return urls.toArray(URL[]::new);
  }
}
