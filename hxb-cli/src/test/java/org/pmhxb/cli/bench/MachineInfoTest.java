package org.pmhxb.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.pmhxb.cli.process.Sleep;

@Timeout(20)
class MachineInfoTest {
  private static final Sleep SLEEP = new Sleep();

  @Test
  void readsTheFirstLine() {
    assertThat(MachineInfo.firstLine("sh", "-c", "echo 1.2; echo more >&2")).isEqualTo("1.2");
    assertThat(MachineInfo.firstLine("cat")).as("nothing to read").isEqualTo("unknown");
    assertThat(MachineInfo.firstLine("sh", "-c", "echo 1.2; exit 1")).isEqualTo("unknown");
    assertThat(MachineInfo.firstLine("no-such-command")).isEqualTo("unknown");
  }

  @Test
  void aCommandThatHangsIsEnded() {
    String[] hangs = {"sh", "-c", SLEEP + "; true"};
    assertThat(MachineInfo.firstLine(Duration.ofMillis(300), hangs)).isEqualTo("unknown");
    assertThat(SLEEP.running()).isEmpty();
  }

  @Test
  void aCommandIsEndedWhenItsReaderIsInterrupted() {
    Thread.currentThread().interrupt();
    assertThat(MachineInfo.firstLine("sh", "-c", "exec " + SLEEP)).isEqualTo("unknown");
    assertThat(Thread.interrupted()).isTrue();
    assertThat(SLEEP.running()).isEmpty();
  }
}
