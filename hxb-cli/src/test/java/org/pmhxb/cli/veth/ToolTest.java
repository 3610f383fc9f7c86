package org.pmhxb.cli.veth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.cli.process.Sleep;

@Timeout(20)
class ToolTest {
  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final Sleep SLEEP = new Sleep();

  /** More than a pipe holds. */
  private static final String LONG = "a line that nobody may read\n".repeat(10_000);

  private static List<String> shell(String script) {
    return List.of("sh", "-c", script);
  }

  /** Nor by a terminal, whose Ctrl-C ends the command that takes down. */
  @Test
  void aProgramIsOfAGroupOfItsOwn() {
    // Behind the name: state, parent, group.
    String said = Tool.run("", List.of("sh", "-c", "sed 's/.*) //' /proc/$$/stat; echo $$"));
    String[] words = said.split("\\s+");
    assertThat(words[2]).isEqualTo(words[words.length - 1]);
    assertThat(words[1]).isEqualTo("" + ProcessHandle.current().pid());
  }

  @Test
  void givesTheInputAndReturnsTheOutput() {
    assertThat(Tool.run(LONG, List.of("cat"))).isEqualTo(LONG);
    assertThat(Tool.run("", List.of("cat"))).isEmpty();
  }

  /** A disk that is full, say: what a cluster leaves has to be removed all the same. */
  @Test
  void anotherFolderServesWhereOneTakesNothing(@TempDir Path folder) throws IOException {
    Path none = folder.resolve("none");

    assertThat(Tool.run(LONG, List.of("cat"), SECOND, List.of(none, folder))).isEqualTo(LONG);
    assertThatThrownBy(() -> Tool.run(LONG, List.of("cat"), SECOND, List.of(none, none)))
        .isInstanceOf(ToolException.class)
        .hasMessageContaining("no room for its input in " + none)
        .hasMessageEndingWith("make some");
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void saysWhatAFailedProgramSaid() {
    assertThatThrownBy(() -> Tool.run("", shell("echo out; echo no such link >&2; exit 3")))
        .isInstanceOf(ToolException.class)
        .hasMessageContaining("failed (code 3): no such link");
  }

  /** Silent, or busy talking, and it reads nothing of what it is told. */
  @ParameterizedTest
  @ValueSource(strings = {"", "head -c 300000 /dev/zero; ", "exec >&-; "})
  void theLimitHoldsForAProgramThatHangs(String before) {
    long startNs = System.nanoTime();
    assertThatThrownBy(() -> Tool.run(LONG, shell(before + SLEEP + "; true"), SECOND))
        .isInstanceOf(ToolException.class)
        .hasMessageContaining("no end after 1 s");
    assertThat(System.nanoTime() - startNs).isBetween(1_000_000_000L, 10_000_000_000L);
    assertThat(SLEEP.running()).isEmpty();
  }

  /** A program that leaves a child behind has ended, though the child could still write. */
  @Test
  void aChildThatOutlivesTheProgramIsNotWaitedFor() {
    assertThat(Tool.run("", shell("sleep 3 & echo done"))).isEqualTo("done\n");
  }

  /** Else they would be left behind by who is killed while a program runs. */
  @Test
  void itsFilesHaveNoNamesWhileAProgramRuns() {
    String untilDeleted = "while [ -e \"$(readlink /proc/$$/fd/2)\" ]; do sleep 0.01; done; ";
    String links = "readlink /proc/$$/fd/0 /proc/$$/fd/1 /proc/$$/fd/2";
    assertThat(Tool.run(LONG, shell(untilDeleted + links)).lines())
        .hasSize(3)
        .allMatch(link -> link.contains("/hxb-tool") && link.endsWith(" (deleted)"));
  }

  /** What it makes would else appear behind who cleans up. */
  @Test
  void anInterruptWaitsForTheEnd() {
    Thread.currentThread().interrupt();
    assertThat(Tool.run("", shell("sleep 0.2; echo done"))).isEqualTo("done\n");
    assertThat(Thread.interrupted()).isTrue();
  }
}
