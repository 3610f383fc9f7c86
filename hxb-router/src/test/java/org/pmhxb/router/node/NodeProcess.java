package org.pmhxb.router.node;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.pmhxb.pm.PollIdle;
import org.pmhxb.router.Coordinates;
import org.pmhxb.router.Dimension;
import org.pmhxb.router.HxbConfig;
import org.pmhxb.router.Shape;
import org.pmhxb.router.fabric.RingCluster;

/**
 * A second Java process with a node over shared memory, or a whole ring cluster, that sends and
 * verifies {@link NumberedTraffic} until its standard input ends or somebody kills it.
 */
final class NodeProcess implements AutoCloseable {
  static final int ENDPOINT = 3;
  static final int RAILS = 2;
  static final int PEER_TIMEOUT_MS = 1_000;

  /** With nothing to send or take: the processors are also the tests' that run beside. */
  static final long IDLE_NS = 20_000L;

  private static final String READY = "ready";
  private static final long START_LIMIT_S = 60;

  private final Process process;
  private final Path errors;

  private NodeProcess(Process process, Path errors) {
    this.process = process;
    this.errors = errors;
  }

  /**
   * Node {@code node} of two over {@link #RAILS} lines of shared memory. Node 1, in the second
   * process, bears with longer silence than node 0: its peer is a test that may be held up.
   */
  static HxbConfig config(int node, HxbConfig.Driver driver, String role, String line) {
    HxbConfig.Builder builder =
        HxbConfig.builder()
            .key("node-process")
            .shape(Shape.parse("2"))
            .coordinates(new Coordinates(node, 0, 0));
    if (node == 0) {
      builder.peerTimeoutMs(PEER_TIMEOUT_MS);
    }
    for (int i = 0; i < RAILS; i++) {
      builder.rail(
          new HxbConfig.Rail(
              Dimension.X, i, driver, role + i, Map.of("socket", line + "-" + i, "role", role)));
    }
    return builder.build();
  }

  /** Starts the process and waits until its node is launched. */
  static NodeProcess start(String... arguments) throws IOException, InterruptedException {
    Path errors = Files.createTempFile("node-process", ".err");
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    for (String argument : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      // A debugger's or a coverage tool's agent belongs to this process alone.
      if (!argument.startsWith("-javaagent") && !argument.startsWith("-agentlib")) {
        command.add(argument);
      }
    }
    // Where libpmhxb is: the build sets it without the command line.
    for (String property : List.of("hxb.home", "hxb.native.path")) {
      if (System.getProperty(property) != null) {
        command.add("-D" + property + "=" + System.getProperty(property));
      }
    }
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add(NodeProcess.class.getName());
    command.addAll(List.of(arguments));
    Process process = new ProcessBuilder(command).redirectError(errors.toFile()).start();
    NodeProcess started = new NodeProcess(process, errors);
    try {
      started.awaitReady();
    } catch (IOException | RuntimeException e) {
      started.close();
      throw e;
    }
    return started;
  }

  private void awaitReady() throws IOException {
    BufferedReader reader =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    String line = reader.readLine();
    if (!READY.equals(line)) {
      throw new IllegalStateException(
          "the second process says \"" + line + "\": " + Files.readString(errors));
    }
  }

  long pid() {
    return process.pid();
  }

  /** SIGKILL; returns when the process is gone. */
  void kill() throws InterruptedException {
    process.destroyForcibly();
    process.waitFor();
  }

  /**
   * Tells it to close its node, and returns its exit status with what it wrote to standard error.
   */
  String end() throws IOException, InterruptedException {
    process.getOutputStream().close();
    if (!process.waitFor(START_LIMIT_S, TimeUnit.SECONDS)) {
      return "does not end";
    }
    return process.exitValue() + Files.readString(errors);
  }

  @Override
  public void close() throws IOException {
    process.destroyForcibly();
    Files.deleteIfExists(errors);
  }

  // --- in the second process ----------------------------------------------------------------

  public static void main(String[] arguments) {
    if (arguments[0].equals("ring")) {
      runRing();
    } else {
      runNode(HxbConfig.Driver.valueOf(arguments[0]), arguments[1], arguments[2]);
    }
  }

  /** Standard input has ended: close. Written by the thread that reads it. */
  private static volatile boolean told;

  private static void watchInput() {
    Thread.ofPlatform()
        .daemon()
        .start(
            () -> {
              try {
                System.in.readAllBytes();
              } catch (IOException e) {
                // the pipe broke: the other process is gone
              }
              told = true;
            });
  }

  private static void runNode(HxbConfig.Driver driver, String role, String line) {
    watchInput();
    try (HxbNode node = HxbNode.launch(config(1, driver, role, line))) {
      NumberedTraffic traffic = new NumberedTraffic(node.node().open(ENDPOINT), 0);
      System.out.println(READY);
      while (!told) {
        if (traffic.send(32) + traffic.receive() == 0) {
          LockSupport.parkNanos(IDLE_NS);
        }
        if (traffic.wrong() != null || node.failure() != null) {
          System.err.println(traffic.wrong() + " " + node.failure());
          System.exit(3);
        }
      }
    }
  }

  private static void runRing() {
    watchInput();
    RingCluster.Options options = RingCluster.Options.of(Shape.parse("2x2"), RAILS).dedicated();
    try (RingCluster cluster = RingCluster.create(options)) {
      cluster.startPolling(PollIdle.YIELD, -1);
      NumberedTraffic out = new NumberedTraffic(cluster.node(0).open(ENDPOINT), 3);
      NumberedTraffic in = new NumberedTraffic(cluster.node(3).open(ENDPOINT), 0);
      boolean said = false;
      while (!told) {
        if (out.send(32) + in.receive() == 0) {
          LockSupport.parkNanos(IDLE_NS);
        }
        if (!said && in.received() > 0) {
          System.out.println(READY);
          said = true;
        }
        if (in.wrong() != null) {
          System.err.println(in.wrong());
          System.exit(3);
        }
      }
    }
  }
}
