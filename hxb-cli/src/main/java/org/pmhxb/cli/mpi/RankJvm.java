package org.pmhxb.cli.mpi;

import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.pmhxb.cli.NodeProcess;
import org.pmhxb.cli.cluster.ClusterPaths;
import org.pmhxb.cli.cluster.NodeJvm;

/** The command lines of the JVMs that run ranks. */
final class RankJvm {
  private RankJvm() {}

  /** All ranks in one JVM. */
  static List<String> ring(MpiJob job) {
    List<String> command = start(job, 1);
    command.add("-Dhxb.mpi.shape=" + job.shape());
    command.add("-Dhxb.mpi.rails=" + job.rails());
    command.add("-Dhxb.mpi.label=" + job.label());
    command.add("-Dhxb.mpi.path=" + RankClassPath.rank(job.classPath()));
    command.addAll(List.of("-cp", RankClassPath.own(), "org.pmhxb.mpi.launch.RingJob"));
    command.addAll(job.program());
    return command;
  }

  /** One rank and its node. */
  static List<String> rank(MpiJob job, long number, Path config) {
    List<String> command = start(job, job.ranks());
    command.add("-Dhxb.mpi.job=" + number);
    command.addAll(List.of("-cp", RankClassPath.rank(job.classPath())));
    command.addAll(List.of("org.pmhxb.mpi.launch.RankProcess", "--config", config.toString()));
    command.addAll(job.program());
    return command;
  }

  /** One rank over MPJ's own device. */
  static List<String> nio(MpiJob job, int rank, Path config, String directory) {
    List<String> command = start(job, job.ranks());
    command.add("-Dhxb.mpi.rank=" + rank);
    command.add("-Dhxb.mpi.directory=" + directory);
    // MPJ ahead of ours: this job is for its device.
    String path = RankClassPath.mpj() + File.pathSeparator + RankClassPath.rank(job.classPath());
    command.addAll(List.of("-cp", path));
    command.addAll(List.of("org.pmhxb.mpi.launch.NioProcess", "--config", config.toString()));
    command.addAll(job.program());
    return command;
  }

  /** Open MPI's launcher, which starts all ranks. */
  static List<String> openMpi(MpiJob job, ClusterPaths paths, boolean printMap) {
    List<String> command =
        new ArrayList<>(List.of(Executables.openMpiRun(), "-n", Integer.toString(job.ranks())));
    command.addAll(List.of("--oversubscribe", "--bind-to", "none"));
    command.addAll(Executables.openMpiSessionsIn(paths.directory()));
    if (ProcessHandle.current().info().user().orElse("").equals("root")) {
      command.add("--allow-run-as-root");
    }
    command.addAll(start(job, job.ranks()));
    command.addAll(List.of("-cp", RankClassPath.own(), "org.pmhxb.cli.Main"));
    command.addAll(paths.rankArguments());
    command.addAll(List.of("--map", job.placement().name().toLowerCase(Locale.ROOT)));
    if (printMap) {
      command.add("--print-map");
    }
    command.add("--class-path");
    command.add(
        String.join(
            File.pathSeparator,
            job.classPath().stream().map(p -> p.toAbsolutePath().toString()).toList()));
    command.add("--");
    command.addAll(job.program());
    return command;
  }

  /** A node that only relays. */
  static List<String> relay(Path config) {
    List<String> command = new ArrayList<>(NodeJvm.withoutClassPath());
    command.addAll(NodeJvm.OWN_FLAGS);
    command.addAll(List.of("-cp", RankClassPath.own(), NodeProcess.class.getName()));
    command.addAll(List.of("--config", config.toString()));
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
}
