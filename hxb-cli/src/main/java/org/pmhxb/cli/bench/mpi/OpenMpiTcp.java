package org.pmhxb.cli.bench.mpi;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.pmhxb.cli.bench.ProjectFolder;
import org.pmhxb.cli.cluster.ClusterClaim;
import org.pmhxb.cli.cluster.ClusterPaths;
import org.pmhxb.cli.cluster.ClusterRemover;
import org.pmhxb.cli.mpi.Executables;
import org.pmhxb.cli.process.ProcessTree;
import org.pmhxb.cli.veth.FabricPlan;
import org.pmhxb.cli.veth.LinkRate;
import org.pmhxb.cli.veth.VethFabric;
import org.pmhxb.router.Shape;

/**
 * Open MPI over the kernel's TCP, striped by itself over the same links: each link has a network of
 * its own, and Open MPI's daemons are started in the nodes' namespaces instead of on hosts.
 */
final class OpenMpiTcp {
  private static final String PROGRAM = "pm-mpj/bench/measure.c";

  /** Beyond twice the time that the links take. */
  private static final long LIMIT_SECONDS = 300;

  /** What mpirun is given to end its ranks. */
  private static final long END_MS = 1_000;

  private final ClusterPaths paths;

  OpenMpiTcp(ClusterPaths paths) {
    this.paths = paths;
  }

  /** Why it cannot be measured here; empty when it can. */
  static String missing() {
    if (ProjectFolder.isInstallation()) {
      return "its program in C is in no installation; run hxb bench mpi in a checkout";
    }
    for (String tool : List.of(Executables.openMpiCompiler(), Executables.openMpiRun())) {
      if (!Executables.has(tool)) {
        return "no " + tool + "; apt-get install openmpi-bin libopenmpi-dev";
      }
    }
    return "";
  }

  MpiFigures run(int links, LinkRate rate, MpiSizes sizes) throws Exception {
    try (ClusterClaim claim = ClusterClaim.take(paths, true, line -> {})) {
      return runBetween(links, rate, sizes);
    }
  }

  private MpiFigures runBetween(int links, LinkRate rate, MpiSizes sizes) throws Exception {
    try {
      FabricPlan plan = new FabricPlan(paths.cluster(), Shape.parse("2"), links, rate);
      VethFabric.create(plan);
      List<String> names = addresses(plan);
      Path agent = agent(plan);
      Path program = paths.directory().resolve("measure");
      Path source = ProjectFolder.path().resolve(PROGRAM);
      exec(
          List.of(
              Executables.openMpiCompiler(), "-O2", "-o", program.toString(), source.toString()),
          Duration.ofSeconds(LIMIT_SECONDS));
      List<String> command = new ArrayList<>(VethFabric.inside(plan.namespace(0)));
      command.addAll(
          List.of(Executables.openMpiRun(), "-n", "2", "--host", host(0) + ":1," + host(1) + ":1"));
      command.addAll(List.of("--bind-to", "none", "--oversubscribe", "--allow-run-as-root"));
      command.addAll(Executables.openMpiSessionsIn(paths.directory()));
      mca(command, "plm_rsh_agent", agent.toString());
      mca(command, "pml", "ob1");
      mca(command, "btl", "tcp,self");
      mca(command, "btl_tcp_if_include", String.join(",", names));
      mca(command, "oob_tcp_if_include", names.getFirst());
      // Two ranks share the processors with the links' kernel work: give way while waiting.
      mca(command, "mpi_yield_when_idle", "1");
      command.add(program.toString());
      command.addAll(sizes.arguments(links, rate));
      long seconds = Math.round(2 * sizes.secondsOverOneLink(links, rate));
      String said = exec(command, Duration.ofSeconds(LIMIT_SECONDS + seconds));
      return MpiFigures.parse(said.lines().toList());
    } finally {
      boolean interrupted = Thread.interrupted();
      ClusterRemover.remove(paths);
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static void mca(List<String> command, String key, String value) {
    command.addAll(List.of("--mca", key, value));
  }

  private static String host(int node) {
    return "10.177.0." + (node + 1);
  }

  private static List<String> addresses(FabricPlan plan) {
    List<String> names = plan.interfaces(0).stream().map(FabricPlan.Interface::name).toList();
    for (int node = 0; node < 2; node++) {
      String namespace = plan.namespace(node);
      VethFabric.run(namespace, "ip", "link", "set", "lo", "up");
      for (int link = 0; link < names.size(); link++) {
        String address = "10.177." + link + "." + (node + 1) + "/24";
        VethFabric.run(namespace, "ip", "addr", "add", address, "dev", names.get(link));
        VethFabric.run(namespace, "ip", "link", "set", "dev", names.get(link), "arp", "on");
      }
    }
    return names;
  }

  /** Stands for ssh: starts a command at the "host" of an address. */
  private Path agent(FabricPlan plan) throws IOException {
    Path agent = paths.directory().resolve("agent");
    String cases =
        IntStream.range(0, 2)
            .mapToObj(
                node -> host(node) + ") ns=" + VethFabric.path(plan.namespace(node)) + " ;;\n")
            .collect(Collectors.joining());
    Files.writeString(
        agent,
        "#!/bin/sh\ncase \"$1\" in\n"
            + cases
            + "*) exit 1 ;;\nesac\nshift\nexec nsenter --net=\"$ns\" sh -c \"$*\"\n");
    agent.toFile().setExecutable(true);
    return agent;
  }

  /** Runs a command to its end; whatever happens, none of what it started is left. */
  String exec(List<String> command, Duration limit) throws IOException, InterruptedException {
    // Files, not pipes: who reads one waits for as long as the program takes.
    Path output = paths.directory().resolve("output");
    Path errors = paths.directory().resolve("errors");
    Process process =
        new ProcessBuilder(command)
            .redirectInput(Path.of("/dev/null").toFile())
            .redirectOutput(output.toFile())
            .redirectError(errors.toFile())
            .start();
    try {
      boolean ended = process.waitFor(limit);
      if (!ended || process.exitValue() != 0) {
        throw new IllegalStateException(
            command.getFirst()
                + " ... "
                + command.getLast()
                + (ended ? " failed:\n" : " has not ended after " + limit.toSeconds() + " s:\n")
                + Files.readString(output)
                + Files.readString(errors));
      }
      return Files.readString(output);
    } finally {
      // While the links are there: mpirun and its daemons wait for each other for ever without.
      ProcessTree.end(List.of(process), END_MS);
    }
  }
}
