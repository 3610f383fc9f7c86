package org.pmhxb.cli.node;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.pmhxb.cli.control.ControlServer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps one node running in the foreground until the process is asked to end. */
public final class NodeRunner {
  private static final Logger LOG = LoggerFactory.getLogger(NodeRunner.class);
  private static final long POLL_MS = 50;

  private NodeRunner() {}

  /**
   * Serves the node's control socket and returns when the process is asked to end by SIGTERM,
   * SIGINT or SIGHUP; the node is closed by then.
   *
   * @param socket where to listen, or null for no control socket
   * @throws IllegalStateException when the node breaks
   */
  public static void serve(NodeHandle node, Path socket) throws IOException, InterruptedException {
    CountDownLatch ending = new CountDownLatch(1);
    CountDownLatch ended = new CountDownLatch(1);
    Thread hook =
        Thread.ofPlatform()
            .name("ending")
            .unstarted(
                () -> {
                  ending.countDown();
                  // The process ends when its hooks do: wait until the node is closed.
                  awaitQuietly(ended);
                });
    Runtime.getRuntime().addShutdownHook(hook);
    try (node;
        ControlServer control = socket == null ? null : serveOn(socket, node)) {
      LOG.info("node {} runs as process {}", node.self(), ProcessHandle.current().pid());
      boolean ready = false;
      while (!ending.await(POLL_MS, TimeUnit.MILLISECONDS)) {
        if (node.failure() != null) {
          throw new IllegalStateException(
              "node " + node.self() + " broke: " + node.failure(), node.failure());
        }
        if (!ready && node.ready()) {
          ready = true;
          LOG.info("node {} is ready", node.self());
        }
      }
      LOG.info("node {} ends", node.self());
    } finally {
      ended.countDown();
    }
  }

  private static ControlServer serveOn(Path socket, NodeHandle node) throws IOException {
    return ControlServer.start(socket, new NodeService(node)::conversation);
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
