package org.pmhxb.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What {@code hxb dist} packs, unpacked where it may not be written and run without any tool that
 * builds; as root by another user, where a command needs no root.
 */
@Tag("beside-others")
class DistIT {
  private static final Path HOME = Path.of(System.getProperty("hxb.home"));
  private static final boolean ROOT = "root".equals(System.getProperty("user.name"));

  /** All that the launcher may ask the PATH for. */
  private static final List<String> TOOLS =
      List.of("bash", "cat", "dirname", "env", "grep", "ldd", "readlink", "sed", "sort");

  /** What must not be asked for: each notes that it was, and fails. */
  private static final List<String> TRAPS =
      List.of("apt-get", "cc", "cmake", "gcc", "make", "mvn", "pkg-config", "sysctl");

  @TempDir private static Path folder;
  private static JsonNode packed;
  private static Path tarball;
  private static Path installation;
  private static Path path;
  private static Path calls;
  private static String before;

  /** Of what this test run has built, whatever the last hxb build was of. */
  private static ScriptRun dist(Path output) throws Exception {
    String script =
        """
        source "$1"
        JDK="$("$HXB_HOME/scripts/find-jdk")"
        HXB_TESTED="$(fingerprint)" exec "$1" dist --json --output "$2"
        """;
    String hxb = HOME.resolve("hxb").toString();
    return ScriptRun.in(folder, "bash", "-c", script, "bash", hxb, output.toString());
  }

  private static ScriptRun tool(String... words) throws Exception {
    ScriptRun run = ScriptRun.in(folder, words);
    assertThat(run.code()).as(String.join(" ", words) + "\n" + run.err()).isZero();
    return run;
  }

  @BeforeAll
  static void packAndUnpack() throws Exception {
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
    ScriptRun run = dist(folder.resolve("made here"));
    assertThat(run.code()).as(run.err()).isZero();
    packed = run.json();
    tarball = Path.of(packed.path("file").asText());
    installation = unpack("two words");
    tool("chmod", "-R", "a-w", installation.toString());
    before = contents();

    path = Files.createDirectory(folder.resolve("bin"));
    calls = Files.createFile(folder.resolve("calls"));
    Files.setPosixFilePermissions(calls, PosixFilePermissions.fromString("rw-rw-rw-"));
    for (String tool : TOOLS) {
      Files.createSymbolicLink(path.resolve(tool), executable(tool));
    }
    for (String trap : TRAPS) {
      Path script =
          Files.writeString(path.resolve(trap), "#!/bin/sh\necho $0 >>" + calls + "\nexit 1\n");
      Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
    }
  }

  @AfterAll
  static void mayBeRemoved() throws Exception {
    tool("chmod", "-R", "u+w", installation.toString());
  }

  @AfterEach
  void nothingWasBuiltInstalledOrWritten() throws Exception {
    assertThat(calls).isEmptyFile();
    assertThat(contents()).isEqualTo(before);
  }

  private static Path unpack(String name) throws Exception {
    Path parent = Files.createDirectory(folder.resolve(name));
    tool("tar", "-xzf", tarball.toString(), "-C", parent.toString());
    try (Stream<Path> top = Files.list(parent)) {
      List<Path> found = top.toList();
      assertThat(found).singleElement();
      return found.getFirst();
    }
  }

  private static Path executable(String name) {
    return Stream.of("/usr/bin", "/bin", "/usr/sbin")
        .map(directory -> Path.of(directory, name))
        .filter(Files::isExecutable)
        .findFirst()
        .orElseThrow(() -> new AssertionError("no " + name + " on this machine"));
  }

  /** Every file with its size, time and rights. */
  private static String contents() throws Exception {
    return tool("find", installation.toString(), "-printf", "%p %s %m %T@ %C@\n").out();
  }

  private static ScriptRun run(boolean asRoot, Path home, String... words) throws Exception {
    List<String> command = new ArrayList<>();
    if (ROOT && !asRoot) {
      command.addAll(List.of(executable("setpriv").toString(), "--reuid=65534"));
      command.addAll(List.of("--regid=65534", "--clear-groups"));
    }
    command.add(home.resolve("bin/hxb").toString());
    command.addAll(List.of(words));
    Map<String, String> environment =
        Map.of(
            "PATH", path.toString(), "JAVA_HOME", System.getProperty("java.home"), "HOME", "/none");
    return ScriptRun.in(folder, environment, command);
  }

  /** By a user who may not write there, if this one could become one. */
  private static ScriptRun run(String... words) throws Exception {
    return run(false, installation, words);
  }

  private static JsonNode finding(ScriptRun doctor, String name) {
    return StreamSupport.stream(doctor.json().path("checks").spliterator(), false)
        .filter(check -> check.path("name").asText().equals(name))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no finding " + name + ": " + doctor.out()));
  }

  @Test
  void theTarballIsWhatWasSaidAndTheSameTheNextTime() throws Exception {
    byte[] bytes = Files.readAllBytes(tarball);
    byte[] sum = MessageDigest.getInstance("SHA-256").digest(bytes);
    assertThat(packed.path("ok").asBoolean()).isTrue();
    assertThat(packed.path("bytes").asInt()).isEqualTo(bytes.length);
    assertThat(packed.path("sha256").asText()).isEqualTo(HexFormat.of().formatHex(sum));
    ScriptRun again = dist(folder.resolve("made there"));
    assertThat(again.json().path("sha256")).isEqualTo(packed.path("sha256"));
    assertThat(again.json().path("file")).isNotEqualTo(packed.path("file"));
    try (Stream<Path> left = Files.list(tarball.getParent())) {
      assertThat(left).containsExactly(tarball);
    }
  }

  @Test
  void itsNamesAreSortedInOneFolderAndNobodysInParticular() throws Exception {
    List<String> names = tool("tar", "-tzf", tarball.toString()).out().lines().toList();
    assertThat(names).isSorted().hasSizeGreaterThan(30);
    String top = names.getFirst();
    assertThat(top).matches("hxb-.*-linux-[a-z0-9_]+/");
    assertThat(tarball.getFileName()).hasToString(top.replace("/", ".tar.gz"));
    assertThat(names)
        .allMatch(name -> name.startsWith(top))
        .contains(top + "LICENSE", top + "README.md", top + "release", top + "bin/hxb")
        .noneMatch(name -> name.contains("twin"));
    List<String> lines =
        tool("tar", "--numeric-owner", "-tvzf", tarball.toString()).out().lines().toList();
    assertThat(lines).allMatch(line -> line.matches("[d-]rw[x-]r-[x-]r-[x-] 0/0 .*"));
    assertThat(Files.readString(installation.resolve("release")))
        .contains("VERSION=\"" + Version.project() + "\"\n", "\nDPDK=\"", "\nJDK=\"25");
  }

  @Test
  void itRunsForAnyUser() throws Exception {
    ScriptRun version = run("--version");
    assertThat(version.code()).as(version.err()).isZero();
    assertThat(version.out()).startsWith("hxb " + Version.project() + "\n");
    ScriptRun sim = run("sim", "--shape", "2", "--messages", "4", "--json");
    assertThat(sim.code()).as(sim.err()).isZero();
    assertThat(sim.json().path("ok").asBoolean()).isTrue();
  }

  /** Through a link, as from /usr/local/bin. */
  @Test
  void itIsHealthyAndStartsFromTheRehearsalThatTheBuildRecorded() throws Exception {
    Path link = folder.resolve("link/bin/hxb");
    Files.createDirectories(link.getParent());
    Files.createSymbolicLink(link, installation.resolve("bin/hxb"));
    ScriptRun doctor = run(false, folder.resolve("link"), "doctor", "--json");
    assertThat(doctor.code()).as(doctor.out()).isZero();
    assertThat(finding(doctor, "native library").path("value").asText())
        .isEqualTo(installation.resolve("lib/libpmhxb.so").toString());
    assertThat(finding(doctor, "rehearsal archive").path("status").asText()).isEqualTo("ok");
    assertThat(finding(doctor, "rehearsal archive").path("value").asText())
        .isEqualTo(installation.resolve("hxb.aot").toString());
  }

  @Test
  void aClusterComesUpFromItAndGoesDown() throws Exception {
    assumeTrue(ROOT, "a cluster's files are root's here");
    Path root = folder.resolve("run");
    List<String> where = List.of("--cluster", "dist", "--run-dir", root.toString(), "--json");
    try {
      ScriptRun up = cluster(where, "up", "--fabric", "shm", "--shape", "2", "--idle", "park");
      assertThat(up.code()).as(up.err()).isZero();
      assertThat(up.err()).doesNotContain("hugepages:");
      ScriptRun status = cluster(where, "status");
      assertThat(status.code()).as(status.out()).isZero();
      assertThat(status.json().path("nodes")).hasSize(2);
      for (JsonNode node : status.json().path("nodes")) {
        assertThat(node.path("ready").asBoolean()).as(node.toString()).isTrue();
        Path maps = Path.of("/proc", node.path("pid").asText(), "maps");
        assertThat(Files.readString(maps))
            .contains(
                installation.resolve("lib/libpmhxb.so").toString(),
                installation.resolve("hxb.aot").toString());
      }
    } finally {
      ScriptRun down = cluster(where, "down");
      assertThat(down.code()).as(down.err()).isZero();
    }
    assertThat(root).doesNotExist();
  }

  private static ScriptRun cluster(List<String> where, String... words) throws Exception {
    return run(
        true, installation, Stream.concat(Stream.of(words), where.stream()).toArray(String[]::new));
  }

  @ParameterizedTest
  @ValueSource(strings = {"build", "test", "jmh", "stress", "format", "clean", "dist"})
  void whatNeedsTheSourcesIsRefused(String command) throws Exception {
    ScriptRun run = run(command, "--json");
    assertThat(run.code()).isEqualTo(Main.USAGE);
    assertThat(run.err())
        .startsWith("hxb: " + command + " needs the sources: run ./hxb " + command);
    assertThat(run.json().path("error").asText()).startsWith(command + " needs the sources");
  }

  @Test
  void helpNamesNoCommandThatBuilds() throws Exception {
    ScriptRun help = run("--help");
    assertThat(help.code()).as(help.err()).isZero();
    assertThat(help.out())
        .startsWith("Usage: hxb COMMAND")
        .contains("\n  demo ", "\n  doctor ", "\nExample: hxb doctor")
        .doesNotContain("\n  build ", "\n  test ", "\n  dist ");
    assertThat(run("help", "doctor").out()).startsWith("Usage: hxb doctor");
  }

  /**
   * A copy whose jars have other times, and whose library wants another DPDK: what to install is
   * said, and that the archive is not used.
   */
  @Test
  void whatIsMissingIsNamedWithItsPackageAndAnArchiveThatDoesNotFitIsReported() throws Exception {
    Path copy = unpack("copy");
    tool("find", copy.toString(), "-name", "*.jar", "-exec", "touch", "{}", "+");
    Path library = copy.resolve("lib/libpmhxb.so");
    String text = Files.readString(library, StandardCharsets.ISO_8859_1);
    String other = text.replaceAll("(librte_net_ring\\.so\\.)\\d\\d", "$177");
    assertThat(other).isNotEqualTo(text);
    Files.writeString(library, other, StandardCharsets.ISO_8859_1);

    ScriptRun demo = run(false, copy, "demo", "--json");
    assertThat(demo.code()).isEqualTo(Main.FAILED);
    assertThat(demo.json().path("error").asText())
        .contains(
            library + " needs librte_net_ring.so.77, which this machine lacks",
            "sudo apt-get install --no-install-recommends librte-net-ring77");
    ScriptRun doctor = run(false, copy, "doctor", "--json");
    assertThat(doctor.code()).isEqualTo(Main.FAILED);
    JsonNode finding = finding(doctor, "native library");
    assertThat(finding.path("status").asText()).isEqualTo("failure");
    assertThat(finding.path("value").asText()).contains("librte_net_ring.so.77");
    assertThat(finding.path("remedy").asText()).endsWith(" librte-net-ring77");
    JsonNode archive = finding(doctor, "rehearsal archive");
    assertThat(archive.path("status").asText()).isEqualTo("warning");
    assertThat(archive.path("remedy").asText()).contains("HXB_ARCHIVE");
  }

  /** Of a JDK of another build, say, somebody records one. */
  @Test
  void anotherArchiveIsTakenFromTheEnvironment() throws Exception {
    Path archive = Files.copy(installation.resolve("hxb.aot"), folder.resolve("own.aot"));
    ScriptRun doctor =
        ScriptRun.in(
            folder,
            Map.of("HXB_ARCHIVE", "own.aot"),
            List.of(installation.resolve("bin/hxb").toString(), "doctor", "--json"));
    assertThat(finding(doctor, "rehearsal archive").path("value").asText())
        .isEqualTo(archive.toString());
  }
}
