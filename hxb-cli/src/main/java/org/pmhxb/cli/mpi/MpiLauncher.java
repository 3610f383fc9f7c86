package org.pmhxb.cli.mpi;

import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.pmhxb.cli.cluster.ClusterClaim;
import org.pmhxb.cli.cluster.ClusterPaths;
import org.pmhxb.cli.cluster.ClusterRemover;
import org.pmhxb.cli.cluster.ClusterSpec;
import org.pmhxb.cli.cluster.NodeConfigs;
import org.pmhxb.cli.cluster.PollPolicy;
import org.pmhxb.cli.veth.FabricPlan;
import org.pmhxb.cli.veth.VethFabric;
import org.pmhxb.mpi.launch.Program;
import org.pmhxb.router.HxbConfig;

/**
 * Starts the processes of an MPI job on this machine and waits for them. The first that fails ends
 * the job; whatever happens, no process and no link is left. An interrupt of the calling thread
 * ends the ranks with SIGTERM.
 */
public final class MpiLauncher {
  private static final Path NO_CONFIG = Path.of("-");

  private static final long GRACE_MS = 3_000;
  private static final int TCP_PORT = 24_900;
  private static final String RELAY = "the relay at node ";

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
    RankClassPath.requireMpj();
    if (job.launcher() == MpiJob.Launcher.OPENMPI) {
      Executables.require(Executables.openMpiRun(), "openmpi-bin");
    }
    if (job.fabric() != MpiJob.Fabric.RING) {
      return runProcesses();
    }
    return job.device() == MpiJob.Device.HXB ? runRing() : runLoopback();
  }

  private String runRing() throws IOException, InterruptedException {
    try {
      start("the job", "", RankJvm.ring(job), List.of());
      return awaitAll(1);
    } finally {
      endAll();
    }
  }

  private String runLoopback() throws IOException, InterruptedException {
    try {
      String directory = "127.0.0.1:" + freePort();
      for (int rank = 0; rank < job.ranks(); rank++) {
        // Of no cluster: who takes down the one of this name ends what names its files.
        List<String> command = RankJvm.nio(job, rank, NO_CONFIG, directory);
        start("rank " + rank, label(rank), command, List.of());
      }
      return awaitAll(job.ranks());
    } finally {
      endAll();
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket probe = new ServerSocket(0)) {
      return probe.getLocalPort();
    }
  }

  /** Ranks that outnumber the processors leave them to each other while they wait. */
  private PollPolicy poll() {
    return job.ranks() > Runtime.getRuntime().availableProcessors()
        ? new PollPolicy(HxbConfig.Idle.PARK, false)
        : PollPolicy.DEFAULT;
  }

  private String runProcesses() throws IOException, InterruptedException {
    boolean veth = job.fabric() == MpiJob.Fabric.VETH;
    try (ClusterClaim claim =
        ClusterClaim.take(paths, veth, line -> err.println("hxb mpirun: " + line))) {
      return runProcesses(veth);
    }
  }

  private String runProcesses(boolean veth) throws IOException, InterruptedException {
    try {
      ClusterSpec spec =
          new ClusterSpec(
              veth ? ClusterSpec.Fabric.VETH : ClusterSpec.Fabric.SHM,
              job.shape(),
              job.rails(),
              job.rate(),
              poll(),
              job.nodeOptions());
      FabricPlan plan =
          veth ? new FabricPlan(paths.cluster(), job.shape(), job.rails(), job.rate()) : null;
      if (veth) {
        VethFabric.create(plan);
      }
      int[] nodeOfRank = job.nodeOfRank();
      int[] rankOfNode = new int[job.shape().nodes()];
      java.util.Arrays.fill(rankOfNode, -1);
      for (int rank = 0; rank < nodeOfRank.length; rank++) {
        rankOfNode[nodeOfRank[rank]] = rank;
      }
      long number = System.nanoTime();
      for (int node = 0; node < rankOfNode.length; node++) {
        ClusterPaths.write(paths.config(node), NodeConfigs.of(spec, paths, node).toToml());
      }
      boolean pmix = job.launcher() == MpiJob.Launcher.OPENMPI;
      for (int node = 0; node < rankOfNode.length; node++) {
        if (!pmix || rankOfNode[node] < 0) {
          startNode(plan, node, rankOfNode[node], number);
        }
      }
      if (pmix) {
        start("mpirun", "", RankJvm.openMpi(job, paths, job.printMap()), List.of("setsid"));
      }
      return awaitAll(pmix ? 1 : job.ranks());
    } finally {
      endAll();
      // Removing starts programs and waits for them, which an interrupted thread cannot.
      boolean interrupted = Thread.interrupted();
      try {
        ClusterRemover.removeOwn(paths);
      } finally {
        if (interrupted) {
          Thread.currentThread().interrupt();
        }
      }
    }
  }

  /**
   * @param plan null: the node has no namespace of its own
   */
  private void startNode(FabricPlan plan, int node, int rank, long number) throws IOException {
    List<String> inside = plan == null ? List.of() : VethFabric.inside(plan.namespace(node));
    if (rank < 0) {
      List<String> command = RankJvm.relay(paths.config(node));
      start(RELAY + node, "[node " + node + "] ", command, inside);
    } else {
      List<String> command =
          job.device() == MpiJob.Device.HXB
              ? RankJvm.rank(job, number, paths.config(node))
              : RankJvm.nio(job, rank, paths.config(node), address(0) + ":" + TCP_PORT);
      if (job.device() == MpiJob.Device.NIODEV) {
        giveAddress(plan, node, rank);
      }
      start("rank " + rank, label(rank), command, inside);
    }
  }

  private String label(int rank) {
    return job.label() ? "[" + rank + "] " : "";
  }

  /** Of a rank on the first link. */
  private static String address(int rank) {
    return "10.177.0." + (rank + 1);
  }

  private static void giveAddress(FabricPlan plan, int node, int rank) {
    String first = plan.interfaces(node).getFirst().name();
    VethFabric.run(plan.namespace(node), "ip", "addr", "add", address(rank) + "/24", "dev", first);
    VethFabric.run(plan.namespace(node), "ip", "link", "set", "lo", "up");
    // The fabric's own frames need no ARP, so it is off; TCP does.
    VethFabric.run(plan.namespace(node), "ip", "link", "set", "dev", first, "arp", "on");
  }

  /**
   * @param by what starts the command and becomes it, as in a namespace; empty: nothing
   */
  private void start(String name, String label, List<String> command, List<String> by)
      throws IOException {
    List<String> whole = new ArrayList<>();
    // Should this process be killed outright, its ranks go with it. The terminal's Ctrl-C comes to
    // this process, which passes it on: ranks and relays make themselves process groups
    // (ProcessGroup), and mpirun is given a session.
    whole.addAll(List.of("setpriv", "--pdeathsig", "KILL"));
    whole.addAll(by);
    whole.addAll(command);
    ProcessBuilder builder = new ProcessBuilder(whole).redirectInput(new File("/dev/null"));
    builder.environment().put(Program.homeVariable(), RankClassPath.MPJ_HOME.toString());
    if (name.startsWith(RELAY)) {
      // Nobody asked for this node's report; what is wrong with it is on its standard error.
      builder.environment().putIfAbsent("HXB_LOG", "WARN");
      builder.redirectOutput(ProcessBuilder.Redirect.DISCARD);
    }
    Process process = builder.start();
    outputs.pump(process.getInputStream(), label, out);
    outputs.pump(process.getErrorStream(), label, err);
    running.put(process, name);
    process.onExit().thenAccept(ended::add);
  }

  /**
   * Relays run until they are ended; {@code ranks} processes end by themselves.
   *
   * @return why those that are left have to be ended; empty when none is
   */
  private String awaitAll(int ranks) throws InterruptedException {
    int left = ranks;
    String reason = "";
    while (left > 0 && reason.isEmpty()) {
      Process process = ended.take();
      String name = running.remove(process);
      progress.accept(name + " has ended; " + (left - 1) + " still run");
      int code = process.exitValue();
      boolean relay = name.startsWith(RELAY);
      if (code != 0 || relay) {
        reason =
            name
                + " ended with "
                + describe(code)
                + (running.isEmpty() ? "" : "; the job was ended");
      }
      left--;
    }
    return reason;
  }

  private static String describe(int code) {
    return code > 128 && code < 160 ? "signal " + (code - 128) : "exit code " + code;
  }

  /** SIGTERM, then SIGKILL. */
  private void endAll() {
    boolean interrupted = Thread.interrupted();
    // By their handles: a process's own methods close its output, with what it said last.
    running.keySet().forEach(process -> process.toHandle().destroy());
    long deadlineNs = System.nanoTime() + GRACE_MS * 1_000_000;
    for (Process process : running.keySet()) {
      try {
        long leftNs = Math.max(0, deadlineNs - System.nanoTime());
        if (!process.waitFor(leftNs, TimeUnit.NANOSECONDS)) {
          process.toHandle().destroyForcibly();
          process.waitFor();
        }
      } catch (InterruptedException e) {
        interrupted = true;
        process.toHandle().destroyForcibly();
      }
    }
    running.clear();
    try {
      if (!outputs.await(GRACE_MS)) {
        err.println(
            "hxb mpirun: a process that a rank started still has its output; not waited for");
      }
    } catch (InterruptedException e) {
      interrupted = true;
    }
    out.flush();
    err.flush();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
