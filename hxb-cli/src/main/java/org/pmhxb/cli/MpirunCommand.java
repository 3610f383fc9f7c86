package org.pmhxb.cli;

import java.io.PrintStream;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.pmhxb.cli.cluster.TakeDown;
import org.pmhxb.cli.mpi.MpiJob;
import org.pmhxb.cli.mpi.MpiLauncher;
import org.pmhxb.cli.mpi.RankClassPath;
import org.pmhxb.cli.veth.LinkRate;
import org.pmhxb.mpi.launch.Placement;
import org.pmhxb.router.Shape;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Runs a program of MPJ Express over a hyper-crossbar on this machine. */
@Command(
    name = "mpirun",
    description = {
      "Run a Java program that uses MPJ Express, one rank per node, over a hyper-crossbar of its"
          + " own on this machine: in one process (ring), with a process per node and shared memory"
          + " between them (shm), or with a process and a network namespace per node (veth; needs"
          + " root).",
      "Every line of output is labelled with its rank, but not with --launcher openmpi, which passes"
          + " output on itself. When a rank dies, the job ends with it."
    },
    footer = {
      "",
      "Example: hxb mpirun -n 8 --shape 2x2x2 --class-path classes -- Hello one two",
      "Exit code 0: every rank's main method returned, or it called System.exit(0), which over ring"
          + " ends the other ranks too."
    })
final class MpirunCommand extends ClusterCommand {
  @Option(names = "-n", paramLabel = "RANKS", description = "Ranks. Default: one per node.")
  private Integer ranks;

  @Option(
      names = "--shape",
      paramLabel = "AxBxC",
      converter = Options.ShapeConverter.class,
      description =
          "Extents in 1 to 3 dimensions. Default: a line of RANKS nodes; of shm, whose lines have two"
              + " nodes, 2, 2x2 or 2x2x2.")
  private Shape shape;

  @Option(
      names = "--rails",
      paramLabel = "R",
      defaultValue = "2",
      description = "Links per node in each dimension, 1 to 9.")
  private int rails;

  @Option(
      names = "--fabric",
      paramLabel = "FABRIC",
      defaultValue = "ring",
      description =
          "ring (one process), shm (a process per node, shared memory between them) or veth.")
  private MpiJob.Fabric fabric;

  @Option(
      names = "--launcher",
      paramLabel = "LAUNCHER",
      defaultValue = "hxb",
      description =
          "hxb, or openmpi: its mpirun starts the ranks (hxb mpirank), which find each other"
              + " through PMIx; veth only.")
  private MpiJob.Launcher launcher;

  @Option(
      names = "--device",
      paramLabel = "DEVICE",
      defaultValue = "hxb",
      description =
          "hxb, or for comparisons niodev: MPJ's own over TCP, on the loopback instead of ring, on"
              + " the first X link instead of all of veth (one line only).")
  private MpiJob.Device device;

  @Option(
      names = "--rate",
      paramLabel = "RATE",
      converter = Options.RateConverter.class,
      description = "Raw rate of each link, as in 200mbit; veth only. Default: unshaped.")
  private LinkRate rate;

  @Mixin private DriverOption driver;

  @Option(
      names = "--map",
      paramLabel = "MAP",
      defaultValue = "lines",
      description =
          "Which node each rank gets: lines (X, then Y, then Z) or snake (every second line"
              + " backwards, so that successive ranks are always one hop apart).")
  private Placement placement;

  @Option(names = "--print-map", description = "Print the map on standard error.")
  private boolean printMap;

  @Option(
      names = {"--class-path", "-cp"},
      paramLabel = "PATH",
      defaultValue = ".",
      description = "Where the program's classes are.")
  private String classPath;

  @Option(
      names = "--jvm-arg",
      paramLabel = "ARG",
      description = "For the ranks' JVMs, as in --jvm-arg=-Xmx1g; may be repeated.")
  private List<String> jvmArgs = new ArrayList<>();

  @Option(names = "--no-label", description = "Leave the ranks' lines as they are.")
  private boolean noLabel;

  @Parameters(
      arity = "1..*",
      paramLabel = "PROGRAM",
      description = "After --: the main class and its arguments.")
  private List<String> program;

  /**
   * The job's end.
   *
   * @param reason why it failed; null when it did not
   */
  record Run(boolean ok, int ranks, String fabric, String shape, double seconds, String reason)
      implements Report {
    @Override
    public void print(PrintWriter out) {
      // Standard output is the program's.
    }
  }

  @Override
  protected Report run() throws Exception {
    MpiJob job = job();
    Optional<String> objection = RankClassPath.objection(program.getFirst(), classPath);
    if (objection.isPresent()) {
      throw wrongUsage(objection.get());
    }
    if (printMap && launcher == MpiJob.Launcher.HXB) {
      System.err.print(Placement.describe(job.shape(), placement.nodes(job.shape(), job.ranks())));
    }
    long startNs = System.nanoTime();
    PrintStream out = json() ? System.err : System.out;
    String reason;
    try (TakeDown guard = new TakeDown(paths())) {
      reason = new MpiLauncher(job, paths(), out, System.err, line -> {}).run();
    }
    if (!reason.isEmpty()) {
      System.err.println("hxb mpirun: " + reason);
    }
    return new Run(
        reason.isEmpty(),
        job.ranks(),
        fabric.toString(),
        job.shape().toString(),
        (System.nanoTime() - startNs) / 1e9,
        reason.isEmpty() ? null : reason);
  }

  /** A line, or where its nodes come in twos a square or a cube. */
  private Shape smallestShape() {
    if (fabric != MpiJob.Fabric.SHM || ranks <= 2) {
      return Shape.of(Math.max(2, ranks));
    }
    return ranks <= 4 ? Shape.of(2, 2) : Shape.of(2, 2, 2);
  }

  private MpiJob job() {
    if (shape == null && ranks == null) {
      throw wrongUsage("how many ranks? give -n RANKS or --shape AxBxC");
    }
    try {
      Shape given = shape != null ? shape : smallestShape();
      return new MpiJob(
          launcher,
          printMap && launcher == MpiJob.Launcher.OPENMPI,
          device,
          fabric,
          given,
          rails,
          rate,
          driver.driver(),
          ranks == null ? given.nodes() : ranks,
          placement,
          RankClassPath.paths(classPath),
          jvmArgs,
          !noLabel,
          program);
    } catch (IllegalArgumentException e) {
      throw wrongUsage(e.getMessage());
    }
  }
}
