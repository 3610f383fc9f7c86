package org.pmhxb.cli.bench.peers;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.pmhxb.cli.Words;
import org.pmhxb.cli.bench.MachineInfo;
import org.pmhxb.cli.bench.ProjectFolder;
import org.pmhxb.cli.cluster.UsableCpus;
import org.pmhxb.cli.mpi.Executables;
import org.pmhxb.cli.process.DirectoryTree;
import org.pmhxb.cli.process.ProcessTree;
import org.pmhxb.cli.veth.VethFabric;

/**
 * {@code MPI_Barrier} of Open MPI over TCP, in the namespaces that a cluster of ours left, on the
 * line of its first rail: {@code scripts/peers/mpi_barrier.c}.
 */
public final class MpiBarrier {
  private static final String LINK = "x0";

  /** Beyond the time that the barriers take. */
  private static final long LIMIT_SECONDS = 90;

  /** Longer than the kernel takes until it uses fresh addresses. */
  private static final long SETTLE_MS = 500;

  private final Path scripts;
  private final Path program;

  /**
   * @param home of the project: scripts, and target/peers, where install-peers.sh builds
   */
  public MpiBarrier(Path home) {
    this.scripts = home.resolve("scripts/peers");
    this.program = home.resolve("target/peers/mpi_barrier.openmpi");
  }

  /** What it took, microseconds. */
  public record Times(
      int ranks, long barriers, double minUs, double p50Us, double p99Us, double maxUs) {}

  /** Why it cannot be run, if it cannot. */
  public Optional<String> missing() {
    if (ProjectFolder.isInstallation()) {
      return Optional.of("its program in C is in no installation; run this in a checkout");
    }
    if (!Foreign.installed("mpirun.openmpi")) {
      return Optional.of("mpirun.openmpi is not installed; run scripts/install-peers.sh");
    }
    return Files.isExecutable(program)
        ? Optional.empty()
        : Optional.of(program + " is not built; run scripts/install-peers.sh");
  }

  /** Name and version. */
  public String version() {
    return MachineInfo.firstLine("mpirun.openmpi", "--version").strip();
  }

  /**
   * Runs it with a rank in each namespace.
   *
   * @param pinned rank n bound to processor n, spinning; else yielding
   * @param warmUp seconds of barriers before those that count
   * @param seconds of these
   */
  public Times run(List<String> namespaces, boolean pinned, double warmUp, double seconds)
      throws IOException, InterruptedException {
    Map<String, String> environment = new TreeMap<>();
    List<String> hosts = new ArrayList<>();
    for (int i = 0; i < namespaces.size(); i++) {
      VethFabric.configure(
          namespaces.get(i),
          List.of(
              "link set dev lo up",
              "link set dev " + LINK + " arp on",
              "addr replace 10.77.0." + (i + 1) + "/24 dev " + LINK));
      environment.put("HXB_NETNS_hxb" + i, namespaces.get(i));
      hosts.add("hxb" + i + ":1");
    }
    Thread.sleep(SETTLE_MS);
    Path scratch = Files.createTempDirectory("hxb-mpi");
    try {
      Path rsh = Foreign.agentIn(scratch, scripts);
      String command =
          command(scratch, rsh, hosts, pinned, warmUp, seconds).stream()
              .map(Words::forShell)
              .collect(Collectors.joining(" "));
      List<String> inFirst =
          List.of(scripts.resolve(Foreign.AGENT).toString(), "hxb0", "exec " + command);
      long limitSeconds = LIMIT_SECONDS + Math.round(warmUp + seconds);
      return read(start(inFirst, environment, scratch.resolve("output"), limitSeconds));
    } finally {
      DirectoryTree.delete(scratch);
    }
  }

  private List<String> command(
      Path scratch, Path rsh, List<String> hosts, boolean pinned, double warmUp, double seconds) {
    List<String> mpirun = new ArrayList<>(List.of("mpirun.openmpi"));
    mpirun.addAll(Executables.openMpiSessionsIn(scratch));
    mpirun.addAll(List.of("--allow-run-as-root", "-np", "" + hosts.size()));
    mpirun.addAll(List.of("--host", String.join(",", hosts)));
    mpirun.addAll(List.of("--mca", "plm", "rsh", "--mca", "plm_rsh_agent", rsh.toString()));
    mpirun.addAll(List.of("--mca", "plm_rsh_no_tree_spawn", "1", "--bind-to", "none"));
    mpirun.addAll(List.of("--mca", "oob_tcp_if_include", LINK, "--mca", "pml", "ob1"));
    mpirun.addAll(List.of("--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", LINK));
    mpirun.addAll(List.of("--mca", "mpi_yield_when_idle", pinned ? "0" : "1"));
    String call = Words.forShell(program.toString()) + " " + warmUp + " " + seconds;
    if (pinned) {
      UsableCpus cpus = UsableCpus.here();
      String ofRanks =
          IntStream.range(0, hosts.size())
              .mapToObj(rank -> "" + cpus.inTurn(rank))
              .collect(Collectors.joining(" "));
      call =
          "set -- %s; shift $OMPI_COMM_WORLD_RANK; exec taskset -c $1 %s".formatted(ofRanks, call);
    } else {
      call = "exec " + call;
    }
    mpirun.addAll(List.of("sh", "-c", call));
    return mpirun;
  }

  private static String start(
      List<String> command, Map<String, String> environment, Path output, long limitSeconds)
      throws IOException, InterruptedException {
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectInput(new File("/dev/null"))
            .redirectErrorStream(true)
            .redirectOutput(output.toFile());
    builder.environment().putAll(environment);
    Process process = builder.start();
    boolean ended = ProcessTree.awaitOrEnd(process, Duration.ofSeconds(limitSeconds));
    String text = Files.readString(output);
    if (!ended || process.exitValue() != 0) {
      throw new IOException(
          "mpirun %s; it said: %s"
              .formatted(
                  ended ? "failed" : "has not ended after " + limitSeconds + " s",
                  text.substring(Math.max(0, text.length() - 600))));
    }
    return text;
  }

  private static Times read(String text) throws IOException {
    for (String line : text.split("\n")) {
      if (line.startsWith("{\"ranks\"")) {
        return new ObjectMapper().readValue(line, Times.class);
      }
    }
    throw new IOException("mpi_barrier printed no result but: " + text);
  }
}
