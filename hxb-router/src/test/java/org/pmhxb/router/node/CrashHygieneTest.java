package org.pmhxb.router.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A process with a node in it leaves nothing behind, whether it is killed or closes (rule 4). */
@Timeout(180)
class CrashHygieneTest {
  private static final List<Path> PLACES =
      List.of(Path.of("/var/run/dpdk"), Path.of("/dev/hugepages"), Path.of("/run/hxb"));
  private static final long LIMIT_NS = 20_000_000_000L;

  /** What the host knows beside processes. */
  private record Traces(long freePages, long orphanPages, Set<String> files, Set<String> sockets) {
    static Traces take() throws IOException {
      Set<String> files = new HashSet<>();
      for (Path place : PLACES) {
        if (Files.isDirectory(place)) {
          try (Stream<Path> entries = Files.list(place)) {
            entries.map(Path::toString).forEach(files::add);
          }
        }
      }
      Set<String> sockets;
      try (Stream<String> lines = Files.lines(Path.of("/proc/net/unix"))) {
        sockets =
            lines
                .map(l -> l.substring(l.lastIndexOf(' ') + 1))
                .filter(l -> l.startsWith("@"))
                .collect(Collectors.toSet());
      }
      long total = kilobytes(Path.of("/proc/meminfo"), "HugePages_Total:");
      long free = kilobytes(Path.of("/proc/meminfo"), "HugePages_Free:");
      return new Traces(free, total - free - pagesOfAllProcesses(), files, sockets);
    }

    /**
     * Whether hugepages are as free as they were; or, since other processes of the host take and
     * return some meanwhile, no more of them belong to no process than before.
     */
    boolean pagesAreHome(Traces before) {
      return freePages >= before.freePages || orphanPages <= before.orphanPages;
    }

    Set<String> newFiles(Traces before) {
      Set<String> left = new TreeSet<>(files);
      left.removeAll(before.files);
      return left;
    }
  }

  private static long kilobytes(Path file, String key) throws IOException {
    try (Stream<String> lines = Files.lines(file)) {
      return lines
          .filter(l -> l.startsWith(key))
          .mapToLong(l -> Long.parseLong(l.replaceAll("[^0-9]", "")))
          .findFirst()
          .orElse(0);
    }
  }

  private static long pagesOf(long pid) {
    try {
      return kilobytes(Path.of("/proc/" + pid + "/status"), "HugetlbPages:") / 2048;
    } catch (IOException | java.io.UncheckedIOException e) {
      return 0; // it has ended meanwhile
    }
  }

  private static long pagesOfAllProcesses() {
    return ProcessHandle.allProcesses().mapToLong(p -> pagesOf(p.pid())).sum();
  }

  private static void assertNothingLeft(Traces before, String line)
      throws IOException, InterruptedException {
    long until = System.nanoTime() + LIMIT_NS;
    Traces now = Traces.take();
    while (System.nanoTime() < until
        && !(now.pagesAreHome(before) && now.newFiles(before).isEmpty())) {
      Thread.sleep(100); // other processes of the host start and end
      now = Traces.take();
    }
    assertThat(now.pagesAreHome(before)).as("hugepages: %s before, now %s", before, now).isTrue();
    assertThat(now.newFiles(before)).as("files left").isEmpty();
    assertThat(now.sockets()).as("sockets left").noneMatch(s -> s.contains(line));
  }

  @ParameterizedTest
  @CsvSource({
    "SHM, kill",
    "SHM, close",
    "MEMIF, kill",
    "MEMIF, close",
    "ring, kill",
    "ring, close"
  })
  void nothingIsLeft(String fabric, String end) throws IOException, InterruptedException {
    String line = "hxb-hygiene-" + ProcessHandle.current().pid() + "-" + end;
    boolean lines = !fabric.equals("ring");
    Traces before = Traces.take();
    String[] arguments = lines ? new String[] {fabric, "server", line} : new String[] {fabric};
    try (NodeProcess process = NodeProcess.start(arguments)) {
      if (before.freePages() > 200) {
        assertThat(pagesOf(process.pid())).as("hugepages in use").isPositive();
      }
      Set<String> open = Traces.take().sockets();
      assertThat(open.stream().filter(s -> s.contains(line)))
          .as("listening sockets while it runs")
          .hasSize(lines ? NodeProcess.RAILS : 0);
      if (end.equals("kill")) {
        process.kill();
      } else {
        assertThat(process.end()).as("exit status and errors").isEqualTo("0");
      }
    }
    assertNothingLeft(before, line);
  }
}
