package org.pmhxb.cli.mpi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.pmhxb.cli.cluster.ClusterPaths;
import org.pmhxb.cli.cluster.ClusterRemover;
import org.pmhxb.cli.cluster.NodeJvm;
import org.pmhxb.cli.process.ProcessTree;
import org.pmhxb.cli.process.Running;
import org.pmhxb.cli.veth.VethFabric;
import org.pmhxb.mpi.launch.Placement;
import org.pmhxb.mpi.launch.Program;
import org.pmhxb.router.Shape;

/** {@code hxb mpirun} as users run it: processes, namespaces, Open MPI's launcher. */
@Tag("beside-others")
class MpirunIT {
  private static final String CLUSTER = "im" + ProcessHandle.current().pid() % 100_000;
  private static final Path EXAMPLES =
      Path.of(System.getProperty("hxb.home"), "pm-mpj/examples/target/hxb-mpj-examples.jar");

  private static final String QUITTER =
      """
      import mpi.*;
      public class Quitter {
        public static void main(String[] argv) throws Exception {
          String[] args = MPI.Init(argv);
          int rank = MPI.COMM_WORLD.Rank();
          if (args[0].equals("sleep")) {
            System.out.println("asleep");
            Thread.sleep(60_000);
          } else if (rank == 1 && args[0].equals("halt")) {
            Runtime.getRuntime().halt(3);
          } else if (rank == 0) {
            try {
              MPI.COMM_WORLD.Recv(new int[1], 0, 1, MPI.INT, 1, 0);
            } catch (MPIException e) {
              System.out.println("told: " + e.getMessage());
            }
          }
        }
      }
      """;

  private static final String RESTS =
      """
      import mpi.*;
      public class Rests {
        public static void main(String[] argv) throws Exception {
          String[] args = MPI.Init(argv);
          MPI.Finalize();
          if (args[0].equals("quit")) {
            System.out.print("last words");
            System.exit(0);
          }
          new Thread(() -> {
            try {
              Thread.sleep(500);
            } catch (InterruptedException e) {
              throw new AssertionError(e);
            }
            System.out.println("late");
          }).start();
        }
      }
      """;

  private static final String MARKED =
      """
      import mpi.*;
      public class Marked {
        public static void main(String[] argv) throws Exception {
          String[] args = MPI.Init(argv);
          System.out.println(System.getProperty("mark") + " "
              + Runtime.getRuntime().maxMemory() / 1_000_000 + " " + String.join(" ", args));
          MPI.Finalize();
        }
      }
      """;

  private static final String LEAVER =
      """
      import mpi.*;
      public class Leaver {
        public static void main(String[] argv) throws Exception {
          String[] args = MPI.Init(argv);
          MPI.Finalize();
          if (args[0].equals("again")) {
            MPI.Init(argv);
          }
          System.exit(Integer.parseInt(args[1]));
        }
      }
      """;

  private static final String PARRICIDE =
      """
      import java.nio.file.*;
      import mpi.*;
      public class Parricide {
        public static void main(String[] argv) throws Exception {
          String[] args = MPI.Init(argv);
          if (MPI.COMM_WORLD.Rank() == 0) {
            Files.writeString(Path.of(args[0]), System.getenv("PMIX_SERVER_TMPDIR"));
            ProcessHandle.current().parent().orElseThrow().destroyForcibly();
          }
          Thread.sleep(60_000);
        }
      }
      """;

  @TempDir private Path dir;
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();
  private volatile Exception interruption;

  @AfterEach
  void nothingIsLeft() throws Exception {
    ClusterRemover.Removed removed = ClusterRemover.remove(paths());
    assertThat(removed.processes()).isZero();
    assertThat(removed.namespaces()).isZero();
    assertThat(removed.directory()).isFalse();
  }

  private ClusterPaths paths() {
    return new ClusterPaths(dir.resolve("run"), CLUSTER);
  }

  private String run(
      MpiJob.Launcher launcher,
      MpiJob.Fabric fabric,
      String shape,
      Path classes,
      List<String> program)
      throws Exception {
    return run(launcher, fabric, shape, Shape.parse(shape).nodes(), classes, program);
  }

  private String run(
      MpiJob.Launcher launcher,
      MpiJob.Fabric fabric,
      String shape,
      int ranks,
      Path classes,
      List<String> program)
      throws Exception {
    Shape s = Shape.parse(shape);
    MpiJob job =
        new MpiJob(
            launcher,
            true,
            MpiJob.Device.HXB,
            fabric,
            s,
            1,
            null,
            null,
            ranks,
            Placement.LINES,
            List.of(classes),
            List.of(),
            true,
            program);
    return new MpiLauncher(
            job,
            paths(),
            new PrintStream(out, true, StandardCharsets.UTF_8),
            new PrintStream(err, true, StandardCharsets.UTF_8),
            line -> {})
        .run();
  }

  private String output() {
    return out.toString(StandardCharsets.UTF_8) + err.toString(StandardCharsets.UTF_8);
  }

  private static void needsRoot() {
    assumeTrue("root".equals(System.getProperty("user.name")), "network namespaces need root");
  }

  private Path quitter() throws Exception {
    return compiled("Quitter", QUITTER);
  }

  private Path compiled(String name, String text) throws Exception {
    Path source = Files.writeString(dir.resolve(name + ".java"), text);
    Path classes = Files.createDirectories(dir.resolve("classes"));
    int failed =
        ToolProvider.getSystemJavaCompiler()
            .run(
                null,
                null,
                null,
                "-Xlint:none",
                "-cp",
                RankClassPath.MPJ.toString(),
                "-d",
                classes.toString(),
                source.toString());
    assertThat(failed).isZero();
    return classes;
  }

  private void examplesAreRight(String reason) {
    assertThat(reason).as(output()).isEmpty();
    assertThat(output())
        .contains("[0] lattice 2x2x2 ranks of 24^3 sites, 20 steps")
        .contains("[0] lattice 8x1x1 ranks of 24^3 sites, 20 steps")
        .contains("[0] cg class T, 8 ranks")
        .contains("[0] is class T, 8 ranks");
  }

  @Test
  void aNumberOfRanksThatTheExamplesCannotUseIsToldWithoutAStackTrace() throws Exception {
    String reason =
        run(
            MpiJob.Launcher.HXB,
            MpiJob.Fabric.RING,
            "2x2x2",
            7,
            EXAMPLES,
            List.of("org.pmhxb.mpi.examples.AllExamples", "T"));
    assertThat(reason).contains("exit code 1");
    assertThat(output())
        .contains("[0] 7 ranks, but the lattice on grids of 2x2x2 and 8x1x1 needs 8")
        .contains("-n 8")
        .doesNotContain("Exception");
  }

  @Test
  void theExamplesRunOverRing() throws Exception {
    examplesAreRight(
        run(
            MpiJob.Launcher.HXB,
            MpiJob.Fabric.RING,
            "2x2x2",
            EXAMPLES,
            List.of("org.pmhxb.mpi.examples.AllExamples", "T")));
  }

  @Test
  void theExamplesRunOverSharedMemory() throws Exception {
    examplesAreRight(
        run(
            MpiJob.Launcher.HXB,
            MpiJob.Fabric.SHM,
            "2x2x2",
            EXAMPLES,
            List.of("org.pmhxb.mpi.examples.AllExamples", "T")));
  }

  @Test
  void theExamplesRunOverVeth() throws Exception {
    needsRoot();
    examplesAreRight(
        run(
            MpiJob.Launcher.HXB,
            MpiJob.Fabric.VETH,
            "2x2x2",
            EXAMPLES,
            List.of("org.pmhxb.mpi.examples.AllExamples", "T")));
  }

  @Test
  void aRankThatDiesEndsTheJobAndNamesItself() throws Exception {
    needsRoot();
    String reason =
        run(MpiJob.Launcher.HXB, MpiJob.Fabric.VETH, "2", quitter(), List.of("Quitter", "halt"));
    assertThat(reason).isEqualTo("rank 1 ended with exit code 3; the job was ended");
    assertThat(VethFabric.namespaces(CLUSTER)).isEmpty();
  }

  @Test
  void aJobOfOneProcessThatDiesSaysSoOnce() throws Exception {
    String reason =
        run(MpiJob.Launcher.HXB, MpiJob.Fabric.RING, "2", quitter(), List.of("Quitter", "halt"));
    assertThat(reason).isEqualTo("the job ended with exit code 3");
  }

  @Test
  void aLineWithoutAnEndIsPutOutWhenARankEndsTheJob() throws Exception {
    Path classes = compiled("Rests", RESTS);
    String reason =
        run(MpiJob.Launcher.HXB, MpiJob.Fabric.RING, "2", classes, List.of("Rests", "quit"));
    assertThat(reason).as(output()).isEmpty();
    assertThat(output()).containsPattern("\\[[01]\\] last words");
  }

  @Test
  void aRanksOtherThreadsAreWaitedFor() throws Exception {
    Path classes = compiled("Rests", RESTS);
    int code = runOneRankOfOpenMpi(List.of(), classes, List.of("Rests", "late"));
    assertThat(code).as(output()).isZero();
    assertThat(output()).containsPattern("(?m)^late$");
  }

  @Test
  void anInterruptedLauncherEndsItsRanks() throws Exception {
    needsRoot();
    Path classes = quitter();
    Thread launcher =
        Thread.ofPlatform()
            .start(
                () -> {
                  try {
                    run(
                        MpiJob.Launcher.HXB,
                        MpiJob.Fabric.VETH,
                        "2",
                        classes,
                        List.of("Quitter", "sleep"));
                  } catch (Exception e) {
                    interruption = e;
                  }
                });
    long deadlineNs = System.nanoTime() + 30_000_000_000L;
    while (!output().contains("[1] asleep") || !output().contains("[0] asleep")) {
      assertThat(System.nanoTime()).as(output()).isLessThan(deadlineNs);
      Thread.sleep(20);
    }
    List<Long> ranks = Running.startedWith(classes);
    assertThat(ranks).hasSize(2);
    Running.assertThatEachHasAGroup(ranks);
    launcher.interrupt();
    launcher.join(20_000);
    assertThat(launcher.isAlive()).isFalse();
    assertThat(interruption).isInstanceOf(InterruptedException.class);
    assertThat(Running.startedWith(classes)).isEmpty();
  }

  @Test
  void aReceiveFromARankThatLeftIsAnExceptionNotAHang() throws Exception {
    needsRoot();
    String reason =
        run(MpiJob.Launcher.HXB, MpiJob.Fabric.VETH, "2", quitter(), List.of("Quitter", "leave"));
    assertThat(reason).as(output()).isEmpty();
    assertThat(output()).contains("[0] told: ").contains("receive from rank 1");
  }

  /** What they say would stand among the program's lines. */
  @Test
  void nodesWithoutARankRelayInSilence() throws Exception {
    String reason =
        run(
            MpiJob.Launcher.HXB,
            MpiJob.Fabric.SHM,
            "2x2",
            2,
            quitter(),
            List.of("Quitter", "leave"));
    assertThat(reason).as(output()).isEmpty();
    assertThat(output()).contains("[0] told: ").doesNotContain("[node ");
  }

  /** As where an external launcher starts no more than the job's nodes. */
  @Test
  void aJobBeginsOnAShapeOfWhichOtherNodesAreAbsent() throws Exception {
    MpiJob job =
        new MpiJob(
            MpiJob.Launcher.HXB,
            false,
            MpiJob.Device.HXB,
            MpiJob.Fabric.SHM,
            Shape.parse("2x2"),
            1,
            null,
            null,
            2,
            Placement.LINES,
            List.of(quitter()),
            List.of(),
            true,
            List.of("Quitter", "leave"));
    List<Process> ranks = new ArrayList<>();
    try {
      for (int node = 0; node < 2; node++) {
        Path config = Files.writeString(dir.resolve("node-" + node + ".toml"), absentAbove(node));
        ranks.add(
            new ProcessBuilder(RankJvm.rank(job, 1, config))
                .redirectErrorStream(true)
                .redirectOutput(dir.resolve("rank-" + node).toFile())
                .start());
      }
      for (int node = 0; node < 2; node++) {
        boolean ended = ranks.get(node).waitFor(50, TimeUnit.SECONDS);
        String said = Files.readString(dir.resolve("rank-" + node));
        assertThat(ended).as(said).isTrue();
        assertThat(ranks.get(node).exitValue()).as(said).isZero();
        assertThat(said)
            .contains(
                "hxb: rank %d begins without node %d at (%d,1,0) not heard on rail y0 (y%d)"
                    .formatted(node, 2 + node, node, node));
      }
      assertThat(Files.readString(dir.resolve("rank-0"))).contains("told: ");
    } finally {
      ranks.forEach(Process::destroyForcibly);
    }
  }

  /** A node of a 2x2 whose neighbour in Y does not run. */
  private static String absentAbove(int node) {
    String rail = "[[rail]]\ndimension = \"%s\"\nindex = 0\ndriver = \"shm\"\n";
    String line = "device = \"%s\"\nsocket = \"%s-%s\"\nrole = \"%s\"\n";
    return "key = \"absent\"\nshape = \"2x2\"\ncoordinates = [%d, 0]\n".formatted(node)
        + rail.formatted("x")
        + line.formatted("x" + node, CLUSTER, "x", node == 0 ? "server" : "client")
        + rail.formatted("y")
        + line.formatted("y" + node, CLUSTER, "y" + node, "server");
  }

  @Test
  void ranksOfOpenMpisLauncherFindEachOtherThroughPmix() throws Exception {
    needsRoot();
    assumeTrue(Executables.has(Executables.openMpiRun()), "no mpirun; apt-get install openmpi-bin");
    String reason =
        run(
            MpiJob.Launcher.OPENMPI,
            MpiJob.Fabric.VETH,
            "2",
            EXAMPLES,
            List.of("org.pmhxb.mpi.examples.Measure", "latency", "8", "100"));
    assertThat(reason).as(output()).isEmpty();
    assertThat(output())
        .contains("RESULT latency 8")
        .contains("rank 1    node 1    (1,0,0)  hops from rank 0: 1");
  }

  /** Killed, it cannot remove its session folder: that lies in the cluster's. */
  @Test
  void aKilledLauncherOfOpenMpiLeavesNothing() throws Exception {
    needsRoot();
    assumeTrue(Executables.has(Executables.openMpiRun()), "no mpirun; apt-get install openmpi-bin");
    Path told = dir.resolve("told");
    String reason =
        run(
            MpiJob.Launcher.OPENMPI,
            MpiJob.Fabric.VETH,
            "2",
            compiled("Parricide", PARRICIDE),
            List.of("Parricide", told.toString()));
    assertThat(reason).as(output()).isEqualTo("mpirun ended with signal 9");
    Path sessions = Path.of(Files.readString(told));
    assertThat(sessions).isAbsolute().doesNotExist();
    assertThat(paths().root()).doesNotExist();
    assertThat(Running.startedWith(dir.resolve("classes"))).isEmpty();
  }

  /** What follows -- stays the program's. */
  @Test
  void aRankTakesArgumentsForItsJvm() throws Exception {
    Path classes = compiled("Marked", MARKED);
    int code =
        runOneRankOfOpenMpi(
            List.of(
                "--jvm-arg=-Dmark=here", "--jvm-arg", "-Xmx64m", "--jvm-arg", "-XX:+UseSerialGC"),
            classes,
            List.of("Marked", "--jvm-arg", "mine"));
    assertThat(code).as(output()).isZero();
    assertThat(output()).containsPattern("(?m)^here 6[0-9] --jvm-arg mine$");
  }

  @Test
  void theProgramsLinesLeaveStandardOutputToTheObject() throws Exception {
    Path classes = compiled("Marked", MARKED);
    int code = runOneRankOfOpenMpi(List.of("--json"), classes, List.of("Marked", "mine"));
    assertThat(code).as(output()).isZero();
    assertThat(out.toString(StandardCharsets.UTF_8))
        .isEqualTo("{\"ok\":true,\"rank\":0,\"ranks\":1}\n");
    assertThat(err.toString(StandardCharsets.UTF_8)).containsPattern("(?m)^null \\d+ mine$");
  }

  /** Unless it has called MPI.Init again: then that ends the job, as it does before. */
  @ParameterizedTest
  @CsvSource({"after, 0, 0, false", "after, 3, 3, false", "again, 0, 1, true"})
  void afterFinalizeAProgramMayEndItsProcess(
      String when, String code, int codeOfLauncher, boolean crashed) throws Exception {
    Path classes = compiled("Leaver", LEAVER);
    int ended = runOneRankOfOpenMpi(List.of(), classes, List.of("Leaver", when, code));
    assertThat(ended).as(output()).isEqualTo(codeOfLauncher);
    assertThat(output().contains("without calling")).as(output()).isEqualTo(crashed);
  }

  /** Of a machine of one node, which needs no link; answers the launcher's exit code. */
  private int runOneRankOfOpenMpi(List<String> options, Path classes, List<String> program)
      throws Exception {
    assumeTrue(Executables.has(Executables.openMpiRun()), "no mpirun; apt-get install openmpi-bin");
    Path config =
        Files.writeString(
            dir.resolve("node.toml"), "key = \"k\"\nshape = \"1\"\ncoordinates = [0]\n");
    List<String> command =
        new ArrayList<>(List.of(Executables.openMpiRun(), "-n", "1", "--bind-to", "none"));
    if ("root".equals(System.getProperty("user.name"))) {
      command.add("--allow-run-as-root");
    }
    command.addAll(NodeJvm.withoutClassPath());
    command.addAll(List.of("-cp", RankClassPath.own(), "org.pmhxb.cli.Main", "mpirank"));
    command.addAll(List.of("--config", config.toString()));
    command.addAll(options);
    command.addAll(List.of("-cp", classes.toString(), "--"));
    command.addAll(program);
    Path said = dir.resolve("said");
    Path errors = dir.resolve("errors");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectError(errors.toFile()).redirectOutput(said.toFile());
    builder.environment().put(Program.homeVariable(), RankClassPath.MPJ_HOME.toString());
    Process process = builder.start();
    assertThat(ProcessTree.awaitOrEnd(process, Duration.ofMinutes(1))).isTrue();
    out.write(Files.readAllBytes(said));
    err.write(Files.readAllBytes(errors));
    return process.exitValue();
  }
}
