package org.pmhxb.cli.cluster;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Makes an interrupted command (Ctrl-C, SIGTERM) clean up before its process ends: the thread that
 * opened this is interrupted, and the process waits until that thread has closed it. Use it in a
 * try block around the work <em>and</em> its clean-up.
 */
public final class TakeDown implements AutoCloseable {
  private static final long LIMIT_SECONDS = 30;

  private final Thread owner = Thread.currentThread();
  private final CountDownLatch closed = new CountDownLatch(1);
  private final Thread hook = Thread.ofPlatform().name("take-down").unstarted(this::interrupt);

  private final ClusterPaths paths;

  /**
   * @param paths the cluster that would be left
   */
  public TakeDown(ClusterPaths paths) {
    this.paths = paths;
    Runtime.getRuntime().addShutdownHook(hook);
  }

  private void interrupt() {
    owner.interrupt();
    try {
      if (!closed.await(LIMIT_SECONDS, TimeUnit.SECONDS)) {
        System.err.println("hxb: gave up cleaning up; run: " + paths.command("down"));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Call after the clean-up. */
  @Override
  public void close() {
    closed.countDown();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException _) {
      // The process is ending: the hook runs and sees the latch.
    }
  }
}
