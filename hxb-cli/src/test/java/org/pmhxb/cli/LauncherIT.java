package org.pmhxb.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.cli.cluster.NodeJvm;
import org.pmhxb.cli.process.ProcStat;
import org.pmhxb.cli.process.ProcessTree;

/** The script {@code hxb}, and a program that is built as README.md says. */
@Tag("beside-others")
class LauncherIT {
  private static final Path HOME = Path.of(System.getProperty("hxb.home"));

  @ParameterizedTest
  @ValueSource(strings = {"build", "test", "jmh", "stress", "format", "clean", "dist"})
  void ownCommandsHaveHelpWithAnExample(String command, @TempDir Path folder) throws Exception {
    ScriptRun ran = ScriptRun.in(folder, HOME.resolve("hxb").toString(), command, "--help");
    assertThat(ran.code()).as(ran.err()).isZero();
    assertThat(ran.out()).startsWith("Usage: hxb " + command).contains("Example: hxb " + command);
    assertThat(ran.err()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"stress", "demo", "bench bandwidth"})
  void helpWithACommandIsThatCommands(String command, @TempDir Path folder) throws Exception {
    ScriptRun ran = ScriptRun.in(folder, (HOME.resolve("hxb") + " help " + command).split(" "));
    assertThat(ran.code()).as(ran.err()).isZero();
    assertThat(ran.out()).startsWith("Usage: hxb " + command).contains("Example: hxb " + command);
  }

  @ParameterizedTest
  @ValueSource(strings = {"build", "format", "clean"})
  void whatTakesNoArgumentsSaysSo(String command, @TempDir Path folder) throws Exception {
    ScriptRun ran = ScriptRun.in(folder, HOME.resolve("hxb").toString(), command, "nonsense");
    assertThat(ran.code()).isEqualTo(Main.USAGE);
    assertThat(ran.err())
        .isEqualTo(
            "hxb: %1$s takes no arguments, not: nonsense\nSee: hxb %1$s --help\n"
                .formatted(command));
    assertThat(ran.out()).isEmpty();
  }

  /** JMH would take the second for a pattern. */
  @ParameterizedTest
  @ValueSource(strings = {"jmh foo", "test foo", "build foo"})
  void helpTakesOneOfItsOwnCommands(String words, @TempDir Path folder) throws Exception {
    ScriptRun ran = ScriptRun.in(folder, (HOME.resolve("hxb") + " help " + words).split(" "));
    assertThat(ran.code()).isEqualTo(Main.USAGE);
    assertThat(ran.err())
        .contains("help takes one command, not: " + words, "\nSee: hxb " + words.split(" ")[0]);
    assertThat(ran.out()).isEmpty();
  }

  @Test
  void helpIsFoundBehindOtherWords(@TempDir Path folder) throws Exception {
    ScriptRun ran = ScriptRun.in(folder, HOME.resolve("hxb").toString(), "jmh", "foo", "--help");
    assertThat(ran.code()).as(ran.err()).isZero();
    assertThat(ran.out()).startsWith("Usage: hxb jmh");
    ran = ScriptRun.in(folder, HOME.resolve("hxb").toString(), "clean", "foo", "--help");
    assertThat(ran.code()).isEqualTo(Main.USAGE);
    assertThat(ran.err()).contains("clean takes no arguments, not: foo");
  }

  @ParameterizedTest
  @ValueSource(strings = {"nonsense", "--output", "--output=README.md"})
  void whatDistDoesNotTakeItSays(String words, @TempDir Path folder) throws Exception {
    Files.createFile(folder.resolve("README.md"));
    ScriptRun ran = ScriptRun.in(folder, HOME.resolve("hxb").toString(), "dist", "--json", words);
    assertThat(ran.code()).isEqualTo(Main.USAGE);
    assertThat(ran.err()).contains(words.replace("=", " is ")).endsWith("See: hxb dist --help\n");
    assertThat(ran.json().path("ok").asBoolean(true)).isFalse();
    assertThat(ran.err()).contains(ran.json().path("error").asText());
  }

  /** Not where {@code cd} would go first. */
  @Test
  void distPacksIntoTheFolderThatWasNamed(@TempDir Path temporary) throws Exception {
    Path folder = temporary.toRealPath();
    String script =
        """
        source "$1"
        export CDPATH="$PWD/elsewhere"
        mkdir -p elsewhere/out out
        for output in out -; do (dist_words --output "$output" && echo "$OUTPUT"); done
        """;
    String hxb = HOME.resolve("hxb").toString();
    ScriptRun ran = ScriptRun.in(folder, "bash", "-c", script, "bash", hxb);
    assertThat(ran.out().lines())
        .as(ran.err())
        .containsExactly(folder.resolve("out").toString(), folder.resolve("-").toString());
  }

  @ParameterizedTest
  @ValueSource(strings = {"hxb", "dist/hxb"})
  void anEmptyCommandIsOneJsonObjectToo(String launcher, @TempDir Path folder) throws Exception {
    ScriptRun ran = ScriptRun.in(folder, HOME.resolve(launcher).toString(), "", "--json");
    assertThat(ran.code()).as(ran.err()).isEqualTo(Main.USAGE);
    assertThat(ran.json().path("error").asText())
        .isEqualTo("name a command: hxb --help lists them");
  }

  /** That of an ordinary user of Debian, and of who became root by su, has no folder of tc. */
  @ParameterizedTest
  @CsvSource({
    "/usr/bin:/bin, /usr/bin:/bin:/usr/sbin:/sbin",
    "/sbin:/bin, /sbin:/bin:/usr/sbin",
    "/usr/sbin:/usr/bin:/sbin:/bin, /usr/sbin:/usr/bin:/sbin:/bin"
  })
  void toolsOfTheSystemAreFoundByEachPath(String given, String used, @TempDir Path folder)
      throws Exception {
    String script = "PATH=$2; source \"$1\"; echo \"$PATH\"";
    String hxb = HOME.resolve("hxb").toString();
    ScriptRun ran = ScriptRun.in(folder, "bash", "-c", script, "bash", hxb, given);
    assertThat(ran.code()).as(ran.err()).isZero();
    assertThat(ran.out()).isEqualTo(used + "\n");
  }

  /** Of a machine with 10 pages, of which one is free; meanwhile somebody else reserves 5. */
  @Test
  void aTestRunGivesBackTheHugepagesThatItAddedAndNoOthers(@TempDir Path folder) throws Exception {
    Path pages = Files.writeString(folder.resolve("nr_hugepages"), "10\n");
    String script =
        """
        source "$1"
        HUGEPAGES_FILE=nr_hugepages HUGEPAGES_WANTED=4
        meminfo() { case "$1" in HugePages_Free) echo 1 ;; Hugepagesize) echo 2048 ;; *) echo 99999999 ;; esac; }
        restore_hugepages
        ensure_hugepages
        cat "$HUGEPAGES_FILE"
        echo 18 >"$HUGEPAGES_FILE"
        restore_hugepages
        """;
    String hxb = HOME.resolve("hxb").toString();
    ScriptRun ran = ScriptRun.in(folder, "bash", "-c", script, "bash", hxb);
    assertThat(ran.code()).as(ran.err()).isZero();
    assertThat(ran.out()).isEqualTo("13\n");
    assertThat(ran.err()).contains("reserved hugepages: 10 -> 13", "hugepages put back: 15");
    assertThat(pages).hasContent("15");
  }

  /** The kernel stops early, and has said of a part that it is there. */
  @Test
  void aTestRunThatIsToldToEndWhileItAddsHugepagesGivesThemBack(@TempDir Path folder)
      throws Exception {
    Path pages = Files.writeString(folder.resolve("nr_hugepages"), "10\n");
    String script =
        """
        source "$1"
        HUGEPAGES_FILE=nr_hugepages HUGEPAGES_WANTED=4
        meminfo() { case "$1" in HugePages_Free) echo 1 ;; Hugepagesize) echo 2048 ;; *) echo 99999999 ;; esac; }
        told() { [ "$BASH_COMMAND" != count_hugepages_added ] || { trap - DEBUG; echo 12 >"$HUGEPAGES_FILE"; exit 143; }; }
        trap restore_hugepages EXIT
        set -T
        trap told DEBUG
        ensure_hugepages
        """;
    String hxb = HOME.resolve("hxb").toString();
    ScriptRun ran = ScriptRun.in(folder, "bash", "-c", script, "bash", hxb);
    assertThat(ran.code()).as(ran.err()).isEqualTo(143);
    assertThat(ran.err()).contains("hugepages put back: 10");
    assertThat(pages).hasContent("10");
  }

  @ParameterizedTest
  @ValueSource(strings = {"abc", "-5", "1048577", "99999999999999999999"})
  void aNumberOfHugepagesThatIsNoneIsRefused(String value, @TempDir Path folder) throws Exception {
    String script = "source \"$1\"; look_for_json --json; HUGEPAGES_WANTED=$2 ensure_hugepages";
    String hxb = HOME.resolve("hxb").toString();
    ScriptRun ran = ScriptRun.in(folder, "bash", "-c", script, "bash", hxb, value);
    assertThat(ran.code()).isEqualTo(Main.USAGE);
    assertThat(ran.err()).contains("HXB_HUGEPAGES is " + value, "0..1048576");
    assertThat(ran.json().path("ok").asBoolean(true)).isFalse();
  }

  @Test
  void aLogLevelThatIsNoneIsRefused(@TempDir Path folder) throws Exception {
    String script = "source \"$1\"; look_for_json --json; HXB_LOG=$2 check_log_level && echo fine";
    String hxb = HOME.resolve("hxb").toString();
    ScriptRun ran = ScriptRun.in(folder, "bash", "-c", script, "bash", hxb, "LOUD");
    assertThat(ran.code()).isEqualTo(Main.USAGE);
    assertThat(ran.err()).contains("HXB_LOG is LOUD; must be one of OFF, ERROR, WARN, INFO");
    assertThat(ran.json().path("ok").asBoolean(true)).isFalse();
    ScriptRun blind = ScriptRun.in(folder, "bash", "-c", script, "bash", hxb, "DEBUG\r\u001b");
    assertThat(blind.json().path("error").asText()).startsWith("HXB_LOG is DEBUG??; must");
    for (String fine : List.of("debug", "")) {
      assertThat(ScriptRun.in(folder, "bash", "-c", script, "bash", hxb, fine).out())
          .isEqualTo("fine\n");
    }
  }

  /** What an installation consists of, under a name with an umlaut, which this JVM may not read. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "LC_ALL=C",
        "LANG=",
        "LC_CTYPE=POSIX",
        "LC_ALL=xx_XX.UTF-8",
        "LANG=xx_XX.UTF-8",
        "LANG=C.UTF-8 LC_TIME=xx_XX.UTF-8"
      })
  void pathsMayHaveAnyLettersInTheLocaleC(String locale, @TempDir Path folder) throws Exception {
    String script =
        """
        home=$'\\303\\244 b'
        mkdir -p "$home/bin" && cp "$1/dist/hxb" "$home/bin" && cp -r "$1/scripts" "$home"
        ln -s "$1/hxb-cli/target/hxb-cli.jar" "$1/hxb-cli/target/lib" "$home"
        unset LC_ALL LC_CTYPE LANG
        env $2 "$home/bin/hxb" doctor --json --config $'\\303\\266.toml'
        """;
    ScriptRun ran = ScriptRun.in(folder, "bash", "-c", script, "bash", HOME.toString(), locale);
    assertThat(ran.code()).as(ran.err()).isEqualTo(Main.USAGE);
    assertThat(ran.json().path("error").asText()).startsWith("\u00f6.toml: ");
  }

  /** It has digits of its own. */
  @Test
  void numbersAreWrittenAlikeInEveryLanguage(@TempDir Path folder) throws Exception {
    String script =
        """
        export JDK_JAVA_OPTIONS="-Duser.language=fa -Duser.country=IR"
        "$1" sim --shape 2 --seeds 1..2 --messages 10
        """;
    ScriptRun ran =
        ScriptRun.in(folder, "bash", "-c", script, "bash", HOME.resolve("hxb").toString());
    assertThat(ran.code()).as(ran.err()).isEqualTo(Main.OK);
    assertThat(ran.out()).contains("2").matches("\\p{ASCII}*");
  }

  @Test
  void aResultThatCannotBeWrittenIsAFailure(@TempDir Path folder) throws Exception {
    String script = "\"$1\" sim --help >/dev/full";
    ScriptRun ran =
        ScriptRun.in(folder, "bash", "-c", script, "bash", HOME.resolve("hxb").toString());
    assertThat(ran.code()).as(ran.err()).isEqualTo(Main.FAILED);
    assertThat(ran.err()).contains("hxb: standard output could not be written: ");
  }

  /** Maven's place is taken by a script whose child would go on for a minute. */
  @ParameterizedTest
  @CsvSource({"INT, 130", "TERM, 143", "HUP, 129"})
  void aBuildThatIsInterruptedEndsWithAllThatItStarted(
      String signal, int code, @TempDir Path folder) throws Exception {
    Path mvn =
        Files.writeString(folder.resolve("mvn"), "#!/bin/sh\nsleep 60 &\necho $! >sleeper\nwait\n");
    assertThat(mvn.toFile().setExecutable(true)).isTrue();
    String script =
        """
        source "$1"
        HXB_HOME="$PWD" PATH="$PWD:$PATH" STAMP=stamp JSON=1
        fingerprint() { echo new; }
        (until [ -s sleeper ]; do sleep 0.05; done; kill -s "$2" $$) &
        trap 'echo cleaned' EXIT
        ensure_built
        """;
    String hxb = HOME.resolve("hxb").toString();
    // Who runs the tests in the background has SIGINT ignored, and no script could ask for it.
    ScriptRun ran =
        ScriptRun.in(
            folder, "env", "--default-signal=INT,HUP", "bash", "-c", script, "bash", hxb, signal);
    assertThat(ran.code()).as(ran.err()).isEqualTo(code);
    assertThat(ran.err()).endsWith("hxb: interrupted\ncleaned\n");
    assertThat(ran.out()).isEmpty();
    long sleeper = Long.parseLong(Files.readString(folder.resolve("sleeper")).strip());
    assertThat(ProcStat.ofProcess(Path.of("/proc"), sleeper).filter(stat -> !stat.hasEnded()))
        .isEmpty();
  }

  /** A word that is no command, and what builds no pool, reserves no pages. */
  @Test
  void hugepagesAreForCommandsThatBuildAPool(@TempDir Path folder) throws Exception {
    List<String> without = List.of("doctor", "status", "down", "sim", "fuzz");
    List<String> words = new ArrayList<>(Main.commands().getSubcommands().keySet());
    words.removeAll(without);
    assertThat(words).hasSizeGreaterThan(8);
    String script =
        """
        source "$1"
        for word in "${@:2}"; do
          set -- $word
          if needs_pool "$@" --json; then echo "$word"; fi
          if needs_pool "$1" --help; then echo "$word --help"; fi
        done
        """;
    List<String> asked = new ArrayList<>(words);
    asked.addAll(without);
    asked.addAll(List.of("dmo", "--shape", "bench grid", "mpirun --version", "mpirun -- App -h"));
    words.add("mpirun -- App -h");
    assertThat(chosen(folder, script, asked)).containsExactlyElementsOf(words);
  }

  /** Lines that a script prints which has {@code hxb} and words as its arguments. */
  private static List<String> chosen(Path folder, String script, List<String> words)
      throws Exception {
    List<String> command =
        new ArrayList<>(List.of("bash", "-c", script, "bash", HOME.resolve("hxb").toString()));
    command.addAll(words);
    ScriptRun ran = ScriptRun.in(folder, command.toArray(String[]::new));
    assertThat(ran.code()).as(ran.err()).isZero();
    return ran.out().lines().toList();
  }

  /**
   * The second compiler is for JVMs that carry frames, those of {@code hxb up}'s nodes included.
   */
  @Test
  void commandsThatCarryNoFramesDoWithoutTheSecondCompiler(@TempDir Path folder) throws Exception {
    String script =
        """
        source "$1"
        for word in "${@:2}"; do
          if carries_no_frames "$word"; then echo "$word"; fi
        done
        """;
    List<String> words = new ArrayList<>(Main.commands().getSubcommands().keySet());
    words.addAll(List.of("--version", "dmo", ""));
    assertThat(chosen(folder, script, words))
        .containsExactlyInAnyOrder("up", "status", "down", "doctor", "--version");
  }

  /** README.md's program and the lines that run it, in a folder that looks like a clone. */
  @Test
  void theExampleRunsAsReadmeSaysAndLeavesNothingForGit(@TempDir Path folder) throws Exception {
    Path clone = Files.createDirectory(folder.resolve("clone"));
    for (String part : List.of("hxb-cli", "scripts", "native")) {
      Files.createSymbolicLink(clone.resolve(part), HOME.resolve(part));
    }
    Path hello = Files.createDirectories(clone.resolve("target/hello"));
    Files.writeString(hello.resolve("Hello.java"), ReadmeTest.block("java"));
    String readme = Files.readString(HOME.resolve("README.md"));
    Matcher lines = Pattern.compile(" {4}node\\(\\) .*\n(?: {4}.*\n)+").matcher(readme);
    assertThat(lines.find()).as("the lines that run it").isTrue();

    Path out = folder.resolve("out");
    Process process =
        new ProcessBuilder("bash", "-c", lines.group())
            .directory(clone.toFile())
            .redirectErrorStream(true)
            .redirectOutput(out.toFile())
            .start();
    assertThat(ProcessTree.awaitOrEnd(process, Duration.ofMinutes(2)))
        .as(Files.readString(out))
        .isTrue();

    assertThat(Files.readAllLines(out)).containsExactlyInAnyOrder("0: 42", "1: 42");
    try (Stream<Path> left = Files.list(clone)) {
      assertThat(left.map(p -> p.getFileName().toString()))
          .containsExactlyInAnyOrder("hxb-cli", "scripts", "native", "target");
    }
    assertThat(Files.readAllLines(HOME.resolve(".gitignore"))).contains("target/");
    for (String part : List.of("hxb-cli", "scripts", "native")) {
      Files.delete(clone.resolve(part)); // the folder's removal would warn of links that lead out
    }
  }

  /** SIGTERM is how a supervisor ends a node: nothing went wrong, and the result is printed. */
  @Test
  void aNodeThatIsAskedToEndReportsAndSucceeds(@TempDir Path folder) throws Exception {
    Path config =
        Files.writeString(
            folder.resolve("node.toml"),
            """
            key = "ends"
            shape = "2"
            coordinates = [0]
            [[rail]]
            dimension = "x"
            index = 0
            driver = "memif"
            device = "memif0"
            socket = "ends-%d"
            role = "server"
            """
                .formatted(ProcessHandle.current().pid()));
    Path out = folder.resolve("out");
    Path err = folder.resolve("err");
    List<String> command = new ArrayList<>(NodeJvm.command(Main.class.getName()));
    command.addAll(List.of("node", "--config", config.toString(), "--json"));
    Process process =
        new ProcessBuilder(command)
            .redirectOutput(out.toFile())
            .redirectError(err.toFile())
            .start();
    try {
      for (int i = 0; i < 600 && !Files.readString(err).contains("runs as process"); i++) {
        assertThat(process.isAlive()).as(Files.readString(err)).isTrue();
        Thread.sleep(50);
      }
      process.destroy();
      assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
    } finally {
      process.destroyForcibly();
    }
    assertThat(process.exitValue()).as(Files.readString(err)).isEqualTo(Main.OK);
    assertThat(Files.readString(out)).isEqualTo("{\"ok\":true,\"nodes\":[0]}\n");
    assertThat(Files.readString(err)).contains("node 0 ends");
  }

  /** Its words are read without a command line's parser, its errors told as hxb node tells them. */
  @Test
  void aClustersNodeTellsWhatIsWrongAsTheCommandDoes(@TempDir Path folder) throws Exception {
    Path wrong = Files.writeString(folder.resolve("node.toml"), "shape = \"0\"\n");
    List<String> command = new ArrayList<>(UpCommand.nodeCommand());
    command.addAll(List.of("--config", wrong.toString()));
    ScriptRun refused = ScriptRun.in(folder, command.toArray(String[]::new));
    CommandRun asCommand = CommandRun.of("node", "--config", wrong.toString());
    assertThat(refused.code()).isEqualTo(Main.USAGE).isEqualTo(asCommand.code());
    assertThat(refused.err()).startsWith("hxb node: ").isEqualTo(asCommand.err());
    assertThat(refused.out()).isEmpty();

    command.addLast("--json");
    ScriptRun words = ScriptRun.in(folder, command.toArray(String[]::new));
    assertThat(words.code()).isEqualTo(Main.FAILED);
    assertThat(words.err()).contains("takes --config FILE").contains("--json");
  }

  /** Chronicle logs by SLF4J: a program of one's own must not be flooded with DEBUG lines. */
  @Test
  void aProgramBuiltAsReadmeSaysLogsNothing(@TempDir Path folder) throws Exception {
    Files.writeString(
        folder.resolve("Hello.java"),
        """
        import net.openhft.chronicle.bytes.Bytes;
        import org.slf4j.LoggerFactory;

        public class Hello {
          public static void main(String[] words) {
            Bytes<?> bytes = Bytes.allocateElasticDirect(64);
            bytes.writeLong(42);
            LoggerFactory.getLogger(Hello.class).info("not shown");
            LoggerFactory.getLogger(Hello.class).warn("shown");
            System.out.println(bytes.readLong());
            bytes.releaseLast();
          }
        }
        """,
        StandardCharsets.UTF_8);
    String jar = HOME.resolve("hxb-cli/target/hxb-cli.jar").toString();
    String bin = Path.of(System.getProperty("java.home"), "bin").toString();
    ScriptRun compiled = ScriptRun.in(folder, bin + "/javac", "-cp", jar, "-d", ".", "Hello.java");
    assertThat(compiled.code()).as(compiled.err()).isZero();
    List<String> command = new ArrayList<>(List.of(bin + "/java"));
    command.add("@" + HOME.resolve("scripts/jvm.args"));
    command.addAll(List.of("-cp", ".:" + jar, "Hello"));
    ScriptRun ran = ScriptRun.in(folder, command.toArray(String[]::new));
    assertThat(ran.code()).as(ran.err()).isZero();
    assertThat(ran.out()).isEqualTo("42\n");
    assertThat(ran.err().lines()).singleElement().asString().endsWith("WARN  Hello: shown");
  }
}
