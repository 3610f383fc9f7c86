package org.pmhxb.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.pmhxb.router.Shape;

class WarmUpTest {
  private static final long PID = 7;

  /** More than a processor could do in the blink that a round of the test takes. */
  private static final int BUSY_TICKS = 1_000;

  @TempDir private Path proc;

  private final List<String> said = new ArrayList<>();
  private int rounds;
  private int roundsMost = Integer.MAX_VALUE;

  private void thread(int tid, String name, long user, long system) throws IOException {
    Path task = Files.createDirectories(proc.resolve(PID + "/task/" + tid));
    Files.writeString(
        task.resolve("stat"),
        "%d (%s) S 1 1 1 0 -1 0 0 0 0 0 %d %d 0 0 20 0 1 0 5 0%n"
            .formatted(tid, name, user, system));
  }

  /** A cluster whose compiler works in so many rounds. */
  private MeasuredCluster cluster(int busyRounds, long lost) {
    return new MeasuredCluster() {
      @Override
      public int rails() {
        return 1;
      }

      @Override
      public List<Long> processes() {
        return List.of(PID);
      }

      @Override
      public Benchmark.Outcome measure(
          TrafficPlan plan, int sizeBytes, long warmUpMs, long measureMs) {
        rounds++;
        try {
          thread(9, "C2 CompilerThre", BUSY_TICKS * Math.min(rounds, busyRounds), 0);
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
        return new Benchmark.Outcome(
            1, 1, 1, 1, lost, 0, 0, 0, 0, 1, 0, null, null, null, List.of(), List.of());
      }

      @Override
      public void close() {}
    };
  }

  private List<String> warmUp(MeasuredCluster cluster, Duration most)
      throws IOException, InterruptedException {
    return new WarmUp(proc, most, () -> rounds >= roundsMost, said::add)
        .run(cluster, TrafficPlan.incast(Shape.of(2), 1), 64);
  }

  @Test
  void goesOnUntilTheCompilersRest() throws Exception {
    thread(9, "C2 CompilerThre", 0, 0);
    thread(10, "poll-0", 0, 0);

    assertThat(warmUp(cluster(3, 0), Duration.ofMinutes(1))).isEmpty();

    assertThat(rounds).isEqualTo(4);
    assertThat(said).hasSize(5).first().isEqualTo("warming up, at most 60.0 s");
    assertThat(said.getLast())
        .matches("warming up, \\d+\\.\\d of at most 60.0 s; the compilers took 0 % of a processor");
  }

  @Test
  void endsInTimeWhateverTheCompilersDo() throws Exception {
    thread(9, "C2 CompilerThre", 0, 0);

    warmUp(cluster(Integer.MAX_VALUE, 0), Duration.ofMillis(1));

    assertThat(rounds).isPositive();
  }

  @Test
  void endsWithTheRoundInWhichTheSuitesTimeIsOver() throws Exception {
    thread(9, "C2 CompilerThre", 0, 0);
    roundsMost = 2;

    warmUp(cluster(Integer.MAX_VALUE, 0), Duration.ofMinutes(1));

    assertThat(rounds).isEqualTo(2);
  }

  @Test
  void reportsWhatWasLostMeanwhile() throws Exception {
    thread(9, "C1 CompilerThre", 0, 0);

    assertThat(warmUp(cluster(0, 2), Duration.ofMinutes(1)))
        .containsExactly("warming up, 2 messages were at fault");
  }

  @Test
  void onlyCompilersCountAndOnlyWhatTheyDidSinceTheLastLook() throws Exception {
    thread(1, "java", 1_000, 1_000);
    thread(8, "C1 CompilerThre", 30, 5);
    thread(9, "C2 CompilerThre", 100, 20);
    CompilerMeter meter = new CompilerMeter(proc, List.of(PID, 8L));

    assertThat(meter.look()).isEqualTo(155 * 10_000_000L);
    thread(1, "java", 2_000, 1_000);
    thread(9, "C2 CompilerThre", 103, 21);
    Files.delete(proc.resolve(PID + "/task/8/stat"));
    assertThat(meter.look()).isEqualTo(4 * 10_000_000L);
  }

  @Test
  void knowsThisProcessesCompilers() throws Exception {
    CompilerMeter meter =
        new CompilerMeter(Path.of("/proc"), List.of(ProcessHandle.current().pid()));

    assertThat(meter.look()).isPositive();
  }
}
