package org.pmhxb.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** What comes of a figure that misses what it must reach, of any benchmark. */
class MissedBudgetTest {
  private record Found(boolean ok, List<String> missed) implements Report {
    @Override
    public void print(PrintWriter out) {
      out.println("figures");
    }
  }

  @Command(name = "pretended")
  private static final class Pretended extends HxbCommand {
    @Mixin private BudgetsOption budgets;

    private final Found found;

    Pretended(Found found) {
      this.found = found;
    }

    @Override
    protected Report run() {
      return found;
    }
  }

  @ParameterizedTest
  @CsvSource({
    "true, '', false, 0",
    "true, '', true, 0",
    "true, 'rate: 1; must be 2 at least', false, 0",
    "true, 'rate: 1; must be 2 at least', true, 1",
    "false, '', true, 1",
    "false, '', false, 1"
  })
  void failsTheCommandWhereThatIsAskedFor(boolean ok, String line, boolean required, int code) {
    List<String> missed = line.isEmpty() ? List.of() : List.of(line);
    StringWriter text = new StringWriter();
    CommandLine command = new CommandLine(new Pretended(new Found(ok, missed)));
    command.setOut(new PrintWriter(text, true));

    int ended = required ? command.execute("--require-budgets") : command.execute();

    assertThat(ended).isEqualTo(code);
    assertThat(text.toString().lines())
        .as("said either way")
        .containsExactlyElementsOf(
            missed.isEmpty() ? List.of("figures") : List.of("figures", "MISSED: " + line));
  }

  /** Minutes later there would be nothing that could be missed. */
  @ParameterizedTest
  @CsvSource({
    "packet-cost --path ack, lines",
    "packet-cost --payload 8192, lines",
    "packet-cost --burst 4, lines",
    "'contention --case relayed-rate-1,relayed-rate-2', cases",
    "'contention --case relayed-rate-0,incast-ring', cases",
    "'peers --peers iperf3,ucx', peers"
  })
  void cannotBeAskedForWhereNothingHasABudget(String benchmark, String what) {
    CommandRun run = CommandRun.of(("bench " + benchmark + " --require-budgets --json").split(" "));

    assertThat(run.code()).isEqualTo(Main.USAGE);
    assertThat(run.json().path("error").asText())
        .startsWith("--require-budgets: none of these " + what + " has a budget");
  }
}
