package org.pmhxb.jmh;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The command line of the benchmarks, which run no measurement here. */
class MainTest {
  private final ByteArrayOutputStream said = new ByteArrayOutputStream();

  private final ByteArrayOutputStream printed = new ByteArrayOutputStream();

  private static PrintStream printingTo(ByteArrayOutputStream bytes) {
    return new PrintStream(bytes, true, StandardCharsets.UTF_8);
  }

  private int run(String... words) throws Exception {
    return Main.run(words, printingTo(printed), printingTo(said));
  }

  private String said() {
    return said.toString(StandardCharsets.UTF_8);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          NoSuchBenchmark             | No benchmarks to run
          [                           | Unclosed character class
          --nonsense                  | nonsense is not a recognized option
          -f many                     | many
          TagCost.make -prof nonsense | nonsense
          """)
  void wrongWordsAreRefusedInOneLine(String words, String message) throws Exception {
    assertThat(run(words.split(" "))).as(said()).isEqualTo(2);
    assertThat(said()).startsWith("hxb jmh: ").contains(message).doesNotContain("\tat ");
  }

  /** Nor is anything measured. */
  @ParameterizedTest
  @CsvSource({"-lprof", "-lrf", "-l", "-lp", "-h"})
  void whatIsOnlyListedIsNotRun(String option) throws Exception {
    assertThat(run(option, "NoSuchBenchmark")).as(said()).isZero();
    assertThat(said()).isEmpty();
  }

  @Test
  void aBenchmarkThatThrowsFailsTheRunWithoutATraceOfOurs() throws Exception {
    String[] words =
        "TagCost.make -jvm /nonexistent/java -f 1 -wi 0 -i 1 -r 10ms -v SILENT".split(" ");
    assertThat(run(words)).as(said()).isEqualTo(1);
    assertThat(said()).startsWith("hxb jmh: ").doesNotContain("\tat ");
  }

  /** One takes some ten nanoseconds; in microseconds, or as so many in one, it would be none. */
  @ParameterizedTest
  @CsvSource({"-tu us", "-tu ms", "-bm thrpt -tu us"})
  void theTotalIsInNanosecondsWhateverUnitIsAskedFor(String unit) throws Exception {
    String words = "TagCost.make -f 0 -wi 0 -i 1 -r 20ms -v SILENT " + unit;
    run(words.split(" ")); // so short a run may count what JMH allocates
    assertThat(said()).isEmpty();

    String[] columns = columns("TagCost.make");
    assertThat(Double.parseDouble(columns[columns.length - 2])).isBetween(1.0, 1e6);
  }

  /** Of the line of a benchmark. */
  private String[] columns(String benchmark) {
    String line =
        printed
            .toString(StandardCharsets.UTF_8)
            .lines()
            .filter(each -> each.startsWith(benchmark + " "))
            .findFirst()
            .orElseThrow();
    return line.replaceAll("[ !]+$", "").split(" +");
  }

  /** The path itself is measured, too short to say anything, but for which bounds it has. */
  @Test
  void aPathHasItsBudgetAndWhatItIsBesideC() throws Exception {
    run(
        ("RelayPath.relay -p burst=32 -p rails=2 -p payload=64 -f 0 -wi 0 -i 1 -r 20ms -v SILENT")
            .split(" "));
    assertThat(said()).isEmpty();

    // benchmark, three parameters, path, its spread, fast, +acks, generator, x C, must, aim, met
    String[] java = columns("RelayPath.relay");
    assertThat(java).as("with what has no figure as a dash").hasSizeGreaterThan(13);
    assertThat(java[6]).as("of one iteration").isIn("0/1", "1/1");
    assertThat(Double.parseDouble(java[9])).isPositive();
    assertThat(java[10]).isEqualTo("27");
    assertThat(java[11]).isEqualTo("12.5");
    assertThat(java[12]).isEqualTo(Double.parseDouble(java[4]) <= 27 ? "yes" : "NO");
    String[] c = columns("RelayPath.relayInC");
    assertThat(Double.parseDouble(java[9]))
        .isCloseTo(Double.parseDouble(java[4]) / Double.parseDouble(c[4]), withinPercentage(5));
    assertThat(c[10]).as("no budget").isEqualTo("-");
  }

  @Test
  void theTagHasOneOfItsOwn() throws Exception {
    run("TagCost.check -f 0 -wi 0 -i 1 -r 20ms -v SILENT".split(" "));
    String[] columns = columns("TagCost.check");
    assertThat(columns[columns.length - 5]).isEqualTo("80");
    assertThat(columns[columns.length - 4]).isEqualTo("25");
    assertThat(columns[columns.length - 3]).isIn("yes", "NO");
    assertThat(columns[2]).as("least..most of one iteration").matches("([0-9.]+)\\.\\.\\1");
  }
}
