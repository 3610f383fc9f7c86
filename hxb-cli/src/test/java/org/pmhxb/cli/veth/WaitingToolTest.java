package org.pmhxb.cli.veth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.pmhxb.cli.process.Sleep;

@Timeout(20)
class WaitingToolTest {
  private static final Sleep SLEEP = new Sleep();

  @AfterEach
  void leavesNothing() {
    Thread.interrupted();
    assertThat(SLEEP.running()).isEmpty();
  }

  private static List<String> shell(String script) {
    return List.of("sh", "-c", script);
  }

  /** The shell and what it started: a child that is started while the shell ends is not found. */
  private static void awaitSleep() throws InterruptedException {
    while (SLEEP.running().size() < 2) {
      Thread.sleep(5);
    }
  }

  @Test
  void doesNothingUntilItIsToldAndThenAllOfIt(@TempDir Path folder) throws Exception {
    Path done = folder.resolve("done");
    try (WaitingTool tool =
        new WaitingTool(
            shell(
                "cat > " + folder.resolve("part") + "; mv " + folder.resolve("part") + " " + done),
            "a\nb\n")) {
      Thread.sleep(100);
      assertThat(done).doesNotExist();
      tool.tell();
      assertThat(done).hasContent("a\nb\n");
    }
  }

  @Test
  void saysWhatAFailedProgramSaid() {
    try (WaitingTool tool = new WaitingTool(shell("cat; echo no such link >&2; exit 3"), "")) {
      assertThatThrownBy(tool::tell)
          .isInstanceOf(ToolException.class)
          .hasMessageContaining("failed (code 3): no such link");
    }
  }

  @Test
  void aMissingProgramIsReportedWhenItIsPrepared() {
    assertThatThrownBy(() -> new WaitingTool(List.of("hxb-no-such-program"), ""))
        .isInstanceOf(ToolException.class)
        .hasMessageContaining("hxb-no-such-program");
  }

  @Test
  void oneThatHangsIsEndedAtTheLimit() {
    WaitingTool tool = new WaitingTool(shell("cat; " + SLEEP), "", Duration.ofSeconds(1));
    assertThatThrownBy(tool::tell)
        .isInstanceOf(ToolException.class)
        .hasMessageContaining("no end after 1 s");
    assertThat(SLEEP.running()).isEmpty();
  }

  @Test
  void anInterruptEndsItAndIsKept() throws Exception {
    WaitingTool tool = new WaitingTool(shell(SLEEP + "; true"), "");
    awaitSleep();
    Thread.currentThread().interrupt();
    assertThatThrownBy(tool::tell)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("interrupted");
    assertThat(Thread.interrupted()).isTrue();
    assertThat(SLEEP.running()).isEmpty();
  }

  @Test
  void oneThatIsToldNothingEndsWhenClosed() throws Exception {
    WaitingTool tool = new WaitingTool(shell(SLEEP + "; true"), "");
    awaitSleep();
    tool.close();
    assertThat(SLEEP.running()).isEmpty();
  }
}
