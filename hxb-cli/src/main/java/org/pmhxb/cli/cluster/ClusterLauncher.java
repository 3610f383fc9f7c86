package org.pmhxb.cli.cluster;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.pmhxb.cli.Words;
import org.pmhxb.cli.control.ControlClient;
import org.pmhxb.cli.control.ControlJson;
import org.pmhxb.cli.veth.FabricPlan;
import org.pmhxb.cli.veth.VethFabric;

/** Brings a cluster up: fabric, configuration files, one process per node, all ready. */
public final class ClusterLauncher {
  /** How long a node that is asked whether it is ready may wait to say yes. */
  private static final long WAIT_MS = 50;

  /** Before the next question: one that does not listen yet answers no at once. */
  private static final long REST_MS = 10;

  private static final int LOG_TAIL_BYTES = 1 << 16;

  private static final Duration ASK_LIMIT = Duration.ofSeconds(2);

  private final ClusterPaths paths;
  private final List<String> nodeCommand;
  private final Consumer<String> progress;
  private final LongSupplier clock;
  private final boolean own;

  /**
   * @param nodeCommand starts a node, in a process group of its own; {@code --config FILE} is
   *     appended
   * @param progress takes lines for people
   */
  public ClusterLauncher(ClusterPaths paths, List<String> nodeCommand, Consumer<String> progress) {
    this(paths, nodeCommand, progress, System::nanoTime, false);
  }

  /**
   * @param clock nanoseconds, by which nodes are too late
   */
  ClusterLauncher(
      ClusterPaths paths, List<String> nodeCommand, Consumer<String> progress, LongSupplier clock) {
    this(paths, nodeCommand, progress, clock, false);
  }

  private ClusterLauncher(
      ClusterPaths paths,
      List<String> nodeCommand,
      Consumer<String> progress,
      LongSupplier clock,
      boolean own) {
    this.paths = paths;
    this.nodeCommand = List.copyOf(nodeCommand);
    this.progress = progress;
    this.clock = clock;
    this.own = own;
  }

  /**
   * One whose nodes end, by SIGTERM, when the thread ends that started them, by SIGKILL of its
   * process too: for clusters that are of no use without the command that made them. The thread
   * that calls {@link #up} and {@link #restart} has to live as long as the cluster.
   */
  public ClusterLauncher endingWithItsStarter() {
    return new ClusterLauncher(paths, nodeCommand, progress, clock, true);
  }

  /**
   * Returns when every node is ready. Whatever fails, nothing of the cluster is left then.
   *
   * @param limit how long the nodes may take
   * @throws IllegalStateException when a cluster of that name is there, or a node does not come up
   */
  public ClusterState up(ClusterSpec spec, Duration limit) throws IOException {
    boolean veth = spec.fabric() == ClusterSpec.Fabric.VETH;
    try (ClusterClaim claim = ClusterClaim.take(paths, veth, progress)) {
      return upOrNothing(spec, limit);
    }
  }

  private ClusterState upOrNothing(ClusterSpec spec, Duration limit) {
    try {
      return build(spec, limit);
    } catch (IOException | RuntimeException | InterruptedException e) {
      throw takeDown(e);
    }
  }

  private RuntimeException takeDown(Exception cause) {
    // Cleaning up starts processes and waits for them, which an interrupted thread cannot.
    boolean interrupted = Thread.interrupted() || cause instanceof InterruptedException;
    RuntimeException failure =
        cause instanceof RuntimeException given
            ? given
            : new IllegalStateException(
                interrupted ? "interrupted; the cluster was taken down" : cause.getMessage(),
                cause);
    try {
      ClusterRemover.removeOwn(paths);
    } catch (IOException | RuntimeException second) {
      failure.addSuppressed(second);
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return failure;
  }

  private ClusterState build(ClusterSpec spec, Duration limit)
      throws IOException, InterruptedException {
    ClusterState state =
        new ClusterState(
            paths.cluster(),
            spec.fabric().toString(),
            spec.shape().toString(),
            spec.rails(),
            spec.rate() == null ? "" : spec.rate().toString(),
            Instant.now().truncatedTo(ChronoUnit.MILLIS).toString(),
            List.of());
    state.write(paths);
    FabricPlan plan = null;
    if (spec.fabric() == ClusterSpec.Fabric.VETH) {
      plan = new FabricPlan(paths.cluster(), spec.shape(), spec.rails(), spec.rate());
      VethFabric.create(plan);
      progress.accept(
          plan.namespaces().size()
              + " network namespaces, "
              + Words.count(plan.pairs(), "veth pair")
              + (spec.rate() == null ? "" : ", each " + spec.rate()));
    }
    List<Process> processes = new ArrayList<>();
    List<ClusterState.Node> nodes = new ArrayList<>();
    for (SortedSet<Integer> together : spec.poll().processes(spec.shape().nodes())) {
      String namespace = plan == null ? "" : plan.namespace(together.first());
      Process process = start(spec, namespace, together);
      processes.add(process);
      together.forEach(node -> nodes.add(entry(spec, namespace, node, together.first(), process)));
    }
    nodes.sort(Comparator.comparingInt(ClusterState.Node::node));
    ClusterState running = state.withNodes(nodes);
    running.write(paths);
    awaitReady(running, processes, limit);
    return running;
  }

  /**
   * Starts a node again whose process has ended, with the configuration that it had, and returns
   * when it is ready.
   */
  public ClusterState restart(ClusterState state, int node, Duration limit)
      throws IOException, InterruptedException {
    ClusterState.Node former = state.nodes().get(node);
    Process process = startWithItsFiles(former.namespace(), new TreeSet<>(Set.of(node)));
    ClusterState.Node again =
        new ClusterState.Node(
            node,
            former.coordinates(),
            former.namespace(),
            process.pid(),
            NodeProcesses.startTicks(process.pid()),
            former.config(),
            former.log(),
            former.socket());
    List<ClusterState.Node> nodes = new ArrayList<>(state.nodes());
    nodes.set(node, again);
    ClusterState running = state.withNodes(nodes);
    running.write(paths);
    long deadlineNs = clock.getAsLong() + limit.toNanos();
    while (!ready(again, WAIT_MS)) {
      if (!process.isAlive() || clock.getAsLong() - deadlineNs >= 0) {
        throw new IllegalStateException(
            "node " + node + " did not come back; its log ends:\n" + logTail(paths.log(node)));
      }
      Thread.sleep(REST_MS);
    }
    return running;
  }

  /** Nodes whose processes run no more, each with the end of its log. */
  public List<String> ended(ClusterState state) throws IOException {
    List<String> ended = new ArrayList<>();
    for (ClusterState.Node node : state.nodes()) {
      if (!NodeProcesses.alive(node)) {
        ended.add("node " + node.node() + " ended; its log ends:\n" + logTail(Path.of(node.log())));
      }
    }
    return ended;
  }

  private Process start(ClusterSpec spec, String namespace, SortedSet<Integer> nodes)
      throws IOException {
    for (int node : nodes) {
      ClusterPaths.write(paths.config(node), NodeConfigs.of(spec, paths, node).toToml());
    }
    return startWithItsFiles(namespace, nodes);
  }

  private Process startWithItsFiles(String namespace, SortedSet<Integer> nodes) throws IOException {
    List<String> command = new ArrayList<>();
    if (own) {
      command.addAll(List.of("setpriv", "--pdeathsig", "TERM"));
    }
    if (!namespace.isEmpty()) {
      command.addAll(VethFabric.inside(namespace));
    }
    command.addAll(nodeCommand);
    nodes.forEach(node -> command.addAll(List.of("--config", paths.config(node).toString())));
    File log = paths.log(nodes.first()).toFile();
    return new ProcessBuilder(command)
        .directory(paths.directory().toFile())
        .redirectInput(new File("/dev/null"))
        .redirectErrorStream(true)
        .redirectOutput(log)
        .start();
  }

  /** Neither setpriv nor nsenter starts a child: the process stays the same until it is the JVM. */
  private ClusterState.Node entry(
      ClusterSpec spec, String namespace, int node, int firstOfProcess, Process process) {
    return new ClusterState.Node(
        node,
        spec.shape().coordinates(node).toList(),
        namespace,
        process.pid(),
        NodeProcesses.startTicks(process.pid()),
        paths.config(node).toString(),
        paths.log(firstOfProcess).toString(),
        paths.socket(node).toString());
  }

  private void awaitReady(ClusterState state, List<Process> processes, Duration limit)
      throws IOException, InterruptedException {
    long deadlineNs = clock.getAsLong() + limit.toNanos();
    List<ClusterState.Node> waiting = new ArrayList<>(state.nodes());
    while (true) {
      for (ClusterState.Node node : waiting) {
        Process process = processOf(node, processes);
        if (!process.isAlive()) {
          throw new IllegalStateException(
              "node "
                  + node.node()
                  + " ended with code "
                  + process.exitValue()
                  + " before it was ready; its log ends:\n"
                  + logTail(Path.of(node.log())));
        }
      }
      waiting.removeIf(node -> ready(node, 0));
      int count = state.nodes().size();
      progress.accept((count - waiting.size()) + " of " + count + " nodes ready");
      if (waiting.isEmpty()) {
        return;
      }
      if (clock.getAsLong() - deadlineNs >= 0) {
        throw new IllegalStateException(notReady(waiting, limit));
      }
      if (!ready(waiting.getFirst(), WAIT_MS)) {
        Thread.sleep(REST_MS);
      }
    }
  }

  private static Process processOf(ClusterState.Node node, List<Process> processes) {
    return processes.stream().filter(p -> p.pid() == node.pid()).findFirst().orElseThrow();
  }

  private static boolean ready(ClusterState.Node node, long waitMs) {
    if (!Files.exists(Path.of(node.socket()))) {
      return false;
    }
    try {
      ObjectNode request = ControlJson.request("ready").put("waitMs", waitMs);
      return ControlClient.ask(Path.of(node.socket()), request, ASK_LIMIT)
          .path("ready")
          .asBoolean();
    } catch (IOException e) {
      // Between the socket's creation and its first answer; the next round asks again.
      return false;
    }
  }

  private String notReady(List<ClusterState.Node> waiting, Duration limit) throws IOException {
    ClusterState.Node first = waiting.getFirst();
    StringBuilder text =
        new StringBuilder()
            .append(waiting.size())
            .append(" nodes not ready after ")
            .append(limit.toSeconds())
            .append(" s: ");
    waiting.forEach(node -> text.append(node.node()).append(' '));
    try {
      ObjectNode status =
          ControlClient.ask(Path.of(first.socket()), ControlJson.request("status"), ASK_LIMIT);
      text.append("\nnode ")
          .append(first.node())
          .append(" misses: ")
          .append(status.path("missing"));
      text.append(", faults: ").append(status.path("faults"));
    } catch (IOException e) {
      text.append('\n').append(e.getMessage());
    }
    return text.append("\nlog of node ")
        .append(first.node())
        .append(" ends:\n")
        .append(logTail(Path.of(first.log())))
        .toString();
  }

  static String logTail(Path log) throws IOException {
    if (!Files.exists(log)) {
      return "(no log)";
    }
    ByteBuffer end = ByteBuffer.allocate(LOG_TAIL_BYTES);
    try (SeekableByteChannel file = Files.newByteChannel(log)) {
      file.position(Math.max(0, file.size() - LOG_TAIL_BYTES)); // of a log that may be any length
      while (end.hasRemaining() && file.read(end) >= 0) {}
    }
    // Whatever it wrote: a path of its own, say, in another character set.
    List<String> lines =
        new String(end.array(), 0, end.position(), StandardCharsets.UTF_8).lines().toList();
    List<String> tail = lines.subList(Math.max(0, lines.size() - 15), lines.size());
    return tail.isEmpty() ? "(empty)" : "  " + String.join("\n  ", tail);
  }
}
