package org.pmhxb.mpi.launch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.PrintStream;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.pmhxb.router.Shape;

/** MPJ itself over the device: programs as a user writes them. */
class RingJobTest {
  private static URL[] path() throws Exception {
    List<URL> urls = new ArrayList<>();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
      urls.add(Path.of(entry).toUri().toURL());
    }
    return urls.toArray(URL[]::new);
  }

  /** What MPJ prints of the exceptions that it throws is shown only where a test fails. */
  private record Ended(int code, String errors) {}

  private static Ended run(String shape, int ranks, String program, String... args)
      throws Exception {
    return run(shape, ranks, 60_000, program, args);
  }

  private static Ended run(
      String shape, int ranks, int startLimitMs, String program, String... args) throws Exception {
    Shape s = Shape.parse(shape);
    PrintStream before = System.err;
    ByteArrayOutputStream errors = new ByteArrayOutputStream();
    System.setErr(RankOutput.over(new PrintStream(errors, true, StandardCharsets.UTF_8), ranks));
    int code;
    try (RingJob job = new RingJob(s, 1, Placement.LINES.nodes(s, ranks))) {
      job.awaitComplete();
      Program all = new Program("mpiprograms." + program, args);
      code = job.run(all, path(), startLimitMs * 1_000_000L);
      for (int rank = 0; rank < ranks; rank++) {
        assertThat(job.engine(rank).counters().malformed()).isZero();
      }
    } finally {
      System.setErr(before);
    }
    return new Ended(code, errors.toString(StandardCharsets.UTF_8));
  }

  private static void runsWell(String shape, int ranks, String program, String... args)
      throws Exception {
    Ended end = run(shape, ranks, program, args);
    assertThat(end.code).as(end.errors).isZero();
  }

  @ParameterizedTest
  @CsvSource({"2, 2", "3, 3", "2x2x2, 8"})
  void pointToPoint(String shape, int ranks) throws Exception {
    runsWell(shape, ranks, "PointToPoint", "one", "two");
  }

  @ParameterizedTest
  @CsvSource({"3, 3", "2x2x2, 8"})
  void collectives(String shape, int ranks) throws Exception {
    runsWell(shape, ranks, "Collectives");
  }

  @Test
  void aRankEndsWithTheThreadsThatItsMainMethodLeft() throws Exception {
    runsWell("2", 2, "Lingers");
    for (int rank = 0; rank < 2; rank++) {
      assertThat(System.clearProperty("lingers." + rank)).isEqualTo("done");
    }
  }

  @Test
  void mistakesAreExceptionsThatUsersKnow() throws Exception {
    runsWell("2", 2, "Mistakes");
  }

  @Test
  void theFailureOfARankEndsTheJobWithItsReason() throws Exception {
    Ended end = run("3", 3, "Dies");
    assertThat(end.code).isEqualTo(1);
    assertThat(end.errors)
        .contains("[1] java.lang.IllegalStateException: rank one has had enough")
        .contains("hxb: rank 1 failed")
        .doesNotContain("poll thread has ended");
  }

  /** Its node goes on, so nobody would hear of it. */
  @Test
  @Timeout(60)
  void aRankThatReturnsWithoutFinalizeEndsTheJobByName() throws Exception {
    Ended end = run("3", 3, "Leaves");
    assertThat(end.code).isEqualTo(1);
    assertThat(end.errors)
        .contains("hxb: rank 1 has returned from its main method without MPI.Finalize");
  }

  /** What the first MPI.Init sent and asked for is the second's. */
  @Test
  @Timeout(60)
  void aRankWhoseTimeIsUpMayCallInitAgain() throws Exception {
    Ended end = run("3", 3, 300, "Late");
    assertThat(end.code).as(end.errors).isZero();
  }

  @Test
  void aProgramThatNeverCallsMpiEndsWell() throws Exception {
    runsWell("2", 2, "Silent");
  }
}
