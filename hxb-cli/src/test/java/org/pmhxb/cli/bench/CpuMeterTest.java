package org.pmhxb.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CpuMeterTest {
  @TempDir private Path proc;

  private void machine(String line) throws IOException {
    Files.writeString(proc.resolve("stat"), "cpu  " + line + "\ncpu0 1 2 3\n");
  }

  private void process(long pid, long user, long system) throws IOException {
    Files.createDirectories(proc.resolve("" + pid));
    Files.writeString(
        proc.resolve(pid + "/stat"),
        pid + " (a (b) c) S 1 1 1 0 -1 0 0 0 0 0 " + user + " " + system + " 0 0 20 0 1 0 5 0\n");
  }

  @Test
  void addsUpProcessesAndTheMachinesBusyShare() throws IOException {
    CpuMeter meter = new CpuMeter(proc, () -> List.of(7L, 8L, 9L), null);
    machine("100 0 50 1000 10 0 5 0 0 0");
    process(7, 10, 5);
    process(8, 1, 1);
    meter.start();
    // 300 more ticks, of which 75 idle and waiting. What process 8, which has ended, used before
    // is not taken away again.
    machine("220 0 100 1065 20 10 20 30 0 0");
    process(7, 110, 55);
    process(9, 3, 0);
    Files.delete(proc.resolve("8/stat"));
    meter.stop();

    CpuUse use = meter.use();
    assertThat(use.processSeconds()).isEqualTo((165 + 3 - 15) / 100.0);
    assertThat(use.machineBusy()).isEqualTo(0.75);
    assertThat(use.withheld()).isEqualTo(0.1);
    assertThat(use).asString().contains("75 % of the machine's", "host withheld 10 %");
  }

  @Test
  void hasNothingToSayWithoutAnEnd() throws IOException {
    CpuMeter meter = new CpuMeter(proc, List::of, null);
    machine("1 0 0 1");
    assertThat(meter.use()).isNull();
    meter.follow(false, false);
    assertThat(meter.use()).isNull();
    meter.follow(true, false);
    assertThat(meter.use()).isNull();
    machine("2 0 0 1");
    meter.follow(true, true);
    assertThat(meter.use()).isNotNull();
  }

  @Test
  void givesTheProcessorsUsed() {
    assertThat(new CpuUse(2, 3, 1, 0, 2, null).processorsUsed()).isEqualTo(1.5);
  }
}
