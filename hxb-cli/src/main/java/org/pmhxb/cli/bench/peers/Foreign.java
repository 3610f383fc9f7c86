package org.pmhxb.cli.bench.peers;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.pmhxb.cli.Words;
import org.pmhxb.cli.bench.CoreDistance;
import org.pmhxb.cli.bench.CpuMeter;
import org.pmhxb.cli.bench.CpuUse;
import org.pmhxb.cli.process.DirectoryTree;
import org.pmhxb.cli.process.ProcessTree;
import org.pmhxb.cli.process.Signals;

/**
 * Other people's programs of one run: starts them in the namespaces of a {@link PeerSite}, keeps
 * what they say, measures their processor time and ends what is left of them. Owner: one thread.
 */
final class Foreign implements AutoCloseable {
  static final String AGENT = "in-namespace.sh";
  private static final long STEP_MS = 50;
  private static final long START_MS = 400;
  private static final long END_MS = 500;

  private final Path scripts;
  private final Path directory;
  private final List<Running> started = new ArrayList<>();
  private final List<Path> scratch = new ArrayList<>();
  private Path agent;
  private final CpuMeter meter;
  private boolean measuring;

  /** A program that was started, and the file with what it says. */
  record Running(Process process, List<String> command, Path output) {
    String text() throws IOException {
      return Files.readString(output);
    }
  }

  /**
   * @param scripts where in-namespace.sh is
   * @param directory for output, made when it is not there
   * @param distance looked at while they run; null: it is not
   */
  Foreign(Path scripts, Path directory, CoreDistance distance) throws IOException {
    this.scripts = scripts;
    this.meter = new CpuMeter(this::pids, distance);
    this.directory = Files.createDirectories(directory);
  }

  /** Whether a program is on the path. */
  static boolean installed(String program) {
    return Stream.of(System.getenv().getOrDefault("PATH", "/usr/bin:/bin").split(":"))
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
  }

  /**
   * A link to the script that stands for rsh, in a folder whose path has no blanks: Open MPI takes
   * it apart at those, and the checkout's may have some.
   */
  static Path agentIn(Path folder, Path scripts) throws IOException {
    return Files.createSymbolicLink(folder.resolve(AGENT), scripts.resolve(AGENT));
  }

  /** The script that stands for rsh, as {@link #agentIn} has it. */
  String agent() throws IOException {
    if (agent == null) {
      agent = agentIn(scratch(), scripts);
    }
    return agent.toString();
  }

  /** Starts a program on side A. */
  Running onA(PeerSite site, Map<String, String> environment, List<String> command)
      throws IOException {
    return start(site, PeerSite.HOST_A, environment, command);
  }

  /** Starts a program on side B. */
  Running onB(PeerSite site, Map<String, String> environment, List<String> command)
      throws IOException {
    return start(site, PeerSite.HOST_B, environment, command);
  }

  private Running start(
      PeerSite site, String host, Map<String, String> environment, List<String> command)
      throws IOException {
    // Should this process be killed outright, they go with it: testpmd would never end.
    List<String> whole = new ArrayList<>(List.of("setpriv", "--pdeathsig", "KILL"));
    if (!site.isLocal()) {
      whole.addAll(List.of(scripts.resolve(AGENT).toString(), host, "exec"));
      command.forEach(word -> whole.add(Words.forShell(word)));
    } else {
      whole.addAll(command);
    }
    Path output = Files.createTempFile(directory, "peer", ".out");
    ProcessBuilder builder =
        new ProcessBuilder(whole)
            .directory(directory.toFile())
            .redirectInput(new File("/dev/null"))
            .redirectErrorStream(true)
            .redirectOutput(output.toFile());
    builder.environment().putAll(site.environment());
    builder.environment().putAll(environment);
    Running running = new Running(builder.start(), command, output);
    started.add(running);
    return running;
  }

  /** A new folder with a short name for what programs leave behind; {@link #close} removes it. */
  Path scratch() throws IOException {
    Path folder = Files.createTempDirectory("hxb-peer");
    scratch.add(folder);
    return folder;
  }

  /**
   * Waits until a program has ended and returns what it said; meanwhile the processor time of all
   * is measured, from when they have settled to just before the end.
   *
   * @throws IOException when it fails or takes too long
   */
  String await(Running running, long limitSeconds) throws IOException, InterruptedException {
    return await(running, limitSeconds, "\0");
  }

  /**
   * The same for a program whose launcher may hang in its end (Hydra, seen with MPICH 4.0.2): it is
   * over when it has printed {@code last}; {@link #close} ends the rest.
   */
  String await(Running running, long limitSeconds, String last)
      throws IOException, InterruptedException {
    long fromNs = System.nanoTime();
    while (!running.process.waitFor(STEP_MS, TimeUnit.MILLISECONDS)) {
      if (running.text().contains(last)) {
        return running.text();
      }
      long ms = (System.nanoTime() - fromNs) / 1_000_000;
      if (ms > limitSeconds * 1_000) {
        throw new IOException(
            running.command + " has not ended after " + limitSeconds + " s; " + tail(running));
      }
      measure(ms);
    }
    if (running.process.exitValue() != 0) {
      throw new IOException(
          running.command + " ended with " + running.process.exitValue() + "; " + tail(running));
    }
    return running.text();
  }

  /** Lets programs that do not end by themselves run for a time, measured as by {@link #await}. */
  void watch(long ms) throws InterruptedException {
    long fromNs = System.nanoTime();
    for (long past = 0; past < ms; past = (System.nanoTime() - fromNs) / 1_000_000) {
      measure(past);
      Thread.sleep(STEP_MS);
    }
  }

  /** Asks a server to end and tell what it counted, as Ctrl-C does; returns what it said. */
  String interrupt(Running running, long limitSeconds) throws IOException, InterruptedException {
    Signals.send("INT", running.process.pid());
    if (!running.process.waitFor(limitSeconds, TimeUnit.SECONDS)) {
      throw new IOException(running.command + " does not end on SIGINT; " + tail(running));
    }
    return running.text();
  }

  private void measure(long ms) {
    if (!measuring && ms >= START_MS) {
      meter.start();
      measuring = true;
    } else if (measuring) {
      meter.look();
      // The last sample before the end counts: a process that has ended has no account any more.
      meter.stop();
    }
  }

  private static String tail(Running running) throws IOException {
    String text = running.text().strip();
    return "it said: " + text.substring(Math.max(0, text.length() - 400));
  }

  /** Processor time of all programs; null when the run was too short to tell. */
  CpuUse cpuUse() {
    return meter.use();
  }

  private List<Long> pids() {
    return started.stream()
        .map(running -> running.process.toHandle())
        .flatMap(root -> Stream.concat(Stream.of(root), root.descendants()))
        .map(ProcessHandle::pid)
        .toList();
  }

  /** Ends what still runs: politely, then by force; removes their output and {@link #scratch}. */
  @Override
  public void close() throws IOException {
    ProcessTree.end(started.stream().map(Running::process).toList(), END_MS);
    for (Running running : started) {
      Files.deleteIfExists(running.output);
    }
    for (Path folder : scratch) {
      DirectoryTree.delete(folder);
    }
  }
}
