package org.pmhxb.cli.cluster;

import java.io.File;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * How a node's JVM is started: with the executable, class path and flags of this JVM, except its
 * heap, collector, compilers and agents, which are this process's own affair.
 */
public final class NodeJvm {
  /**
   * A node's memory is off-heap; what it allocates is control state. The serial collector has no
   * threads of its own, which matters where eight nodes share two cores.
   */
  public static final List<String> OWN_FLAGS =
      List.of("-Xms32m", "-Xmx256m", "-XX:+UseSerialGC", "-XX:-UsePerfData");

  private static final Pattern NOT_INHERITED =
      Pattern.compile(
          "-Xm[nsx].*|-Xlog(?!.*=off(:stderr)?$).*|-Xrun.*|-agent.*|-javaagent.*|-XX:[+-]Use\\w*GC"
              + "|-XX:(Initial|Max)(Heap|RAM).*|-XX:AOT(Mode|CacheOutput|Configuration)=.*"
              + "|-XX:TieredStopAtLevel=.*|-XX:ArchiveClassesAtExit=.*|-XX:StartFlightRecording.*"
              + "|-Dhxb\\..*|-Dcom\\.sun\\.management.*");

  private NodeJvm() {}

  /** The command that runs a main class; its arguments follow. */
  public static List<String> command(String mainClass) {
    List<String> command = withoutClassPath();
    command.addAll(OWN_FLAGS);
    command.add("-cp");
    command.add(classPath());
    command.add(mainClass);
    return command;
  }

  /**
   * This JVM once more, with its heap and collector too, and with further arguments behind its own.
   */
  public static List<String> again(List<String> jvmArgs, String mainClass) {
    List<String> command = new ArrayList<>();
    command.add(executable());
    command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
    command.addAll(jvmArgs);
    command.addAll(List.of("-cp", classPath(), mainClass));
    return command;
  }

  /**
   * As {@link #command} for a run that is recorded: with the collector of this JVM, for only the
   * default one can write objects of the heap into an archive, and any can read them.
   *
   * @param archive the file that the JVM writes at its end
   */
  public static List<String> recording(String mainClass, Path archive) {
    List<String> command = withoutClassPath();
    command.removeIf(flag -> flag.startsWith("-XX:AOTCache="));
    command.add("-XX:AOTCacheOutput=" + archive);
    // Code of the last level counts nothing any more: the profile would be that of a method's first
    // moments,
    // and of those behind each branch that threw its code away, as if these were what it mostly
    // does.
    command.add("-XX:TieredStopAtLevel=3");
    command.add("-Xlog:disable");
    command.add("-cp");
    command.add(classPath());
    command.add(mainClass);
    return command;
  }

  /**
   * The executable, the flags and the hxb properties of this JVM: class path and main class follow.
   */
  public static List<String> withoutClassPath() {
    List<String> command = new ArrayList<>();
    command.add(executable());
    for (String flag : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      if (isInherited(flag)) {
        command.add(flag);
      }
    }
    // Those that a program set after its start too.
    for (String key : new TreeSet<>(System.getProperties().stringPropertyNames())) {
      if (key.startsWith("hxb.") && !key.equals("hxb.stderr.terminal")) {
        command.add("-D" + key + "=" + System.getProperty(key));
      }
    }
    return command;
  }

  /** Whether a node's JVM has the flag because this one has. */
  static boolean isInherited(String flag) {
    return !NOT_INHERITED.matcher(flag).matches();
  }

  private static String executable() {
    return ProcessHandle.current()
        .info()
        .command()
        .orElseGet(() -> Path.of(System.getProperty("java.home"), "bin", "java").toString());
  }

  /** Absolute: a node must not depend on the directory it was started in. */
  private static String classPath() {
    return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
        .map(entry -> Path.of(entry).toAbsolutePath().toString())
        .collect(Collectors.joining(File.pathSeparator));
  }
}
