package org.pmhxb.cli.mpi;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.pmhxb.cli.cluster.NodeJvm;

/** The command lines of the JVMs that run ranks. */
final class RankJvm {
  private static final Path MPJ_HOME =
      Path.of(System.getProperty("hxb.mpj.home", "/usr/share/mpj"));
  private static final Path MPJ = MPJ_HOME.resolve("lib/mpj.jar");
  private static final Path LOG4J =
      Path.of(System.getProperty("hxb.log4j.jar", "/usr/share/java/log4j-1.2.jar"));

  private RankJvm() {}

  /** Where MPJ is installed: the value of MPJ_HOME. */
  static Path home() {
    return MPJ_HOME;
  }

  /**
   * @throws IllegalStateException MPJ is not installed
   */
  static void requireMpj() {
    for (Path jar : List.of(MPJ, LOG4J)) {
      if (!Files.exists(jar)) {
        throw new IllegalStateException(
            jar + " is missing; install it: apt-get install libmpj-java liblog4j1.2-java");
      }
    }
  }

  /**
   * All ranks in one JVM.
   *
   * @param jars hxb's own, from which each rank takes the device
   */
  static List<String> ring(MpiJob job, String jars) {
    List<String> command = start(job, 1);
    command.add("-Dhxb.mpi.shape=" + job.shape());
    command.add("-Dhxb.mpi.rails=" + job.rails());
    command.add("-Dhxb.mpi.label=" + job.label());
    command.add("-Dhxb.mpi.path=" + rankPath(jars, job));
    command.addAll(List.of("-cp", jars, "org.pmhxb.mpi.launch.RingJob"));
    command.addAll(job.program());
    return command;
  }

  /** One rank and its node. */
  static List<String> rank(MpiJob job, String jars, long number, int rank, Path config) {
    List<String> command = start(job, job.ranks());
    command.add("-Dhxb.mpi.rank=" + rank);
    command.add("-Dhxb.mpi.job=" + number);
    command.addAll(List.of("-cp", join(jars, MPJ, LOG4J, job.classPath())));
    command.add("org.pmhxb.mpi.launch.RankProcess");
    command.addAll(List.of("--config", config.toString()));
    command.addAll(job.program());
    return command;
  }

  /** A node that only relays. */
  static List<String> relay(String jars, Path config) {
    List<String> command = new ArrayList<>(NodeJvm.withoutClassPath());
    command.addAll(NodeJvm.OWN_FLAGS);
    command.addAll(List.of("-cp", jars, "org.pmhxb.cli.Main", "node", "--config"));
    command.add(config.toString());
    return command;
  }

  private static List<String> start(MpiJob job, int processes) {
    List<String> command = new ArrayList<>(NodeJvm.withoutClassPath());
    command.add("-XX:+UseSerialGC");
    command.add("-XX:-UsePerfData");
    command.add("-XX:MaxRAMPercentage=" + 50.0 / processes);
    command.add("-Dhxb.mpi.ranks=" + job.ranks());
    command.add("-Dhxb.mpi.map=" + job.placement().name());
    command.addAll(job.jvmArgs());
    return command;
  }

  /** What each rank of a common JVM loads for itself: the device, MPJ, the program. */
  private static String rankPath(String jars, MpiJob job) {
    return join(jars, MPJ, LOG4J, job.classPath());
  }

  private static String join(String jars, Path mpj, Path log4j, List<Path> classPath) {
    return Stream.concat(
            Stream.of(jars, mpj.toString(), log4j.toString()),
            classPath.stream().map(p -> p.toAbsolutePath().toString()))
        .collect(Collectors.joining(File.pathSeparator));
  }
}
