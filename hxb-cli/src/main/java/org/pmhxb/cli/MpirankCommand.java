package org.pmhxb.cli;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.pmhxb.cli.cluster.ClusterPaths;
import org.pmhxb.cli.cluster.NodeJvm;
import org.pmhxb.cli.control.ControlServer;
import org.pmhxb.cli.mpi.RankClassPath;
import org.pmhxb.cli.veth.FabricPlan;
import org.pmhxb.cli.veth.VethFabric;
import org.pmhxb.mpi.launch.Placement;
import org.pmhxb.mpi.launch.PmixRank;
import org.pmhxb.mpi.launch.ProcessImage;
import org.pmhxb.mpi.launch.Program;
import org.pmhxb.router.HxbConfig;
import org.pmhxb.router.Shape;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** One rank under a launcher that speaks PMIx. */
@Command(
    name = "mpirank",
    description = {
      "Run one rank of a program of MPJ Express. To be started by Open MPI's mpirun, PRRTE or"
          + " Slurm, one per host: the ranks find each other through PMIx, wherever their nodes"
          + " are.",
    },
    footer = {
      "",
      "Example: hxb mpirank --config /etc/hxb/node.toml -cp classes -- Hello",
      "started by: mpirun -n 8 --map-by ppr:1:node hxb mpirank ..., see docs/MPI.md",
      "Exit code 0: the main method returned. After MPI.Finalize a program may call System.exit:"
          + " the code is then its own, and --json prints nothing."
    })
final class MpirankCommand extends ClusterCommand {
  private static final String JVM_ARG = "--jvm-arg";

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description = "The configuration of this host's node.")
  private Path config;

  @Option(
      names = "--local",
      description =
          "Instead: all ranks are on this host, with configurations and namespaces of --cluster;"
              + " made by hxb mpirun --launcher openmpi.")
  private boolean local;

  @Option(
      names = "--map",
      paramLabel = "MAP",
      defaultValue = "lines",
      description = "With --local: which node each rank gets, lines or snake.")
  private Placement placement;

  @Option(names = "--print-map", description = "Rank 0 prints the map on standard error.")
  private boolean printMap;

  @Option(
      names = {"--class-path", "-cp"},
      paramLabel = "PATH",
      defaultValue = ".",
      description = "Where the program's classes are.")
  private String classPath;

  @Option(
      names = JVM_ARG,
      paramLabel = "ARG",
      description = "For this rank's JVM, as in --jvm-arg=-Xmx1g; may be repeated.")
  private List<String> jvmArgs = new ArrayList<>();

  @Spec private CommandSpec command;

  @Parameters(
      arity = "1..*",
      paramLabel = "PROGRAM",
      description = "After --: the main class and its arguments.")
  private List<String> program;

  /** The rank's main method returned. */
  record Ended(boolean ok, int rank, int ranks) implements Report {
    @Override
    public void print(PrintWriter out) {
      // Standard output is the program's.
    }
  }

  @Override
  protected Report run() throws Exception {
    if (local == (config != null)) {
      throw wrongUsage("give one of --config FILE and --local");
    }
    Optional<String> objection = RankClassPath.objection(program.getFirst(), classPath);
    if (objection.isPresent()) {
      throw wrongUsage(objection.get());
    }
    if (!jvmArgs.isEmpty()) {
      ProcessImage.replace(otherJvm());
    }
    if (json()) {
      System.setOut(System.err); // the program's lines: standard output is the object's alone
    }
    HxbConfig given = local ? read(0) : HxbConfig.read(config); // before the launcher is spoken to
    if (!local && !given.controlSocket().isEmpty()) {
      ControlServer.requireNobody(Path.of(given.controlSocket()));
    }
    PmixRank rank = new PmixRank();
    HxbConfig node = local ? rank.choose(placement, this::read) : given;
    Main.writeNumbersAsTheUser();
    rank.run(
        node,
        local ? namespace(node) : null,
        RankClassPath.urls(classPath),
        new Program(program.getFirst(), program.subList(1, program.size()).toArray(String[]::new)),
        printMap);
    return new Ended(true, rank.rank(), rank.size());
  }

  /** This very command without the arguments, in a JVM that has them. */
  private List<String> otherJvm() {
    List<String> line = NodeJvm.again(jvmArgs, Main.class.getName());
    List<String> words = command.root().commandLine().getParseResult().originalArgs();
    boolean ours = true; // what follows -- is the program's
    for (int i = 0; i < words.size(); i++) {
      String word = words.get(i);
      ours = ours && !word.equals("--");
      if (ours && word.equals(JVM_ARG)) {
        i++;
      } else if (!ours || !word.startsWith(JVM_ARG + "=")) {
        line.add(word);
      }
    }
    return line;
  }

  private HxbConfig read(int node) {
    return HxbConfig.read(paths().config(node));
  }

  private Path namespace(HxbConfig node) {
    ClusterPaths paths = paths();
    Shape shape = node.shape();
    FabricPlan plan = new FabricPlan(paths.cluster(), shape, 1, null);
    return VethFabric.path(plan.namespace(node.node()));
  }
}
