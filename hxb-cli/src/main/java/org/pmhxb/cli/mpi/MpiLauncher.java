package org.pmhxb.cli.mpi;

import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.pmhxb.cli.cluster.ClusterPaths;
import org.pmhxb.cli.cluster.ClusterRemover;
import org.pmhxb.cli.cluster.ClusterSpec;
import org.pmhxb.cli.cluster.NodeConfigs;
import org.pmhxb.cli.veth.FabricPlan;
import org.pmhxb.cli.veth.VethFabric;
import org.pmhxb.mpi.launch.Program;

/**
 * Starts the processes of an MPI job on this machine and waits for them. The first that fails ends
 * the job; whatever happens, no process and no link is left. An interrupt of the calling thread
 * ends the ranks with SIGTERM.
 */
public final class MpiLauncher {
  private static final long GRACE_MS = 3_000;

  private final MpiJob job;
  private final ClusterPaths paths;
  private final PrintStream out;
  private final PrintStream err;
  private final Consumer<String> progress;
  private final RankOutputs outputs = new RankOutputs();
  private final Map<Process, String> running = new LinkedHashMap<>();
  private final LinkedBlockingQueue<Process> ended = new LinkedBlockingQueue<>();

  /**
   * @param out where the program's standard output goes
   * @param err where its standard error goes
   */
  public MpiLauncher(
      MpiJob job, ClusterPaths paths, PrintStream out, PrintStream err, Consumer<String> progress) {
    this.job = job;
    this.paths = paths;
    this.out = out;
    this.err = err;
    this.progress = progress;
  }

  /**
   * Runs the job.
   *
   * @return empty when every rank ended well, else what was the matter
   */
  public String run() throws IOException, InterruptedException {
    RankJvm.requireMpj();
    return job.fabric() == MpiJob.Fabric.RING ? runRing() : runVeth();
  }

  private String runRing() throws IOException, InterruptedException {
    try {
      start("the job", "", RankJvm.ring(job, jars()), List.of());
      return awaitAll(1);
    } finally {
      endAll();
    }
  }

  private String runVeth() throws IOException, InterruptedException {
    claim();
    try {
      FabricPlan plan = new FabricPlan(paths.cluster(), job.shape(), job.rails(), job.rate());
      VethFabric.create(plan);
      ClusterSpec spec =
          new ClusterSpec(ClusterSpec.Fabric.VETH, job.shape(), job.rails(), job.rate());
      int[] nodeOfRank = job.nodeOfRank();
      int[] rankOfNode = new int[job.shape().nodes()];
      java.util.Arrays.fill(rankOfNode, -1);
      for (int rank = 0; rank < nodeOfRank.length; rank++) {
        rankOfNode[nodeOfRank[rank]] = rank;
      }
      long number = System.nanoTime();
      for (int node = 0; node < rankOfNode.length; node++) {
        Files.writeString(paths.config(node), NodeConfigs.of(spec, paths, node).toToml());
        startNode(plan, node, rankOfNode[node], number);
      }
      return awaitAll(job.ranks());
    } finally {
      endAll();
      ClusterRemover.remove(paths);
    }
  }

  private void startNode(FabricPlan plan, int node, int rank, long number) throws IOException {
    List<String> inside = VethFabric.inside(plan.namespace(node));
    if (rank < 0) {
      List<String> command = RankJvm.relay(jars(), paths.config(node));
      start("the relay at node " + node, "[node " + node + "] ", command, inside);
    } else {
      String label = job.label() ? "[" + rank + "] " : "";
      List<String> command = RankJvm.rank(job, jars(), number, rank, paths.config(node));
      start("rank " + rank, label, command, inside);
    }
  }

  private void claim() throws IOException {
    Files.createDirectories(paths.root());
    try {
      Files.createDirectory(paths.directory());
    } catch (FileAlreadyExistsException e) {
      throw new IllegalStateException(
          "a cluster '"
              + paths.cluster()
              + "' is there already; name another with --cluster, or remove it with: hxb down"
              + " --cluster "
              + paths.cluster(),
          e);
    }
  }

  private void start(String name, String label, List<String> command, List<String> inside)
      throws IOException {
    List<String> whole = new ArrayList<>();
    // Should this process be killed outright, its ranks go with it. A session of their own: the
    // terminal's Ctrl-C comes to this process, which passes it on.
    whole.addAll(List.of("setpriv", "--pdeathsig", "KILL", "setsid"));
    whole.addAll(inside);
    whole.addAll(command);
    ProcessBuilder builder = new ProcessBuilder(whole).redirectInput(new File("/dev/null"));
    builder.environment().put(Program.homeVariable(), RankJvm.home().toString());
    Process process = builder.start();
    outputs.pump(process.getInputStream(), label, out);
    outputs.pump(process.getErrorStream(), label, err);
    running.put(process, name);
    process.onExit().thenAccept(ended::add);
  }

  /** Relays run until they are ended; {@code ranks} processes end by themselves. */
  private String awaitAll(int ranks) throws InterruptedException {
    int left = ranks;
    String reason = "";
    while (left > 0 && reason.isEmpty()) {
      Process process = ended.take();
      String name = running.remove(process);
      progress.accept(name + " has ended; " + (left - 1) + " still run");
      int code = process.exitValue();
      boolean relay = name.startsWith("the relay");
      if (code != 0 || relay) {
        reason = name + " ended with " + describe(code) + "; the job was ended";
      }
      left--;
    }
    if (reason.isEmpty()) {
      return reason;
    }
    endAll();
    return reason;
  }

  private static String describe(int code) {
    return code > 128 && code < 160 ? "signal " + (code - 128) : "exit code " + code;
  }

  /** SIGTERM, then SIGKILL. */
  private void endAll() {
    boolean interrupted = Thread.interrupted();
    running.keySet().forEach(Process::destroy);
    long deadlineNs = System.nanoTime() + GRACE_MS * 1_000_000;
    for (Process process : running.keySet()) {
      try {
        long leftNs = Math.max(0, deadlineNs - System.nanoTime());
        if (!process.waitFor(leftNs, TimeUnit.NANOSECONDS)) {
          process.destroyForcibly().waitFor();
        }
      } catch (InterruptedException e) {
        interrupted = true;
        process.destroyForcibly();
      }
    }
    running.clear();
    try {
      outputs.await();
    } catch (InterruptedException e) {
      interrupted = true;
    }
    out.flush();
    err.flush();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** This process's own class path, absolute. A jar that names others counts for all of them. */
  private static String jars() {
    return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
        .map(entry -> Path.of(entry).toAbsolutePath())
        .flatMap(MpiLauncher::withLibraries)
        .map(Path::toString)
        .collect(Collectors.joining(File.pathSeparator));
  }

  /** A class loader of ours reads no manifest's Class-Path twice: name the jars one by one. */
  private static Stream<Path> withLibraries(Path jar) {
    Path lib = jar.resolveSibling("lib");
    if (!jar.getFileName().toString().equals("hxb-cli.jar") || !Files.isDirectory(lib)) {
      return Stream.of(jar);
    }
    try (Stream<Path> files = Files.list(lib)) {
      return Stream.concat(Stream.of(jar), files.sorted().toList().stream());
    } catch (IOException e) {
      throw new IllegalStateException("cannot list " + lib + ": " + e.getMessage(), e);
    }
  }
}
