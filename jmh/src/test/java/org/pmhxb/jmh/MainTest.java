package org.pmhxb.jmh;

import static org.assertj.core.api.Assertions.assertThat;

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

    String line =
        printed
            .toString(StandardCharsets.UTF_8)
            .lines()
            .filter(each -> each.startsWith("TagCost.make"))
            .findFirst()
            .orElseThrow();
    String[] columns = line.replaceAll("[ !]+$", "").split(" +");
    assertThat(Double.parseDouble(columns[columns.length - 2])).as(line).isBetween(1.0, 1e6);
  }
}
