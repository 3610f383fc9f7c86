package org.pmhxb.cli.bench.paper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.pmhxb.cli.bench.BenchKind;
import org.pmhxb.cli.bench.Benchmark;
import org.pmhxb.cli.bench.CpuUse;
import org.pmhxb.cli.bench.MachineInfo;
import org.pmhxb.cli.bench.MeasuredCluster;
import org.pmhxb.cli.bench.ResultFiles;
import org.pmhxb.cli.bench.TrafficPlan;
import org.pmhxb.cli.bench.Undisturbed;
import org.pmhxb.cli.bench.Withheld;
import org.pmhxb.cli.veth.LinkRate;
import org.pmhxb.cli.workload.LatencyHistogram;
import org.pmhxb.router.Shape;

/** The whole suite over clusters that only pretend. */
class PaperSuiteTest {
  private static final MachineInfo MACHINE =
      new MachineInfo("a cpu", 2, 8, "6.1", "a system", Map.of("hxb", "1"));

  @TempDir private Path home;
  private Path directory;
  private final List<String> ups = new ArrayList<>();
  private int measurements;
  private int warmUps;
  private int warmUpsMost = Integer.MAX_VALUE;
  private boolean endedWarmingUp;
  private int open;

  /** Share of the links' rate that the pretended machine carries at most, MB/s. */
  private double machineMb = 400;

  /** The measurement from which on it carries little. */
  private int slowFrom = Integer.MAX_VALUE;

  private String refused = "";
  private String lostOf = "";
  private int lostRuns;
  private int failingWarmUp = -1;

  /** What was measured on a cluster whose last warm-up was by other traffic. */
  private final List<String> cold = new ArrayList<>();

  /** What the pretended host takes of the processors, run by run; then nothing. */
  private double[] withheld = {};

  private int outcomes;

  /** Of the links' raw rate, where the machine carries it. */
  private double share = 0.99;

  /** By point, of each try of it: what the pretended host takes. The more, the more is measured. */
  private List<Double> hosted;

  private final Map<String, Integer> tries = new HashMap<>();

  private Benchmark.Outcome disturbed(TrafficPlan plan, int sizeBytes, LinkRate rate) {
    int run = tries.merge(plan + " " + sizeBytes + " " + rate, 1, Integer::sum) - 1;
    withheld = new double[] {hosted.get(run % hosted.size())};
    outcomes = 0;
    double least = hosted.stream().mapToDouble(share -> share).min().orElseThrow();
    machineMb = withheld[0] == least ? 100 : 400;
    return outcome(plan, sizeBytes, rate);
  }

  private double withheld() {
    return outcomes < withheld.length ? withheld[outcomes++] : 0;
  }

  @BeforeEach
  void keepResultsWithTheProject() {
    directory = home.resolve("docs/results");
  }

  private MeasuredCluster up(Shape shape, int rails, LinkRate rate) throws IOException {
    ups.add(shape + " " + rails + " " + rate);
    if (ups.getLast().equals(refused)) {
      throw new IOException("no such cluster today in " + home.resolve("scripts"));
    }
    open++;
    return new MeasuredCluster() {
      private TrafficPlan warm;

      @Override
      public int rails() {
        return rails;
      }

      @Override
      public List<Long> processes() {
        return List.of();
      }

      @Override
      public Benchmark.Outcome measure(
          TrafficPlan plan, int sizeBytes, long warmUpMs, long measureMs) {
        endedWarmingUp = warmUpMs == 0;
        if (warmUpMs == 0) {
          warm = plan;
          warmUps++;
          if (warmUps == failingWarmUp) {
            Benchmark.Outcome bad = outcome(plan, sizeBytes, rate);
            bad.failures().add("node 1 lost its session with node 0");
            return bad;
          }
        } else {
          measurements++;
          if (!plan.equals(warm)) {
            cold.add(shape + " " + plan.kind() + " " + sizeBytes);
          }
        }
        if (warmUpMs > 0 && (shape + " " + rails + " " + rate).equals(lostOf)) {
          lostRuns++;
          Benchmark.Outcome o = outcome(plan, sizeBytes, rate);
          return new Benchmark.Outcome(
              o.seconds(),
              o.messages(),
              o.bytesPerSecond(),
              o.messagesPerSecond(),
              7,
              0,
              0,
              0,
              0,
              o.messages(),
              0,
              null,
              o.cpu(),
              null,
              List.of(),
              new ArrayList<>());
        }
        if (measurements >= slowFrom) {
          machineMb = 240;
        }
        return hosted == null || warmUpMs == 0
            ? outcome(plan, sizeBytes, rate)
            : disturbed(plan, sizeBytes, rate);
      }

      @Override
      public void close() {
        open--;
      }
    };
  }

  private Benchmark.Outcome outcome(TrafficPlan plan, int sizeBytes, LinkRate rate) {
    double links = rate == null ? 1e12 : share * plan.links() * rate.bytesPerSecond();
    double bytes = Math.min(Math.min(links, machineMb * 1e6), sizeBytes * 0.5e6);
    boolean ping = plan.kind() == BenchKind.LATENCY;
    LatencyHistogram.Summary latency =
        ping ? new LatencyHistogram.Summary(900, 2_000, 3_000, 4_000, 5_000) : null;
    return new Benchmark.Outcome(
        1,
        Math.round(bytes / sizeBytes),
        bytes,
        bytes / sizeBytes,
        0,
        0,
        0,
        0,
        1,
        Math.round(bytes / sizeBytes),
        0,
        latency,
        new CpuUse(1, 1.5, 0.95, withheld(), 2, null),
        null,
        List.of(),
        new ArrayList<>());
  }

  private PaperReport run(boolean quick, boolean resume, int mostMeasurements)
      throws IOException, InterruptedException {
    return new PaperSuite(new ResultFiles(home, directory), quick, null, resume)
        .run(
            this::up,
            "hxb bench paper",
            MACHINE,
            () -> measurements >= mostMeasurements || warmUps >= warmUpsMost,
            line -> {});
  }

  @Test
  void choosesTheRateThatTheMachineCarries() throws Exception {
    PaperReport report = run(true, false, Integer.MAX_VALUE);

    // 400 MB/s do not fill 9 links of 1 Gbit/s, nor 4 over a relay, but 2 over two relays. So the
    // 12 of table 5, which ask for more than twice as much, are not tried.
    assertThat(report.rates())
        .extracting(PaperRun.Probe::chosen)
        .containsExactly("200mbit", "200mbit", "1gbit", "200mbit");
    assertThat(report.rates())
        .extracting(PaperRun.Probe::askedGbit)
        .containsExactly(9.0, 12.0, 6.0, 8.0);
    assertThat(report.rates().get(1).efficiency()).isNull();
    assertThat(report.rates().get(1).carriedGbit()).isCloseTo(3.2, within(0.01));
    assertThat(report.rates().get(2).carriedGbit()).isCloseTo(5.9, within(0.1));
    assertThat(Files.readString(directory.resolve("paper.md")))
        .contains(
            "- Links of table 4: 200mbit, since its heaviest traffic reached 35.6 % of the links at"
                + " 1gbit on this machine, at worst (98 % keeps it).\n")
        .contains(
            "- Links of table 5: 200mbit; 1gbit was not tried, since its heaviest traffic then asks"
                + " for 12.0 Gbit/s over all links and hops, of which another table's got 3.2 at"
                + " most.\n");
    assertThat(report.ok()).as(report.failures().toString()).isTrue();
    assertThat(open).isZero();
    assertThat(cold).isEmpty();
    assertThat(ups.subList(3, ups.size())).as("after the probes").doesNotHaveDuplicates();
  }

  @Test
  void aRateIsTriedWhereTheMachineCarriedHalfOfWhatItAsks() throws Exception {
    machineMb = 751; // 6.0 Gbit/s

    assertThat(run(true, false, Integer.MAX_VALUE).rates())
        .as("12 Gbit/s of table 5")
        .allSatisfy(probe -> assertThat(probe.efficiency()).isNotNull());
  }

  @Test
  void afterARateThatIsCarriedTheNextIsTriedHoweverMuchItAsks() throws Exception {
    machineMb = 100_000;

    List<PaperRun.Probe> rates = run(true, false, Integer.MAX_VALUE).rates();
    assertThat(rates).extracting(PaperRun.Probe::chosen).containsOnly("1gbit");
    assertThat(rates).extracting(PaperRun.Probe::efficiency).doesNotContainNull();
  }

  @Test
  void aClusterThatDidNotComeUpSaysNothingOfWhatIsCarried() throws Exception {
    refused = "2 9 1gbit";

    assertThat(run(true, false, Integer.MAX_VALUE).rates())
        .extracting(PaperRun.Probe::efficiency)
        .as("table 5 is tried all the same")
        .startsWith(0.0, 400e6 / 1.5e9);
  }

  @Test
  void writesPagePlotsAndJsonWithThePapersFiguresInEachCell() throws Exception {
    PaperReport report = run(false, false, Integer.MAX_VALUE);

    String page = Files.readString(directory.resolve("paper.md"));
    assertThat(page)
        .contains("| 2 links | **49.5 MB/s** 49.5 to 49.5; paper 248.0 MB/s | **99.00 %**")
        .contains("**0.500 M/s** 0.500 to 0.500; paper 0.420 M/s")
        .contains("paper 93.40 %")
        .contains("paper 39.30 us")
        .contains("paper 26.0 %")
        .contains("a cpu, 2 processors, 8 GB, Linux 6.1, a system, hxb 1")
        .contains("Runs of each figure: 3\n");
    JsonNode json = new ObjectMapper().readTree(directory.resolve("paper.json").toFile());
    assertThat(json.path("ok").asBoolean()).isTrue();
    assertThat(json.path("files"))
        .extracting(JsonNode::asText)
        .hasSize(8)
        .contains("paper.md", "paper.json", "paper/figure-3.svg", "paper/figure-5.png")
        .allMatch(file -> Files.exists(directory.resolve(file)));
    assertThat(json.path("tables")).hasSize(3);
    assertThat(json.path("tables").get(0).path("rows")).hasSize(PaperPlan.LINKS.size());
    for (PaperFigure figure : report.figures()) {
      assertThat(figure.curves()).anyMatch(PaperFigure.Curve::paper).anyMatch(c -> !c.paper());
      assertThat(directory.resolve("paper/" + figure.id() + ".svg")).content().contains("<svg");
      assertThat(ImageIO.read(directory.resolve("paper/" + figure.id() + ".png").toFile()))
          .isNotNull();
    }
  }

  /** A curve's point by itself says as little as a table's cell would. */
  @Test
  void pointsOfOurCurvesHaveTheirSpread() throws Exception {
    for (PaperFigure figure : run(false, false, Integer.MAX_VALUE).figures()) {
      assertThat(figure.curves())
          .filteredOn(curve -> !curve.paper())
          .allMatch(curve -> curve.least().size() == curve.sizesBytes().size())
          .allMatch(curve -> curve.most().size() == curve.sizesBytes().size())
          .allMatch(curve -> curve.least().getLast() <= curve.megabytesPerSecond().getLast())
          .allMatch(curve -> curve.most().getLast() >= curve.megabytesPerSecond().getLast());
    }
  }

  @Test
  void whatTheTablesMustReachIsJudged() throws Exception {
    share = 0.991;
    PaperReport report = run(true, false, Integer.MAX_VALUE);

    assertThat(report.missed()).isEmpty();
    assertThat(report.budgets())
        .hasSize(PaperPlan.LINKS.size() + 3 + 3 + 1)
        .extracting(budget -> budget.figure().met())
        .containsOnly("aim", "must")
        .endsWith("aim", "must");
    assertThat(Files.readString(directory.resolve("paper.md")))
        .contains("| through 2 relays, 2 links | 99.10 % | 98.0 | 99.0 | aim |")
        .contains("| half round trip, 2 links | 2.00 us | 2.5 | 1.6 | must |");
  }

  @Test
  void aMissedMustIsSaidAndFailsNoRun() throws Exception {
    share = 0.95;
    PaperReport report = run(true, false, Integer.MAX_VALUE);

    assertThat(report.ok()).as(report.failures().toString()).isTrue();
    assertThat(report.missed())
        .hasSize(PaperPlan.LINKS.size() + 3 + 3)
        .contains(
            "8 KB one way, 9 links: 95 %; must be 98 at least",
            "neighbours in 3-D, both ways: 95 %; must be 96 at least",
            "through 1 relay, 4 links: 95 %; must be 98 at least");
    assertThat(Files.readString(directory.resolve("paper.md")))
        .contains("| 8 KB one way, 1 link | 95.00 % | 98.0 | 99.0 | **missed** |");
  }

  @Test
  void saysWhatLimitsEachFigureOfALine() throws Exception {
    run(true, false, Integer.MAX_VALUE);

    assertThat(Files.readString(directory.resolve("paper.md")))
        .contains("| 8 KB: links; 4 B: 95 % of 2 processors |")
        .contains("| send, receive, both: links |")
        .contains("| 2 links, 4 links: links; half round trip: the way itself; 4 B: 95 % of 2 ")
        .contains(
            "| 2 links, 4 links: links; half round trip: 3 processes on 2 processors; 4 B: 95")
        .contains("| 2 links: links; half round trip: 4 processes on 2 processors; 4 B: 95 % of ")
        .contains("- Host: withheld less than 2 % of the processors in every run.\n")
        .contains("Measured again: 0; still disturbed: 0.\n")
        .doesNotContain("host took");
  }

  @Test
  void saysOfEachFigureWhatTheHostTook() throws Exception {
    LinkRate rate = LinkRate.parse("200mbit");
    PaperPlan plan =
        new PaperPlan(
            Map.of(
                PaperPlan.Section.ONE_WAY, rate,
                PaperPlan.Section.NEIGHBOURS, rate,
                PaperPlan.Section.RELAYS, rate,
                PaperPlan.Section.RELAYS_FOUR_LINKS, rate),
            List.of(PaperPlan.LARGE_BYTES));
    Map<PaperPoint, Measured> found = new HashMap<>();
    withheld = new double[] {0, 0.09, 0.02};
    PaperPoint hurt = plan.neighbours(3, PaperPoint.Traffic.BOTH, PaperPlan.LARGE_BYTES);
    found.put(hurt, threeRuns(hurt));
    for (PaperPoint point : plan.points()) {
      found.computeIfAbsent(point, this::threeRuns);
    }
    PaperFindings findings =
        new PaperFindings(
            plan, found, List.of(), List.of(), false, new Undisturbed.Counts(2, 1, 5));
    PaperTables tables = new PaperTables(findings);

    PaperTable.Row row = tables.tables().get(1).rows().get(2);
    assertThat(row.limit()).isEqualTo("send, receive: links; both: links, host took 0 to 9 %");
    assertThat(row.cells())
        .extracting(cell -> cell.withheld().max())
        .containsExactly(0.0, 0.0, 0.0, 0.0, 0.09, 0.09);
    assertThat(tables.figures().get(1).curves())
        .filteredOn(curve -> !curve.paper())
        .extracting(PaperFigure.Curve::withheld)
        .containsExactly(List.of(0.0), List.of(0.0), List.of(0.09));
    PaperReport report =
        new PaperReport(
            true,
            "hxb bench paper",
            "now",
            1,
            false,
            3,
            true,
            MACHINE,
            Withheld.of(found.values().stream().map(Measured::withheld).toList()),
            findings.disturbed(),
            List.of(),
            tables.tables(),
            tables.figures(),
            PaperBudgets.of(findings),
            List.of(),
            List.of(),
            new ResultFiles(home, directory));
    assertThat(PaperPage.of(report))
        .contains(
            "- Host: withheld 2 % of the processors or more in a run of 1 of "
                + found.size()
                + " figures, 9 % at most.")
        .contains("Measured again: 2; still disturbed: 1.\n")
        .contains(
            "What the host took in the worst run of a point: hxb, 3-D of 200mbit: 8,192 B 9 %.")
        .containsOnlyOnce("host took 0 to 9 %");
  }

  private Measured threeRuns(PaperPoint point) {
    List<Benchmark.Outcome> runs = new ArrayList<>();
    for (int run = 0; run < 3; run++) {
      runs.add(outcome(point.plan(), point.sizeBytes(), point.setup().rate()));
    }
    return Measured.of(point, point.plan(), runs);
  }

  @Test
  void ofDisturbedRunsTheLeastDisturbedCountsThoughItMeasuredLess() throws Exception {
    hosted = List.of(0.4, 0.05, 0.2);
    PaperReport report = run(true, false, Integer.MAX_VALUE);

    int runs = report.disturbed().repeated();
    assertThat(runs).isGreaterThan(50);
    assertThat(measurements).as("each run and two repeats").isEqualTo(3 * runs);
    assertThat(report.disturbed().disturbed()).isEqualTo(runs);
    assertThat(report.host().most()).isEqualTo(0.05);
    assertThat(report.rates())
        .as("the choice of a rate, too")
        .extracting(PaperRun.Probe::chosen)
        .containsOnly("200mbit");
    JsonNode json = new ObjectMapper().readTree(directory.resolve("paper.json").toFile());
    assertThat(json.path("disturbed").path("repeated").asInt()).isEqualTo(runs);
    assertThat(json.path("disturbed").path("disturbed").asInt()).isEqualTo(runs);
    assertThat(Files.readString(directory.resolve("paper.md")))
        .contains("Measured again: %1$d; still disturbed: %1$d.%n".formatted(runs));
  }

  /**
   * The third table's traffic fills two links of 1 Gbit/s in its first run and not in its second.
   */
  @Test
  void aRateIsCarriedWhenEachRunReachesIt() throws Exception {
    slowFrom = 4;
    PaperReport report = run(false, false, 5);

    assertThat(report.rates())
        .extracting(PaperRun.Probe::chosen)
        .containsExactly("200mbit", "200mbit", "200mbit", "200mbit");
    assertThat(report.rates().get(2).efficiency()).isBetween(0.9, 0.97);
  }

  @Test
  void timeThatEndsInAWarmUpLeavesItsPointOut() throws Exception {
    warmUpsMost = 6; // three that choose rates, three before points that are measured
    PaperReport report = run(true, false, Integer.MAX_VALUE);

    assertThat(report.finished()).isFalse();
    assertThat(report.failures()).isEmpty();
    assertThat(warmUps).isEqualTo(6);
    assertThat(endedWarmingUp).as("nothing is measured after it").isTrue();
  }

  @Test
  void whatWasBrokenOffGoesOn() throws Exception {
    PaperReport first = run(true, false, 20);
    assertThat(first.finished()).isFalse();
    assertThat(first.ok()).isFalse();
    assertThat(measurements).isEqualTo(20);
    assertThat(open).isZero();

    PaperReport second = run(true, true, Integer.MAX_VALUE);
    assertThat(second.ok()).isTrue();
    int all = measurements;
    measurements = 0;
    run(true, false, Integer.MAX_VALUE);
    assertThat(measurements).as("nothing was measured twice").isEqualTo(all);
  }

  @Test
  void aClusterThatDoesNotComeUpIsNamedAndTheOthersAreMeasured() throws Exception {
    refused = "2 4 200mbit";
    PaperReport report = run(true, false, Integer.MAX_VALUE);

    assertThat(report.ok()).isFalse();
    assertThat(report.failures()).singleElement().asString().contains("no such cluster today");
    for (String file : List.of("paper.md", "paper.json")) {
      assertThat(Files.readString(directory.resolve(file)))
          .as("says nothing of where the project lies")
          .contains("no such cluster today in scripts")
          .doesNotContain(home.toString());
    }
    PaperTable.Row four = report.tables().getFirst().rows().get(2);
    assertThat(four.cells().getFirst().ours()).isNull();
    assertThat(four.limit()).contains("8 KB: not measured");
    assertThat(report.tables().getFirst().rows().get(3).cells().getFirst().ours()).isNotNull();
  }

  @Test
  void aRunAboveTheLinksRateIsVoid() throws Exception {
    PaperPoint point = PaperPlan.heaviest(PaperPlan.Section.ONE_WAY, LinkRate.parse("200mbit"));
    Benchmark.Outcome fast = outcome(point.plan(), point.sizeBytes(), LinkRate.parse("1gbit"));

    assertThat(Measured.of(point, point.plan(), List.of(fast)).failures())
        .singleElement()
        .asString()
        .contains("did not bite");
  }

  /** What a probe's runs lost is no less a failure than what a figure's lost. */
  @Test
  void whatIsLostWhileTheRateIsChosenFailsTheSuite() throws Exception {
    lostOf = "2 9 1gbit"; // the probe of table 4 alone: it chooses 200mbit
    PaperReport report = run(true, false, Integer.MAX_VALUE);

    assertThat(lostRuns).isPositive();
    assertThat(report.failures()).anyMatch(line -> line.contains("lost 7"));
    assertThat(report.ok()).isFalse();
  }

  /** A cluster that did not come up is probed again when the suite goes on. */
  @Test
  void aProbeThatFailedIsNoFindingWhenTheSuiteGoesOn() throws Exception {
    machineMb = 100_000;
    refused = "2 9 1gbit";
    PaperReport first = run(true, false, 30);
    assertThat(first.ok()).isFalse();
    refused = "";
    PaperReport second = run(true, true, Integer.MAX_VALUE);

    assertThat(second.ok()).isTrue();
    assertThat(second.rates().getFirst().efficiency()).isCloseTo(0.99, within(0.01));
    assertThat(second.rates().getFirst().chosen()).isEqualTo("1gbit");
  }

  /** What is lost in a warm-up is not forgotten when the suite goes on. */
  @Test
  void whatFailsInAWarmUpFailsTheSuiteThatGoesOnToo() throws Exception {
    failingWarmUp = 8; // of a figure's cluster
    assertThat(run(true, false, Integer.MAX_VALUE).ok()).isFalse();
    failingWarmUp = -1;
    int before = measurements;

    run(true, true, Integer.MAX_VALUE);
    assertThat(measurements).as("what it warmed up for is measured again").isGreaterThan(before);
  }
}
