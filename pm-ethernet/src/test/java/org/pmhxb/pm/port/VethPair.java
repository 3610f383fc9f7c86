package org.pmhxb.pm.port;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A veth pair in this process's network namespace, up, of an MTU of 9,000; needs root. */
public final class VethPair implements AutoCloseable {
  private static final Pattern FIRST_END = Pattern.compile("hxb(\\d+)x\\d+a");
  private static final AtomicInteger MADE = new AtomicInteger();

  private final String line = "hxb" + ProcessHandle.current().pid() + "x" + MADE.incrementAndGet();

  public VethPair() throws IOException, InterruptedException {
    add();
    for (String name : new String[] {first(), second()}) {
      // No router solicitations between the test's frames.
      Path ipv6 = Path.of("/proc/sys/net/ipv6/conf", name, "disable_ipv6");
      if (Files.exists(ipv6)) {
        Files.writeString(ipv6, "1");
      }
      run("ip link set " + name + " up");
    }
  }

  public static boolean canBeMade() {
    return "root".equals(System.getProperty("user.name"));
  }

  /** A test run that was killed leaves its pairs; their names tell the process. */
  public static void deleteThoseOfDeadRuns() throws IOException, InterruptedException {
    try (Stream<Path> links = Files.list(Path.of("/sys/class/net"))) {
      for (Path link : links.toList()) {
        Matcher name = FIRST_END.matcher(link.getFileName().toString());
        if (name.matches() && ProcessHandle.of(Long.parseLong(name.group(1))).isEmpty()) {
          // Perhaps another JVM of this build does the same just now.
          new ProcessBuilder("ip", "link", "del", name.group()).start().waitFor();
          assertThat(link).doesNotExist();
        }
      }
    }
  }

  public String first() {
    return line + "a";
  }

  public String second() {
    return line + "b";
  }

  /** Makes it once more, under the names that it had. */
  public void add() throws IOException, InterruptedException {
    run("ip link add " + first() + " mtu 9000 type veth peer name " + second() + " mtu 9000");
  }

  public void delete() throws IOException, InterruptedException {
    run("ip link del " + first());
  }

  @Override
  public void close() {
    try {
      delete();
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  static void run(String command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command.split(" ")).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes());
    assertThat(process.waitFor()).as("%s: %s", command, output).isZero();
  }
}
