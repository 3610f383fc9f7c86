package org.pmhxb.cli.node;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.pmhxb.cli.control.ControlServer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps the nodes of a process running in the foreground until it is asked to end. */
public final class NodeRunner {
  private static final Logger LOG = LoggerFactory.getLogger(NodeRunner.class);
  private static final long POLL_MS = 50;

  /** For what a program has to say behind its nodes' end. */
  private static final long LEAVE_LIMIT_MS = 5_000;

  /** By a signal, while nodes were served. */
  private static volatile boolean askedToEnd;

  private NodeRunner() {}

  /**
   * A node and where it is asked.
   *
   * @param control its socket, open; or null for none
   */
  public record Served(NodeHandle node, ControlServer control) {}

  /**
   * Answers on the nodes' control sockets, which it closes, and returns when the process is asked
   * to end by SIGTERM, SIGINT or SIGHUP; the nodes are closed by then. What the program does behind
   * it, {@link #leave} last, may take {@value #LEAVE_LIMIT_MS} ms.
   *
   * @throws IllegalStateException when a node breaks
   */
  public static void serve(List<Served> all) throws IOException, InterruptedException {
    CountDownLatch ending = new CountDownLatch(1);
    CountDownLatch ended = new CountDownLatch(1);
    Thread hook =
        Thread.ofPlatform()
            .name("ending")
            .unstarted(
                () -> {
                  if (ended.getCount() == 0) {
                    return;
                  }
                  askedToEnd = true;
                  ending.countDown();
                  // The process ends when its hooks do: wait until the nodes are closed, and for
                  // leave().
                  quietly(
                      () -> {
                        ended.await();
                        Thread.sleep(LEAVE_LIMIT_MS);
                      });
                });
    Runtime.getRuntime().addShutdownHook(hook);
    try {
      for (Served each : all) {
        if (each.control() != null) {
          each.control().answer(new NodeService(each.node())::conversation);
        }
        long pid = ProcessHandle.current().pid();
        LOG.info("node {} runs as process {}", each.node().self(), pid);
      }
      watch(all.stream().map(Served::node).toList(), ending);
    } finally {
      try {
        close(all);
      } finally {
        ended.countDown();
      }
    }
  }

  /**
   * Ends the process with this code. After a signal the JVM would take the signal's, as if the
   * nodes had not ended in order; so it ends then without waiting for other shutdown hooks.
   */
  public static void leave(int code) {
    if (askedToEnd) {
      Runtime.getRuntime().halt(code);
    }
    System.exit(code);
  }

  private static void close(List<Served> all) throws IOException {
    try {
      for (Served each : all) {
        if (each.control() != null) {
          each.control().close();
        }
      }
    } finally {
      all.forEach(each -> each.node().close());
    }
  }

  private static void watch(List<NodeHandle> nodes, CountDownLatch ending)
      throws InterruptedException {
    List<NodeHandle> waiting = new ArrayList<>(nodes);
    long startNs = System.nanoTime();
    List<NodeWatch> watches =
        nodes.stream().map(node -> new NodeWatch(node.self(), node.signs(), LOG, startNs)).toList();
    while (!ending.await(POLL_MS, TimeUnit.MILLISECONDS)) {
      for (NodeHandle node : nodes) {
        if (node.failure() != null) {
          throw new IllegalStateException(
              "node " + node.self() + " broke: " + node.failure(), node.failure());
        }
        tellFaults(node, LOG::warn);
      }
      for (NodeHandle node : waiting) {
        if (node.ready()) {
          LOG.info("node {} is ready", node.self());
        }
      }
      waiting.removeIf(NodeHandle::ready);
      watches.forEach(watch -> watch.look(System.nanoTime()));
    }
    nodes.forEach(node -> LOG.info("node {} ends", node.self()));
  }

  /**
   * A node that is wrongly cabled, misses a neighbour, or has another's coordinates, works on; its
   * log says why not.
   */
  static void tellFaults(NodeHandle node, Consumer<String> log) {
    node.reportNewFaults(fault -> log.accept("node " + node.self() + ": " + fault));
  }

  private interface Waiting {
    void await() throws InterruptedException;
  }

  private static void quietly(Waiting waiting) {
    try {
      waiting.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
