package org.pmhxb.cli.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ProcStatTest {
  private static final Path PROC = Path.of("/proc");

  @TempDir private Path proc;

  private void file(String line) throws IOException {
    Files.createDirectories(proc.resolve("7"));
    Files.writeString(proc.resolve("7/stat"), line);
  }

  @Test
  void readsTheFieldsBehindANameThatHoldsSpacesAndBrackets() throws IOException {
    file("7 (a (b) c) S 1 5 6 0 -1 4194560 10 11 12 13 140 150 16 17 20 0 3 0 2200 23 24\n");

    assertThat(ProcStat.ofProcess(proc, 7)).contains(new ProcStat("a (b) c", 'S', 5, 6, 290, 2200));
  }

  @ParameterizedTest
  @CsvSource({"S, false", "R, false", "D, false", "T, false", "Z, true", "X, true"})
  void aZombieHasEnded(char state, boolean ended) {
    assertThat(new ProcStat("java", state, 1, 1, 1, 1).hasEnded()).isEqualTo(ended);
  }

  @ParameterizedTest
  @CsvSource({"S, 2200, true", "S, 2199, false", "Z, 2200, false"})
  void aLaterProcessWithItsNumberIsAnotherOne(char state, long startTicks, boolean running)
      throws IOException {
    file("7 (java) " + state + " 1 7 7 0 -1 0 0 0 0 0 1 1 0 0 20 0 3 0 2200 23 24\n");

    assertThat(ProcStat.isRunning(proc, 7, startTicks)).isEqualTo(running);
    assertThat(ProcStat.isRunning(proc, 8, startTicks)).isFalse();
  }

  @Test
  void whatIsNotThereIsEmpty() {
    assertThat(ProcStat.ofProcess(proc, 7)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "7", "7 (java)", "7 (java) S 1 2 3", "7 (a) S 1 1 1 0 -1 0 0 0 0 0 x"})
  void whatIsNoStatFileIsNamed(String line) throws IOException {
    file(line);

    assertThatThrownBy(() -> ProcStat.ofProcess(proc, 7))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("7/stat")
        .hasMessageContaining('"' + line + '"');
  }

  @Test
  void knowsThisProcessAndItsFirstThread() {
    long pid = ProcessHandle.current().pid();
    ProcStat process = ProcStat.ofProcess(PROC, pid).orElseThrow();
    ProcStat thread = ProcStat.of(Path.of("/proc/%d/task/%d".formatted(pid, pid))).orElseThrow();

    assertThat(process.hasEnded()).isFalse();
    assertThat(process.cpuTicks()).isPositive();
    assertThat(process.startTicks()).isPositive();
    assertThat(thread.startTicks()).isEqualTo(process.startTicks());
  }
}
