package org.pmhxb.cli.bench.contention;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntToDoubleFunction;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.pmhxb.cli.bench.BenchKind;
import org.pmhxb.cli.bench.Benchmark;
import org.pmhxb.cli.bench.CpuUse;
import org.pmhxb.cli.bench.MachineInfo;
import org.pmhxb.cli.bench.MeasuredCluster;
import org.pmhxb.cli.bench.Quartiles;
import org.pmhxb.cli.bench.ResultFiles;
import org.pmhxb.cli.bench.Spread;
import org.pmhxb.cli.bench.TrafficPlan;
import org.pmhxb.cli.veth.LinkRate;
import org.pmhxb.cli.workload.LatencyHistogram;
import org.pmhxb.router.Shape;

/** The whole suite over clusters that only pretend. */
class ContentionSuiteTest implements ContentionSuite.Clusters {
  private static final MachineInfo MACHINE =
      new MachineInfo("a cpu", 2, 8, "6.1", "a system", Map.of("hxb", "1"));

  /** Messages of 4 B a second over 0, 1 and 2 relays, at the pretended machine's usual speed. */
  private static final double[] RATES = {4e6, 3.5e6, 2e6};

  /** With {@code --quick}. */
  private static final int ROUNDS = 60;

  /** Of a case that is measured in turn with others: those that count and those before. */
  private static final int SLICES = ROUNDS + Slices.SETTLING_ROUNDS;

  @TempDir private Path home;
  private Path directory;
  private int measurements;
  private int warmUps;
  private int open;
  private int warmUpsMost = Integer.MAX_VALUE;
  private final List<String> said = new ArrayList<>();

  /** The traffic that the clusters were warmed up with. */
  private final Set<TrafficPlan> warmedUp = new HashSet<>();

  /** What the slices' rates are multiplied with: by the number of the slice. */
  private IntToDoubleFunction speed = slice -> 1;

  private int slices;

  /** The slice in which messages are lost; -1: none. */
  private int faultySlice = -1;

  /** Slices in which no message comes. */
  private final Set<Integer> emptySlices = new HashSet<>();

  /** Share of the links that the pretended streams reach. */
  private double share = 0.99;

  private long lost;
  private long resent = 10;

  /** Until one processor sees another's store, while two relays lie between. */
  private double twoRelaysStoreNs = 27;

  /** What the pretended host takes of the processors. */
  private double withheld;

  @BeforeEach
  void keepResultsWithTheProject() {
    directory = home.resolve("docs/results");
  }

  @Override
  public MeasuredCluster ring(Shape shape, int rails) {
    return cluster(rails, 1e6, 0);
  }

  @Override
  public MeasuredCluster veth(Shape shape, int rails, LinkRate rate, LinkRate slow) {
    double missing = slow == null ? 0 : rate.bytesPerSecond() - slow.bytesPerSecond();
    return cluster(rails, rate.bytesPerSecond(), missing);
  }

  @Override
  public MeasuredCluster relayed(Shape shape, int rails, TrafficPlan plan) {
    return cluster(rails, 1e6, 0);
  }

  private MeasuredCluster cluster(int rails, double linkBytesPerSecond, double missing) {
    open++;
    return new MeasuredCluster() {
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
        measurements += warmUpMs == 0 ? 0 : 1;
        if (warmUpMs == 0) {
          warmUps++;
          warmedUp.add(plan);
        } else {
          assertThat(warmedUp).as("warmed up by its own traffic").contains(plan);
          slices += plan.ownFrames() ? 1 : 0;
        }
        double ways = (double) plan.links() / rails;
        return outcome(plan, share * (plan.links() * linkBytesPerSecond - ways * missing));
      }

      @Override
      public void close() {
        open--;
      }
    };
  }

  /** The first stream gets half of what each other gets. */
  private Benchmark.Outcome outcome(TrafficPlan plan, double bytes) {
    List<Benchmark.Pair> pairs = new ArrayList<>();
    int streams = plan.destinations().values().stream().mapToInt(to -> to.size()).sum();
    double each = bytes / (streams - 0.5);
    plan.destinations()
        .forEach(
            (src, to) ->
                to.forEach(
                    dst ->
                        pairs.add(
                            new Benchmark.Pair(
                                src, dst, 1, pairs.isEmpty() ? each / 2 : each, 0, 0, 0, 0))));
    int relays = Integer.bitCount(plan.destinations().size() == 2 ? farther(plan) : 0) - 1;
    LatencyHistogram.Summary latency =
        plan.kind() == BenchKind.LATENCY
            ? new LatencyHistogram.Summary(500, 800 + 700 * relays, 3_000, 4_000, 5_000)
            : null;
    return new Benchmark.Outcome(
        1,
        plan.ownFrames() && emptySlices.contains(slices) ? 0 : 1_000,
        bytes,
        plan.ownFrames() ? RATES[relays] * speed.applyAsDouble(slices) : 1_000,
        plan.ownFrames() && slices == faultySlice ? 3 : lost,
        0,
        0,
        0,
        resent,
        2_000,
        0,
        latency,
        new CpuUse(
            1, 1.5, 0.9, withheld, 2, new Spread(25, relays == 2 ? twoRelaysStoreNs : 27, 150, 5)),
        null,
        pairs,
        new ArrayList<>());
  }

  /** Of a pair in a shape of extents 2: the other one's number, whose bits are its coordinates. */
  private static int farther(TrafficPlan plan) {
    return plan.destinations().keySet().stream().mapToInt(Integer::intValue).max().orElse(0);
  }

  private ContentionReport run(boolean resume, int most) throws IOException, InterruptedException {
    return run(resume, most, List.of());
  }

  private ContentionReport run(boolean resume, int most, List<String> only)
      throws IOException, InterruptedException {
    return new ContentionSuite(
            new ResultFiles(home, directory),
            true,
            resume,
            only,
            this,
            () -> measurements >= most || warmUps >= warmUpsMost,
            said::add)
        .run("hxb bench contention --quick", MACHINE);
  }

  @Test
  void writesPageAndJson() throws Exception {
    ContentionReport report = run(false, Integer.MAX_VALUE);

    assertThat(report.ok()).as(report.failures().toString()).isTrue();
    assertThat(open).isZero();
    assertThat(report.perRelayUs()).containsOnlyKeys(1, 2);
    assertThat(report.perRelayUs().values()).allMatch(us -> Math.abs(us - 0.7) < 1e-9);
    assertThat(Files.readString(directory.resolve("contention.md")))
        .contains("| incast of 7 to 1 | veth, 8, 1 rail of 200mbit | **24.8** | **99.0 %** |")
        .contains(
            "| a slow rail, one way | veth, 2, 3 rails of 200mbit, one of 50mbit | **55.7** |")
        .contains(
            "| half round trip, 2 relays | shm, 2x2x2, 1 rail | **2.20** | 0.70 | 1.00 | **27** |")
        .contains(
            "| 4 B messages, 0 relays | ring, 2x2x2, 1 rail | **4.00** 4.00 to 4.00 | **250** 250 to"
                + " 250 |  |  |  |  |")
        .contains("- Of 4 B messages: 60 slices of 30 ms each, in turn")
        .contains(
            "| **3.50** 3.50 to 3.50 | **286** 286 to 286 | **12.5 %** 12.5 to 12.5 | 15 % | 5 % |"
                + " must |")
        .contains("| **50.0 %** 50.0 to 50.0 | 25 % | 10 % | **missed** |");
    assertThat(report.rateLost()).isEqualTo(Map.of(1, 0.125, 2, 0.5));
    assertThat(report.missed())
        .as("no fault of the run")
        .containsExactly("rate of 4 B messages lost to 2 relays: 50 %; must be 25 at most");
    JsonNode json = new ObjectMapper().readTree(directory.resolve("contention.json").toFile());
    assertThat(json.path("results")).hasSize(ContentionCase.all().size());
    assertThat(json.path("files"))
        .extracting(JsonNode::asText)
        .containsExactly("contention.md", "contention.json");
    assertThat(json.toString())
        .as("says nothing of where the project lies")
        .doesNotContain(home.toString());
    ContentionLine incast = report.results().get(1);
    assertThat(incast.fairness().median()).isBetween(0.53, 0.54);
    assertThat(incast.resentShare()).isEqualTo(0.005);
    assertThat(incast.byRelays()).as("all over one hop").isNull();
    assertThat(Files.readString(directory.resolve("contention.md")))
        .as("who has all processors busy does not say what the links carry")
        .contains("| 0.50 % | 1.50, **machine full** |");
    ContentionLine all = report.results().get(3);
    assertThat(all.byRelays()).as("the slowest of 56 streams is one of 24 over one hop").hasSize(3);
    assertThat(all.byRelays().get(0)).isBetween(0.987, 0.988);
    assertThat(all.byRelays().get(2)).isBetween(1.008, 1.010);
    assertThat(Files.readString(directory.resolve("contention.md"))).contains("| 99 / 101 / 101 |");
  }

  @Test
  void saysAtEachLineWhatTheHostTook() throws Exception {
    withheld = 0.07;
    ContentionReport report = run(false, Integer.MAX_VALUE);

    int runs = report.results().size() - RATES.length;
    assertThat(measurements)
        .as("each run and its repeats; slices are not repeated")
        .isEqualTo(3 * runs + RATES.length * SLICES);
    assertThat(report.disturbed().repeated()).isEqualTo(runs);
    assertThat(report.disturbed().disturbed()).isEqualTo(runs);

    assertThat(Files.readString(directory.resolve("contention.md")))
        .contains("| 0.50 % | 1.50, **machine full**, host took 7 % |")
        .contains("| **2.20**, host took 7 % | 0.70 |")
        .contains("- Host: withheld 2 % of the processors or more in a run of ")
        .contains("Measured again: %1$d; still disturbed: %1$d.%n".formatted(runs));
    JsonNode json = new ObjectMapper().readTree(directory.resolve("contention.json").toFile());
    for (JsonNode line : json.path("results")) {
      assertThat(line.path("withheld").path("median").asDouble()).isEqualTo(0.07);
    }
  }

  @Test
  void measuresWhatIsNamed() throws Exception {
    ContentionReport report = run(false, Integer.MAX_VALUE, List.of("slow-rail-both", "exchange"));

    assertThat(report.ok()).as(report.failures().toString()).isTrue();
    assertThat(report.results())
        .extracting(ContentionLine::id)
        .containsExactly("exchange", "slow-rail-both");
    assertThat(measurements).isEqualTo(2);
  }

  /** As a hypervisor has it, which moves them: the difference is not the relays'. */
  @Test
  void aDifferenceAtAnotherDistanceOfTheProcessorsIsSaidToBeOne() throws Exception {
    twoRelaysStoreNs = 160;
    run(false, Integer.MAX_VALUE);
    assertThat(Files.readString(directory.resolve("contention.md")))
        .contains("| half round trip, 1 relay | shm, 2x2, 1 rail | **1.50** | 0.70 | 1.00 |")
        .contains("| **2.20** | 0.70 (processors at another distance) | 1.00 | **160** |");
  }

  @Test
  void whatTwoRelaysTakeIsSaidWithoutOneRelay() throws Exception {
    ContentionReport report =
        run(false, Integer.MAX_VALUE, List.of("relayed-rate-0", "relayed-rate-2", "relays-2"));

    assertThat(report.rateLost()).isEqualTo(Map.of(2, 0.5));
    assertThat(report.perRelayUs()).isEmpty();
    assertThat(Files.readString(directory.resolve("contention.md")))
        .contains("| **50.0 %** 50.0 to 50.0 | 25 % | 10 % | **missed** |");
  }

  @Test
  void theShareIsThatOfSlicesBesideEachOtherWhateverTheMachinesSpeed() throws Exception {
    List<String> rates = List.of("relayed-rate-0", "relayed-rate-1", "relayed-rate-2");
    // Slow for 89 slices, fast for 69, and so on: it changes within rounds.
    speed = slice -> slice % 158 < 89 ? 0.6 : 1;
    ContentionReport report = run(false, Integer.MAX_VALUE, rates);

    assertThat(measurements).isEqualTo(rates.size() * SLICES);
    assertThat(report.rateLost()).isEqualTo(Map.of(1, 0.125, 2, 0.5));
    ContentionLine direct = report.results().get(0);
    assertThat(direct.rateLost()).isNull();
    assertThat(direct.messagesPerSecond()).isEqualTo(new Spread(2.4e6, 2.4e6, 4e6, ROUNDS));
    assertThat(direct.nsPerMessage().min()).isEqualTo(250);
    Quartiles one = report.results().get(1).rateLost();
    assertThat(one.values()).isEqualTo(ROUNDS);
    assertThat(one.lower()).isEqualTo(0.125);
    assertThat(one.upper()).isEqualTo(0.125);
    assertThat(one.min()).as("slow beside fast").isNegative();
    JsonNode json = new ObjectMapper().readTree(directory.resolve("contention.json").toFile());
    assertThat(json.path("rateLost").path("1").asDouble()).isEqualTo(0.125);
    assertThat(json.path("results").path(2).path("rateLost").path("median").asDouble())
        .isEqualTo(0.5);
    assertThat(json.path("results").path(2).path("nsPerMessage").path("min").asDouble())
        .isEqualTo(500);
  }

  @Test
  void aFaultInASliceEndsThemAndIsSaid() throws Exception {
    List<String> rates = List.of("relayed-rate-0", "relayed-rate-1", "relayed-rate-2");
    faultySlice = 100;
    ContentionReport report = run(false, Integer.MAX_VALUE, rates);

    assertThat(report.ok()).isFalse();
    assertThat(report.failures())
        .singleElement()
        .asString()
        .contains("relayed-rate-")
        .contains("3 faulty messages of 1000");
    assertThat(measurements).as("the round is gone through").isEqualTo(102);

    faultySlice = -1;
    assertThat(run(true, Integer.MAX_VALUE, rates).ok()).isTrue();
    assertThat(measurements).as("all are measured again").isEqualTo(102 + rates.size() * SLICES);
  }

  /** The one thread of all nodes may stand still for as long as a slice takes. */
  @Test
  void aRoundInWhichTheMachineStoodIsLeftOut() throws Exception {
    List<String> rates = List.of("relayed-rate-0", "relayed-rate-1", "relayed-rate-2");
    emptySlices.addAll(List.of(7, 100, 101, 150));
    ContentionReport report = run(false, Integer.MAX_VALUE, rates);

    assertThat(report.ok()).as(report.failures().toString()).isTrue();
    assertThat(report.results().get(1).rateLost().values()).isEqualTo(ROUNDS - 2);
    assertThat(said).contains("in turn, round 21 left out: a slice without a message");
  }

  @Test
  void aMachineThatStandsMoreOftenFails() throws Exception {
    List<String> rates = List.of("relayed-rate-0", "relayed-rate-1", "relayed-rate-2");
    for (int round = 0; round <= ROUNDS / 10; round++) {
      emptySlices.add(60 + 3 * round);
    }
    assertThat(run(false, Integer.MAX_VALUE, rates).failures())
        .singleElement()
        .asString()
        .contains("0 faulty messages of 0");
  }

  /** A share needs the direct way of the same rounds. */
  @Test
  void whatWasMeasuredWithoutTheDirectWayIsMeasuredAgainWithIt() throws Exception {
    run(false, Integer.MAX_VALUE, List.of("relayed-rate-0"));
    assertThat(run(true, Integer.MAX_VALUE, List.of("relayed-rate-2")).rateLost()).isEmpty();
    ContentionReport both =
        run(true, Integer.MAX_VALUE, List.of("relayed-rate-0", "relayed-rate-2"));

    assertThat(both.rateLost()).isEqualTo(Map.of(2, 0.5));
  }

  @Test
  void whatIsComparedWithNothingIsKeptAsItIs() throws Exception {
    run(false, Integer.MAX_VALUE, List.of("relayed-rate-2"));
    ContentionReport again = run(true, Integer.MAX_VALUE, List.of("relayed-rate-2"));

    assertThat(again.results()).hasSize(1);
    assertThat(measurements).as("nothing was measured twice").isEqualTo(SLICES);
  }

  /** Measured over the same time as the messages that it is a share of. */
  @Test
  void whoSendsTooMuchAgainFails() throws Exception {
    resent = 150;
    ContentionReport report = run(false, Integer.MAX_VALUE);
    assertThat(report.ok()).isFalse();
    assertThat(report.failures())
        .contains("slow-rail: 7.50 % of the frames were sent again; must be 5 % at most")
        .as("where no link is shaped, too")
        .contains("incast-ring: 7.50 % of the frames were sent again; must be 5 % at most")
        .allMatch(line -> line.contains("were sent again"));
  }

  @Test
  void aMissedBoundAndALossFail() throws Exception {
    share = 0.95;
    assertThat(run(false, Integer.MAX_VALUE).failures())
        .containsExactly(
            "exchange: 95.0 % of the links' rate; must be 96 %",
            "slow-rail: 95.0 % of the links' rate; must be 98 %",
            "slow-rail-both: 95.0 % of the links' rate; must be 96 %");
    share = 0.99;
    lost = 2;
    ContentionReport report = run(false, Integer.MAX_VALUE);
    assertThat(report.ok()).isFalse();
    assertThat(report.failures())
        .allMatch(
            line ->
                line.contains("2 faulty messages of 1000")
                    || line.equals("warming up, 2 messages were at fault"));
  }

  @Test
  void timeThatEndsInAWarmUpLeavesItsCaseOut() throws Exception {
    warmUpsMost = 3;
    ContentionReport report = run(false, Integer.MAX_VALUE);

    assertThat(report.finished()).isFalse();
    assertThat(warmUps).isEqualTo(3);
    assertThat(measurements).isEqualTo(2);
    assertThat(report.results()).hasSize(2);
    assertThat(report.failures()).as("what was left out has not failed").isEmpty();
  }

  @Test
  void quickRunsWarmUpForSecondsOnly() throws Exception {
    run(false, Integer.MAX_VALUE);

    assertThat(said)
        .contains("warming up, at most 12.0 s")
        .doesNotContain("warming up, at most 40.0 s");
  }

  @Test
  void whatWasBrokenOffGoesOn() throws Exception {
    assertThat(run(false, 3).finished()).isFalse();
    assertThat(measurements).isEqualTo(3);
    ContentionReport whole = run(true, Integer.MAX_VALUE);
    assertThat(whole.ok()).isTrue();
    assertThat(measurements)
        .as("nothing was measured twice")
        .isEqualTo(whole.results().size() - RATES.length + RATES.length * SLICES);
    assertThat(whole.results())
        .extracting(ContentionLine::id)
        .containsExactlyElementsOf(ContentionCase.all().stream().map(ContentionCase::id).toList());
  }
}
