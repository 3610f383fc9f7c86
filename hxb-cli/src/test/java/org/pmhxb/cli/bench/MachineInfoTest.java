package org.pmhxb.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
class MachineInfoTest {
  private static final String[] HANGS = {"sh", "-c", "sleep 62; true"};

  /** Neither the command nor what it started. */
  private static void awaitNothingLeftBehind() throws InterruptedException {
    while (ProcessHandle.current().descendants().anyMatch(MachineInfoTest::isOfThisTest)) {
      Thread.sleep(5);
    }
  }

  private static boolean isOfThisTest(ProcessHandle process) {
    return process.info().commandLine().orElse("").contains("sleep 62");
  }

  @Test
  void readsTheFirstLine() {
    assertThat(MachineInfo.firstLine("sh", "-c", "echo 1.2; echo more >&2")).isEqualTo("1.2");
    assertThat(MachineInfo.firstLine("cat")).as("nothing to read").isEqualTo("unknown");
    assertThat(MachineInfo.firstLine("sh", "-c", "echo 1.2; exit 1")).isEqualTo("unknown");
    assertThat(MachineInfo.firstLine("no-such-command")).isEqualTo("unknown");
  }

  @Test
  void aCommandThatHangsIsEnded() throws InterruptedException {
    assertThat(MachineInfo.firstLine(Duration.ofMillis(300), HANGS)).isEqualTo("unknown");
    awaitNothingLeftBehind();
  }

  @Test
  void aCommandIsEndedWhenItsReaderIsInterrupted() throws InterruptedException {
    Thread.currentThread().interrupt();
    assertThat(MachineInfo.firstLine(HANGS)).isEqualTo("unknown");
    assertThat(Thread.interrupted()).isTrue();
    awaitNothingLeftBehind();
  }
}
