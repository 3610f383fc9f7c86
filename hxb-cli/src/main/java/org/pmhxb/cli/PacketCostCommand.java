package org.pmhxb.cli;

import java.io.IOException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.pmhxb.cli.bench.MachineInfo;
import org.pmhxb.cli.bench.MarkedSection;
import org.pmhxb.cli.bench.PacketCostReport;
import org.pmhxb.cli.bench.PacketCostReport.Line;
import org.pmhxb.cli.bench.PacketCostSuite;
import org.pmhxb.cli.bench.ProjectFolder;
import org.pmhxb.cost.Budget;
import org.pmhxb.cost.Measurement.Effort;
import org.pmhxb.cost.Path;
import org.pmhxb.cost.Scenario;
import org.pmhxb.cost.StandardScenarios;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What a packet costs the production node, beside the same steps in C. */
@Command(
    name = "packet-cost",
    description = {
      "Measure the cost of a packet by path (receive, send, relay, ack), in turn with the same steps"
          + " in C over the same rings and buffers.",
      "Beside send, a line send+acks says what it takes with the peers' acknowledgements, in the"
          + " same rounds.",
      "The run counts when both delivered, emitted and counted the same and the Java side allocated"
          + " less than 0.01 B per packet. Takes under 2 minutes."
    },
    footer = {
      "",
      "Example: hxb bench packet-cost",
      "Example: hxb bench packet-cost --path receive,relay --burst 1,32 --peers 1 --json"
    })
final class PacketCostCommand extends HxbCommand {
  /** Of a page, where the table stands. */
  private static final String SECTION = "packet-cost";

  @Option(
      names = "--path",
      paramLabel = "PATH",
      split = ",",
      description = "receive, send, relay, ack. Default: all.")
  private List<Path> paths;

  @Option(
      names = "--burst",
      paramLabel = "N",
      split = ",",
      description =
          "Frames at a time, 1 to 64. This, --rails, --peers or --payload: every combination of"
              + " them is measured instead of the standard ones; those left out are 32, 1, 1, 64.")
  private List<Integer> bursts;

  @Option(
      names = "--rails",
      paramLabel = "R",
      split = ",",
      description = "Rails of a line, of a relay's each dimension; 1 to 9.")
  private List<Integer> rails;

  @Option(
      names = "--peers",
      paramLabel = "P",
      split = ",",
      description = "Peers that take turns, 1 to 2560; a relay knows none.")
  private List<Integer> peers;

  @Option(
      names = "--payload",
      paramLabel = "BYTES",
      split = ",",
      description = "8 to 8192. Budgets are for 64.")
  private List<Integer> payloads;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "10",
      description = {
        "Rounds of each side, 5 to 1000, a fifth of them, rounded up, in each of the five times that",
        "a line is set up. Where the machine was slower than it can be in three of these, in more than",
        "nine of ten batches of either side, they are made again at the end, in three tenths of the",
        "time so far."
      })
  private int rounds;

  @Option(
      names = "--round-ms",
      paramLabel = "MS",
      defaultValue = "60",
      description = "Length of a round.")
  private int roundMs;

  @Option(
      names = "--warm-up-ms",
      paramLabel = "MS",
      defaultValue = "1500",
      description = {
        "Running in a set-up of its own before the first round: so long at least, and up to four",
        "times as long while the JVM still compiles. In those that are measured, a round's length, up",
        "to 16 times."
      })
  private int warmUpMs;

  @Mixin private BudgetsOption budgets;

  @Option(
      names = "--into",
      paramLabel = "PAGE",
      split = ",",
      description =
          "Also write the table into these pages, between the lines <!-- packet-cost -->.")
  private List<java.nio.file.Path> pages;

  @Override
  protected Report run() throws IOException, InterruptedException {
    if (ProjectFolder.isInstallation()) {
      throw wrongUsage(
          "the twin in C, libhxbtwin.so, is compiled for one processor, so no installation has it;"
              + " run hxb bench packet-cost in a checkout");
    }
    range("--rounds", rounds, 5, 1_000);
    range("--round-ms", roundMs, 1, 60_000);
    range("--warm-up-ms", warmUpMs, 0, 600_000);
    checkPages();
    List<Scenario> scenarios = scenarios();
    requireSomeBudget(
        scenarios.stream().anyMatch(s -> Budget.of(s).isPresent()),
        "lines",
        "there are some for 64 B: of receive in bursts of 32 or more, and of 1 for up to 100 peers;"
            + " of send for up to 100 peers, and of relay, in bursts of 32 or more");
    long startNs = System.nanoTime();
    List<Line> lines = measure(scenarios);
    PacketCostReport report =
        PacketCostReport.of(
            MachineInfo.here(Version.project()).line(),
            command(),
            Instant.now().truncatedTo(ChronoUnit.SECONDS).toString(),
            Math.round((System.nanoTime() - startNs) / 1e8) / 10.0,
            lines);
    if (pages != null && report.ok()) {
      for (java.nio.file.Path page : pages) {
        MarkedSection.replace(page, SECTION, report.markdown());
      }
    }
    return report;
  }

  /** Before minutes are spent on what is to stand in them. */
  private void checkPages() throws IOException {
    for (java.nio.file.Path page : pages == null ? List.<java.nio.file.Path>of() : pages) {
      file("--into", page);
      String objection = MarkedSection.objection(page, SECTION);
      if (objection != null) {
        throw wrongUsage("--into names " + objection);
      }
    }
  }

  private List<Scenario> scenarios() {
    List<Path> wanted = paths == null ? List.of(Path.values()) : paths;
    if (bursts == null && rails == null && peers == null && payloads == null) {
      return StandardScenarios.of(wanted);
    }
    try {
      return StandardScenarios.combinations(
          wanted, or(bursts, 32), or(rails, 1), or(peers, 1), or(payloads, 64));
    } catch (IllegalArgumentException e) {
      throw wrongUsage("--" + e.getMessage()); // begins with the parameter's name
    }
  }

  private static List<Integer> or(List<Integer> given, int usual) {
    return given == null ? List.of(usual) : given;
  }

  private List<Line> measure(List<Scenario> scenarios) throws IOException, InterruptedException {
    try (PacketCostSuite suite = new PacketCostSuite(new Effort(rounds, roundMs, warmUpMs))) {
      for (Scenario scenario : scenarios) {
        progress().update("measuring " + scenario);
        suite.measure(scenario);
      }
      return suite.finish(s -> progress().update("measuring again, at the faster speed: " + s));
    }
  }

  private List<String> options() {
    List<String> words = new ArrayList<>();
    add(words, "--burst", bursts);
    add(words, "--rails", rails);
    add(words, "--peers", peers);
    add(words, "--payload", payloads);
    addUnless(words, "--rounds", rounds, 10);
    addUnless(words, "--round-ms", roundMs, 60);
    addUnless(words, "--warm-up-ms", warmUpMs, 1_500);
    return words;
  }

  private static void addUnless(List<String> words, String option, int value, int usual) {
    if (value != usual) {
      words.addAll(List.of(option, String.valueOf(value)));
    }
  }

  private static void add(List<String> words, String option, List<?> values) {
    if (values != null) {
      words.add(option);
      words.add(String.join(",", values.stream().map(String::valueOf).toList()));
    }
  }

  private String command() {
    List<String> words = new ArrayList<>(List.of("hxb", "bench", "packet-cost"));
    add(words, "--path", paths);
    words.addAll(options());
    return String.join(" ", words);
  }
}
