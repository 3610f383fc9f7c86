package org.pmhxb.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.pmhxb.cli.cluster.NodeJvm;
import org.pmhxb.cli.process.ProcessTree;
import org.pmhxb.cli.rehearsal.Rehearsal;
import org.pmhxb.cli.veth.OwnLinks;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The run that the build records for the archive which every JVM of {@code hxb} starts with. */
@Command(
    name = "rehearse",
    description = {
      "Take a node's code through its life within one process: traffic, relays, faults, and rails"
          + " that are cut if it has a network namespace of its own. The build records such a run:"
          + " nodes that start from what it recorded know every branch before they meet it."
    },
    footer = {
      "",
      "Example: hxb rehearse --json",
      "Example: hxb rehearse --archive /var/tmp/hxb.aot"
    })
final class RehearseCommand extends HxbCommand {
  private static final long LIMIT_SECONDS = 120;
  private static final long GRACE_MS = 1_000;

  @Option(
      names = "--archive",
      paramLabel = "FILE",
      description =
          "Rehearse in another JVM, in a network namespace of its own where that may be made, and"
              + " write classes and profiles into FILE, for -XX:AOTCache; what that JVM says goes"
              + " into FILE.log. An installation starts with FILE instead of its own archive where the"
              + " environment has HXB_ARCHIVE=FILE.")
  private Path archive;

  @Option(
      names = "--left-network",
      paramLabel = "NAME",
      description =
          "Name of the network namespace that this process has left for one of its own, as"
              + " /proc/self/ns/net gave it there: rails are made in its own, and cut.")
  private String leftNetwork;

  record Result(boolean ok, List<Rehearsal.Act> acts) implements Report {
    @Override
    public void print(PrintWriter out) {
      for (Rehearsal.Act act : acts) {
        out.printf(
            "%-7s %4.1f s, %d messages, %d of them faulty%n",
            act.name(), act.seconds(), act.messages(), act.faulty());
        act.failures().forEach(line -> out.println("  FAILED: " + line));
      }
    }
  }

  /**
   * @param rails whether rails of the kernel's took part
   */
  record Archived(boolean ok, String file, long bytes, boolean rails, double seconds)
      implements Report {
    @Override
    public void print(PrintWriter out) {
      out.printf(
          "%s: %d bytes, in %.1f s%s%n",
          file, bytes, seconds, rails ? "" : ", without rails of the kernel's");
    }
  }

  @Override
  protected Report run() throws Exception {
    if (archive != null && leftNetwork != null) {
      throw wrongUsage("--archive leaves the network namespace itself: leave --left-network out");
    }
    file("--archive", archive);
    if (leftNetwork != null && OwnLinks.namespace().equals(leftNetwork)) {
      throw wrongUsage("this process is still in the network namespace " + leftNetwork);
    }
    return archive == null ? rehearse() : record(archive.toAbsolutePath());
  }

  private Result rehearse() throws IOException, InterruptedException {
    List<Rehearsal.Act> acts = Rehearsal.run(leftNetwork != null, progress()::update);
    return new Result(acts.stream().allMatch(RehearseCommand::isGood), acts);
  }

  static boolean isGood(Rehearsal.Act act) {
    return act.messages() > 0 && act.faulty() == 0 && act.failures().isEmpty();
  }

  /** What stands in the file is of use until another takes its place. */
  private Archived record(Path file) throws IOException, InterruptedException {
    Path fresh = Path.of(file + ".new");
    try {
      Files.deleteIfExists(fresh);
      return record(file, fresh);
    } finally {
      discard(fresh);
    }
  }

  private Archived record(Path file, Path fresh) throws IOException, InterruptedException {
    long startNs = System.nanoTime();
    List<String> namespace = OwnLinks.ownNamespace();
    List<String> command = new ArrayList<>(namespace);
    command.addAll(NodeJvm.recording(Main.class.getName(), fresh));
    command.addAll(List.of("rehearse", JSON));
    if (!namespace.isEmpty()) {
      command.addAll(List.of("--left-network", OwnLinks.namespace()));
    }
    Path log = Path.of(file + ".log");
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(Redirect.to(log.toFile()))
            .start();
    // Told to end, it takes its rails and files down; the archive is not finished then.
    AtomicBoolean ending = new AtomicBoolean();
    Thread ender =
        new Thread(
            () -> {
              ending.set(true);
              ProcessTree.end(List.of(process), GRACE_MS);
              discard(fresh);
            });
    Runtime.getRuntime().addShutdownHook(ender);
    // The archive is written by a JVM that the recording one starts at its end.
    progress()
        .update(
            "rehearsing, then writing the archive; at most " + LIMIT_SECONDS + " s, see " + log);
    if (!ProcessTree.awaitOrEnd(process, Duration.ofSeconds(LIMIT_SECONDS))) {
      throw new IllegalStateException(
          "the rehearsal has not ended after " + LIMIT_SECONDS + " s; see " + log);
    }
    if (ending.get()) {
      throw new InterruptedException("the archive was not finished");
    }
    if (!Files.exists(fresh)) {
      throw new IllegalStateException(
          "the JVM that rehearsed ended with " + process.exitValue() + ", no archive; see " + log);
    }
    Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE);
    double seconds = (System.nanoTime() - startNs) / 1e9;
    boolean ok = process.exitValue() == Main.OK;
    return new Archived(ok, file.toString(), Files.size(file), !namespace.isEmpty(), seconds);
  }

  /** With what the JVM notes beside it until it is done. */
  private static void discard(Path fresh) {
    for (Path part : List.of(fresh, Path.of(fresh + ".config"))) {
      try {
        Files.deleteIfExists(part);
      } catch (IOException _) {
        // The folder has become read-only, or is gone: nothing of use lies there.
      }
    }
  }
}
