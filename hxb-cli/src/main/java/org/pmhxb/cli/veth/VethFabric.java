package org.pmhxb.cli.veth;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Builds and removes the network namespaces and links of a {@link FabricPlan}. Needs root. All work
 * goes through {@code ip -batch} and {@code tc -batch}: one program start per namespace and kind.
 */
public final class VethFabric {
  private static final Path NAMESPACES = Path.of("/run/netns");

  private VethFabric() {}

  /** What {@link #remove} could not end because it is not the cluster's own. */
  public record Leftover(String namespace, long pid, String command) {
    @Override
    public String toString() {
      return "process "
          + pid
          + " ("
          + command
          + ") still runs in the removed namespace "
          + namespace;
    }
  }

  /**
   * Creates everything; when a step fails, what was made is removed before the exception leaves.
   *
   * @throws ToolException with the failed call
   */
  public static void create(FabricPlan plan) {
    create(plan.cluster(), plan.creationBatch(), plan.linkBatches(), plan.shapingBatches());
  }

  static void create(
      String cluster, String creation, Map<String, String> links, Map<String, String> shaping) {
    if (!namespaces(cluster).isEmpty()) {
      throw new IllegalStateException(
          "namespaces of cluster \""
              + cluster
              + "\" exist already: "
              + namespaces(cluster)
              + "; remove them with: hxb down --cluster "
              + cluster);
    }
    try {
      Tool.run(creation, List.of("ip", "-batch", "-"));
      runEach("ip", links);
      runEach("tc", shaping);
    } catch (RuntimeException e) {
      try {
        remove(cluster);
      } catch (RuntimeException second) {
        e.addSuppressed(second);
      }
      throw e;
    }
  }

  /**
   * A command as it runs in a namespace. Not {@code ip -n} nor {@code ip netns exec}: both remount
   * {@code /} as a slave first, which fails where it is no mount point, as in a chroot.
   */
  public static List<String> inside(String namespace, String... command) {
    List<String> whole =
        new ArrayList<>(List.of("nsenter", "--net=" + NAMESPACES.resolve(namespace)));
    whole.addAll(List.of(command));
    return whole;
  }

  /** The file by which a namespace is entered. */
  public static Path path(String namespace) {
    return NAMESPACES.resolve(namespace);
  }

  /** Runs a command in a namespace to its end; its standard output. */
  public static String run(String namespace, String... command) {
    return Tool.run("", inside(namespace, command));
  }

  /** Changes a namespace's interfaces: each line is one command of {@code ip}. */
  public static void configure(String namespace, List<String> lines) {
    Tool.run(String.join("\n", lines) + "\n", inside(namespace, "ip", "-batch", "-"));
  }

  /** Joins two namespaces by one more link, unshaped; it goes with them. */
  public static void join(String a, String b, String name) {
    Tool.run(
        "",
        List.of(
            "ip", "link", "add", "name", name, "netns", a, "type", "veth", "peer", "name", name,
            "netns", b));
  }

  private static void runEach(String program, Map<String, String> batches) {
    List<Future<String>> runs = new ArrayList<>();
    try (ExecutorService pool =
        Executors.newFixedThreadPool(Math.max(1, Runtime.getRuntime().availableProcessors()))) {
      batches.forEach(
          (namespace, batch) ->
              runs.add(
                  pool.submit(() -> Tool.run(batch, inside(namespace, program, "-batch", "-")))));
    }
    for (Future<String> run : runs) {
      try {
        run.get();
      } catch (ExecutionException e) {
        throw e.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("interrupted while " + program + " ran", e);
      }
    }
  }

  /** How a rail is cut. */
  public enum Cut {
    /** The interface goes down: carrier is lost at both ends. */
    DOWN("ip"),
    /** Frames vanish both ways and the carrier stays. */
    SILENT("tc");

    /** Which reads {@link #line} with {@code -batch}. */
    final String program;

    Cut(String program) {
      this.program = program;
    }

    /**
     * What cuts or mends one end. Of a silent cut each end drops what it sends, in a queue that
     * holds nothing: what comes in has passed the packet sockets before anything could.
     *
     * @param rate of the link, which mending restores
     */
    String line(String device, boolean dead, LinkRate rate) {
      return switch (this) {
        case DOWN -> "link set dev " + device + (dead ? " down\n" : " up\n");
        case SILENT -> FabricPlan.queue(device, dead ? "pfifo limit 0" : FabricPlan.tbf(rate));
      };
    }
  }

  /**
   * Prepares to cut a node's end of a rail, or to mend it: it happens as soon as the program is
   * told to.
   *
   * @param dead cut it, else mend it
   * @param rate of the link, which mending restores
   * @throws ToolException when {@code nsenter} is missing
   */
  public static WaitingTool prepareCut(
      String namespace, String device, Cut how, boolean dead, LinkRate rate) {
    return new WaitingTool(
        inside(namespace, how.program, "-batch", "-"), how.line(device, dead, rate));
  }

  /** Gives a node's end of a shaped rail another rate, for what it sends. */
  public static void reshape(String namespace, String device, LinkRate rate) {
    Tool.run(
        FabricPlan.queue(device, FabricPlan.tbf(rate)), inside(namespace, "tc", "-batch", "-"));
  }

  /** Namespaces of a cluster that exist now, found by their names alone. */
  public static List<String> namespaces(String cluster) {
    String pattern = FabricPlan.prefix(cluster) + "{sw,[0-9]*-[0-9]*-[0-9]*}";
    TreeSet<String> names = new TreeSet<>();
    if (Files.isDirectory(NAMESPACES)) {
      try (DirectoryStream<Path> entries = Files.newDirectoryStream(NAMESPACES, pattern)) {
        entries.forEach(entry -> names.add(entry.getFileName().toString()));
      } catch (IOException e) {
        throw new IllegalStateException("cannot list " + NAMESPACES + ": " + e.getMessage(), e);
      }
    }
    return List.copyOf(names);
  }

  /**
   * Removes all namespaces of a cluster and the links in them. Does nothing when there are none, so
   * it may be called again after a failure of any kind. Tries twice: {@code ip} may be ended in the
   * middle of it, by a terminal's Ctrl-C say.
   *
   * @return foreign processes, a capture say, that keep a removed namespace alive until they end
   */
  public static List<Leftover> remove(String cluster) {
    List<Leftover> leftovers = new ArrayList<>();
    try {
      remove(cluster, leftovers);
    } catch (ToolException _) {
      try {
        remove(cluster, leftovers);
      } catch (ToolException e) {
        // Somebody else may have removed one at the same time: what counts is what is left.
        if (!namespaces(cluster).isEmpty()) {
          throw e;
        }
      }
    }
    return leftovers.stream().distinct().toList();
  }

  private static void remove(String cluster, List<Leftover> leftovers) {
    StringBuilder batch = new StringBuilder();
    for (String namespace : namespaces(cluster)) {
      for (long pid : processes(namespace)) {
        leftovers.add(new Leftover(namespace, pid, command(pid)));
      }
      if (!leftovers.isEmpty() && leftovers.getLast().namespace().equals(namespace)) {
        // The process would keep the namespace, and so its links, alive.
        removeLinks(namespace);
      }
      batch.append("netns del ").append(namespace).append('\n');
    }
    if (!batch.isEmpty()) {
      Tool.run(batch.toString(), List.of("ip", "-force", "-batch", "-"));
    }
  }

  private static List<Long> processes(String namespace) {
    try {
      return Tool.run("", List.of("ip", "netns", "pids", namespace))
          .lines()
          .map(line -> Long.valueOf(line.strip()))
          .toList();
    } catch (ToolException e) {
      // A namespace whose creation was interrupted is a plain file: nothing can run in it.
      return List.of();
    }
  }

  private static void removeLinks(String namespace) {
    StringBuilder batch = new StringBuilder();
    Tool.run("", inside(namespace, "ip", "-o", "link", "show"))
        .lines()
        .map(line -> line.split(": ")[1].split("@")[0])
        .filter(name -> !name.equals("lo"))
        .forEach(name -> batch.append("link del dev ").append(name).append('\n'));
    Tool.run(batch.toString(), inside(namespace, "ip", "-batch", "-"));
  }

  private static String command(long pid) {
    return ProcessHandle.of(pid).flatMap(handle -> handle.info().command()).orElse("ended");
  }
}
