package org.pmhxb.cli.bench.peers;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.cli.bench.BenchKind;
import org.pmhxb.cli.bench.Benchmark;
import org.pmhxb.cli.bench.CpuUse;
import org.pmhxb.cli.bench.MachineInfo;
import org.pmhxb.cli.bench.TrafficPlan;
import org.pmhxb.cli.cluster.ClusterSpec;
import org.pmhxb.cli.veth.LinkRate;
import org.pmhxb.cli.workload.LatencyHistogram;

/** The whole suite over clusters and peers that only pretend. */
class PeersSuiteTest {
  private static final LinkRate RATE = LinkRate.parse("200mbit");
  private static final MachineInfo MACHINE =
      new MachineInfo("a cpu", 2, 8, "6.1", "a system", Map.of("hxb", "1"));

  private static final int PROCESSORS = Runtime.getRuntime().availableProcessors();

  @TempDir private Path home;
  private Path directory;
  private int measurements;
  private int open;

  /** What our nodes carried, cluster by cluster. */
  private final List<String> traffic = new ArrayList<>();

  /** What ours reach of the links' rate. */
  private double ours = 0.991;

  /** What the pretended host takes of the processors while ours are measured. */
  private double withheld;

  /** The same while peers are, in the tries of a case; then nothing. */
  private double[] withheldOfPeers = {};

  @BeforeEach
  void keepResultsWithTheProject() {
    directory = home.resolve("docs/results");
  }

  private final class FakePeer implements Peer {
    private final String name;
    private final double[] shares;
    private final Map<PeerCase, Integer> runs = new HashMap<>();

    /**
     * @param shares of the links' rate: what the first run of a case gives, the second, and so on,
     *     the last for all that follow; 0: it tells nothing, as the first it is missing; below: it
     *     fails
     */
    private FakePeer(String name, double... shares) {
      this.name = name;
      this.shares = shares;
    }

    @Override
    public String name() {
      return name;
    }

    @Override
    public String how() {
      return "pretends";
    }

    @Override
    public Optional<String> missing() {
      return shares[0] == 0
          ? Optional.of(home + "/target/peers is empty: install it")
          : Optional.empty();
    }

    @Override
    public String version() {
      return "0";
    }

    @Override
    public boolean supports(PeerCase what) {
      return what.medium() != PeerCase.Medium.SHARED_MEMORY;
    }

    @Override
    public boolean polls() {
      return name.equals("polls");
    }

    @Override
    public PeerFigures run(PeerCase what, PeerSite site, Foreign programs, Times times)
        throws IOException {
      measurements++;
      int run = runs.merge(what, 1, Integer::sum);
      double share = shares[Math.min(run, shares.length) - 1];
      if (share < 0) {
        throw new IOException("it fell over in " + home);
      }
      double taken = run <= withheldOfPeers.length ? withheldOfPeers[run - 1] : 0;
      int links = what.both() ? 2 * what.links() : what.links();
      return what.ping()
          ? new PeerFigures(null, 5.0, 2.0, 1.0, taken, null)
          : new PeerFigures(
              share * links * RATE.bytesPerSecond() / what.sizeBytes(),
              null,
              1.0,
              polls() ? 1 : 0.5,
              taken,
              null);
    }
  }

  private static String both(TrafficPlan plan) {
    return plan.kind() == BenchKind.BANDWIDTH && plan.links() == 2 * plan.linksPerNode()
        ? "both "
        : "";
  }

  private PeerClusters.Ends up(ClusterSpec spec) {
    open++;
    traffic.add("up");
    return new PeerClusters.Ends() {
      @Override
      public int rails() {
        return spec.rails();
      }

      @Override
      public List<Long> processes() {
        return List.of();
      }

      @Override
      public Benchmark.Outcome measure(
          TrafficPlan plan, int sizeBytes, long warmUpMs, long measureMs) {
        measurements++;
        traffic.add(
            (warmUpMs == 0 ? "warm " : "run ") + plan.kind() + " " + both(plan) + sizeBytes);
        double bytes = ours * plan.links() * RATE.bytesPerSecond();
        boolean ping = plan.kind() == BenchKind.LATENCY;
        return new Benchmark.Outcome(
            1,
            1 + Math.round(bytes / sizeBytes),
            bytes,
            bytes / sizeBytes,
            0,
            0,
            0,
            0,
            0,
            1,
            0,
            ping ? new LatencyHistogram.Summary(1, 2_000, 3, 4, 5) : null,
            new CpuUse(1, 1.5, 0.9, withheld, 2, null),
            null,
            List.of(),
            new ArrayList<>());
      }

      @Override
      public String[] free() {
        return new String[] {"", ""};
      }

      @Override
      public void close() {
        open--;
      }
    };
  }

  private PeersReport run(boolean resume, int most, List<String> selected, Peer... peers)
      throws IOException, InterruptedException {
    PeersSuite.Settings settings =
        new PeersSuite.Settings(directory, home, true, resume, RATE, selected);
    return new PeersSuite(
            settings, List.of(peers), this::up, () -> measurements >= most, line -> {})
        .run("hxb bench peers", MACHINE);
  }

  @Test
  void putsOursAndThePeersSideBySide() throws Exception {
    PeersReport report =
        run(false, Integer.MAX_VALUE, List.of(), new FakePeer("good", 0.5), new FakePeer("no", 0));

    assertThat(report.ok()).as(report.failures().toString()).isTrue();
    assertThat(report.missing())
        .containsExactly(Map.entry("no", home + "/target/peers is empty: install it"));
    assertThat(open).isZero();
    assertThat(Files.readString(directory.resolve("peers.md")))
        .contains("## 8,192 B messages, one way")
        .contains("| hxb | 0.991 | 0.991 |\n| good | 0.500 | 0.500 |")
        .contains("| hxb | 1.50 | 6,727 |")
        .contains("- Not measured: **no**: target/peers is empty: install it")
        .contains("| spin | 2.00 | 1.50 | 0.991 | 1.50 |")
        .contains("- **good** (0): pretends")
        .contains(
            "| 8 KB messages one way, of the links | >= 0.980 | >= 0.990 | 0.991, 2 links | aim |"
                + " good: 0.500 |")
        .contains("| half round trip, veth, us | <= 2.50 | <= 1.60 | 2.00 | must | good: 5.00 |")
        .contains("| half round trip, shm, us | <= 1.00 | <= 0.70 | 2.00 | **missed** | - |")
        .contains("| hxb over memif | 2.00 |")
        .contains("| half round trip, memif, us | <= 1.00 | <= 0.70 | 2.00 | **missed** | - |")
        .contains("| hxb: one way, 8192 B, 9 shaped | 0.991 | 1.50 | 55,109 | 6,727 | - | links |")
        .contains("![8,192 B messages, both ways](peers/share-8192-both.svg)");
    assertThat(directory.resolve("peers/share-8192-both.svg")).isNotEmptyFile();
    JsonNode json = new ObjectMapper().readTree(directory.resolve("peers.json").toFile());
    assertThat(json.path("found")).hasSize(report.found().size());
    assertThat(json.path("files"))
        .extracting(JsonNode::asText)
        .hasSize(8)
        .contains("peers.md", "peers.json", "peers/share-8192-both.svg")
        .allMatch(file -> Files.exists(directory.resolve(file)));
    saysNothingOfWhereTheProjectLies();
  }

  @Test
  void warmsOurNodesUpWithEachTrafficThatIsMeasured() throws Exception {
    run(false, Integer.MAX_VALUE, List.of(PeersSuite.HXB));

    List<String> steps = traffic.stream().distinct().toList();
    assertThat(steps)
        .contains("warm bandwidth both 8192", "run bandwidth both 8192", "run latency 64");
    List<String> warmed = new ArrayList<>();
    for (String step : traffic) {
      if (step.startsWith("warm ")) {
        warmed.add(step.substring(5));
      } else if (step.startsWith("run ")) {
        assertThat(warmed.getLast()).isEqualTo(step.substring(4));
      } else {
        warmed.clear();
      }
    }
  }

  @Test
  void whoGoesOnMeasuresAgainWhatTheHostDisturbed() throws Exception {
    List<String> ours = List.of(PeersSuite.HXB);
    withheld = 0.07;
    run(false, Integer.MAX_VALUE, ours);
    int disturbed = measurements;
    withheld = 0.0;
    PeersReport report = run(true, Integer.MAX_VALUE, ours);
    int again = measurements;

    assertThat(again).isGreaterThan(disturbed);
    assertThat(report.found()).isNotEmpty().allMatch(f -> f.withheld().median() == 0);
    assertThat(report.found()).extracting(f -> f.peer() + f.what().key()).doesNotHaveDuplicates();
    run(true, Integer.MAX_VALUE, ours);
    assertThat(measurements).isEqualTo(again);
  }

  @Test
  void saysAtEachFigureWhatTheHostTook() throws Exception {
    withheld = 0.07;
    PeersReport report =
        run(false, Integer.MAX_VALUE, List.of(), new FakePeer("good", 0.5), new FakePeer("no", 0));

    String took = ", host took 7 %";
    assertThat(Files.readString(directory.resolve("peers.md")))
        .contains("- Host: withheld 2 % of the processors or more in a run of ")
        .contains("figures, 7 % at most.")
        .contains("| hxb | 0.991%s | 0.991%s |\n| good | 0.500 | 0.500 |".formatted(took, took))
        .contains("| spin | 2.00%s | 1.50 | 0.991%s | 1.50 |".formatted(took, took))
        .contains("| >= 0.990 | 0.991, 2 links%s | aim | good: 0.500 |".formatted(took))
        .contains("| 55,109 | 6,727 | - | links%s |".formatted(took))
        .contains(" | - | none full: 50 %% of %d processors |".formatted(PROCESSORS));
    JsonNode json = new ObjectMapper().readTree(directory.resolve("peers.json").toFile());
    for (JsonNode found : json.path("found")) {
      double taken = found.path("peer").asText().startsWith("hxb") ? 0.07 : 0;
      assertThat(found.path("withheld").path("max").isNumber()).isTrue();
      assertThat(found.path("withheld").path("max").asDouble()).isEqualTo(taken);
    }
    assertThat(report.aims()).allMatch(aim -> aim.withheld().median() == 0.07);
    long figures =
        report.found().stream().filter(found -> PeersSuite.isOurs(found.peer())).count()
            + 2L * report.idle().size();
    assertThat(report.disturbed().repeated()).as("idle strategies too").isEqualTo((int) figures);
    assertThat(report.disturbed().disturbed()).isEqualTo((int) figures);
    assertThat(Files.readString(directory.resolve("peers.md")))
        .contains("Measured again: %1$d; still disturbed: %1$d.%n".formatted(figures));
  }

  @Test
  void fullProcessorsOfOneThatPollsAreNamedAsSuch() throws Exception {
    run(
        false,
        Integer.MAX_VALUE,
        List.of("polls", "good"),
        new FakePeer("polls", 0.5),
        new FakePeer("good", 0.5));

    assertThat(Files.readString(directory.resolve("peers.md")).lines())
        .filteredOn(line -> line.startsWith("| polls: one way"))
        .isNotEmpty()
        .allMatch(
            line -> line.endsWith("| 100 %% of %d processors, polling |".formatted(PROCESSORS)));
  }

  @Test
  void aPeerThatFailsOrIsTooFastIsNamedAndDoesNotFailOurs() throws Exception {
    PeersReport report =
        run(
            false,
            Integer.MAX_VALUE,
            List.of("bad", "fast", "good"),
            new FakePeer("bad", -1),
            new FakePeer("fast", 1.02),
            new FakePeer("good", 0.9));

    assertThat(report.ok()).isTrue();
    assertThat(report.failures()).isEmpty();
    assertThat(report.peerFailures())
        .anyMatch(line -> line.startsWith("bad: one way, 8192 B") && line.contains("fell over"))
        .anyMatch(line -> line.startsWith("fast: both ways") && line.contains("did not bite"))
        .noneMatch(line -> line.startsWith("good"));
    assertThat(report.failedPeers().orElseThrow())
        .isEqualTo("peers that failed: bad in 8 cases, fast in 6 cases; the exit code is ours");
    String page = Files.readString(directory.resolve("peers.md"));
    assertThat(page)
        .contains("| bad | failed: ended in an error 3 times | failed: ended in an error 3 times |")
        .contains("| fast | failed: above the links' rate 3 times |")
        .contains("| good | 0.900 | 0.900 |")
        .contains("- fast: both ways, 8192 B, 2 shaped, **failed**: above the links' rate 3 times")
        .doesNotContain("1.020 |")
        .doesNotContain("| hxb |");
    assertThat(page.lines().filter(line -> line.equals("  - it fell over in .")))
        .as("each try")
        .hasSize(3 * 8);
    JsonNode json = new ObjectMapper().readTree(directory.resolve("peers.json").toFile());
    assertThat(json.path("ok").asBoolean()).isTrue();
    assertThat(json.path("peerFailures")).hasSize(8 + 6);
    assertThat(json.path("found"))
        .filteredOn(found -> found.has("failure"))
        .hasSize(8 + 6)
        .allMatch(found -> !found.has("share") && found.path("refused").size() == 3);
    StringWriter text = new StringWriter();
    report.print(new PrintWriter(text, true));
    assertThat(text.toString()).contains("peer failed: fast: both ways").doesNotContain("FAILED");
    saysNothingOfWhereTheProjectLies();
  }

  @Test
  void oursAboveTheLinksRateFailWithoutAnotherTry() throws Exception {
    ours = 1.02;
    PeersReport report = run(false, Integer.MAX_VALUE, List.of(), new FakePeer("good", 0.5));

    assertThat(report.ok()).isFalse();
    assertThat(report.failures())
        .anyMatch(line -> line.startsWith("hxb: one way, 8192 B") && line.contains("did not bite"))
        .anyMatch(line -> line.startsWith("idle spin: ") && line.contains("did not bite"));
    assertThat(report.peerFailures()).isEmpty();
    assertThat(report.failedPeers()).isEmpty();
    assertThat(traffic.stream().filter("run bandwidth both 8192"::equals))
        .as("once for 2 and for 9 links")
        .hasSize(2);
    assertThat(Files.readString(directory.resolve("peers.md")))
        .contains("| hxb | failed | failed |\n| good | 0.500 | 0.500 |")
        .contains("## What failed\n")
        .doesNotContain("1.020 |");
  }

  private void saysNothingOfWhereTheProjectLies() throws IOException {
    for (String file : List.of("peers.md", "peers.json")) {
      assertThat(Files.readString(directory.resolve(file))).doesNotContain(home.toString());
    }
  }

  @Test
  void aRefusedTryIsMadeAgainAndKept() throws Exception {
    PeersReport report =
        run(
            false,
            Integer.MAX_VALUE,
            List.of("fast", "falls", "good"),
            new FakePeer("fast", 1.02, 1.03, 0.9),
            new FakePeer("falls", -1, 0, 0.9),
            new FakePeer("good", 0.9));

    assertThat(report.peerFailures()).isEmpty();
    assertThat(report.found())
        .filteredOn(found -> found.what().medium() == PeerCase.Medium.SHAPED)
        .hasSize(3 * 6)
        .allMatch(found -> Math.abs(found.share().median() - 0.9) < 1e-9)
        .allSatisfy(
            found ->
                assertThat(found.refused())
                    .extracting(PeerFound.Refused::why)
                    .isEqualTo(
                        switch (found.peer()) {
                          case "fast" ->
                              List.of(PeerFound.Why.ABOVE_RATE, PeerFound.Why.ABOVE_RATE);
                          case "falls" -> List.of(PeerFound.Why.ERROR, PeerFound.Why.NOTHING);
                          default -> List.of();
                        }));
    assertThat(Files.readString(directory.resolve("peers.md")))
        .contains("; tried again: above the links' rate 2 times |")
        .contains("; tried again: nothing measured once, ended in an error once |")
        .contains("- fast: one way, 8192 B, 9 shaped: above the links' rate 2 times\n")
        .contains("  - efficiency 1.030 is above 1.01");
    JsonNode json = new ObjectMapper().readTree(directory.resolve("peers.json").toFile());
    assertThat(json.path("found"))
        .filteredOn(found -> found.path("peer").asText().equals("falls"))
        .isNotEmpty()
        .allMatch(found -> found.path("refused").path(0).path("message").asText().contains("fell"));
  }

  /** A fourth try would be good. */
  @Test
  void aRunHasThreeTries() throws Exception {
    PeersReport report =
        run(false, Integer.MAX_VALUE, List.of("fast"), new FakePeer("fast", -1, 1.02, 0, 0.9));

    assertThat(measurements)
        .as("no links limit two cases: their second try is good")
        .isEqualTo(3 * 6 + 2 * 2);
    assertThat(report.found())
        .filteredOn(found -> found.what().medium() == PeerCase.Medium.SHAPED)
        .isNotEmpty()
        .allMatch(found -> found.share() == null)
        .allMatch(
            found ->
                found
                    .failure()
                    .equals(
                        "above the links' rate once, nothing measured once, ended in an error once;"
                            + " the last time: messages a second: 0.0"));
  }

  @Test
  void resumingTriesPeersThatFailedAgainAndKeepsWhatWasRefused() throws Exception {
    run(
        false,
        Integer.MAX_VALUE,
        List.of("bad", "fast"),
        new FakePeer("bad", -1),
        new FakePeer("fast", 1.02, 0.9));
    measurements = 0;
    PeersReport report =
        run(
            true,
            Integer.MAX_VALUE,
            List.of("bad", "fast"),
            new FakePeer("bad", 0.8),
            new FakePeer("fast", 0.7));

    assertThat(measurements).as("bad's alone").isEqualTo(report.found().size() / 2);
    assertThat(report.peerFailures()).isEmpty();
    assertThat(report.found())
        .filteredOn(found -> found.what().medium() == PeerCase.Medium.SHAPED)
        .allMatch(found -> found.refused().size() == (found.peer().equals("fast") ? 1 : 0));
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, -1, Double.NaN, Double.POSITIVE_INFINITY})
  void whatIsNoFigureIsRefusedWithoutShapedLinksToo(double figure) {
    PeerCase stream = PeersPlan.unshaped(PeerCase.Medium.VETH).getLast();
    PeerCase ping = PeersPlan.unshaped(PeerCase.Medium.SHARED_MEMORY).getFirst();

    assertThat(PeerFound.objection(stream, RATE, PeerFigures.stream(figure)))
        .hasValueSatisfying(refused -> assertThat(refused.why()).isEqualTo(PeerFound.Why.NOTHING));
    assertThat(PeerFound.objection(ping, RATE, PeerFigures.ping(figure))).isPresent();
    assertThat(PeerFound.objection(ping, RATE, PeerFigures.stream(1))).isPresent();
    assertThat(PeerFound.objection(stream, RATE, PeerFigures.stream(1))).isEmpty();
  }

  @Test
  void ofAPeersDisturbedRunsTheLeastDisturbedCountsThoughItMeasuredLess() throws Exception {
    withheldOfPeers = new double[] {0.4, 0.05, 0.2};
    PeersReport report =
        run(false, Integer.MAX_VALUE, List.of("good"), new FakePeer("good", 0.9, 0.5, 0.8, 0.95));

    int cases = report.found().size();
    assertThat(measurements).isEqualTo(3 * cases);
    assertThat(report.disturbed().repeated()).isEqualTo(cases);
    assertThat(report.disturbed().disturbed()).isEqualTo(cases);
    assertThat(report.found())
        .filteredOn(found -> found.what().medium() == PeerCase.Medium.SHAPED)
        .isNotEmpty()
        .allMatch(found -> Math.abs(found.share().median() - 0.5) < 1e-9)
        .allMatch(found -> found.withheld().max() == 0.05)
        .allMatch(found -> found.refused().isEmpty());
  }

  /** Of our first case the warm-up and the run, then the next one's warm-up. */
  @Test
  void timeThatEndsInAWarmUpLeavesItsCaseOut() throws Exception {
    PeersReport report = run(false, 3, List.of(PeersSuite.HXB));

    assertThat(measurements).isEqualTo(3);
    assertThat(report.finished()).isFalse();
    assertThat(report.found()).hasSize(1);
    assertThat(report.failures()).isEmpty();
  }

  @Test
  void whatWasBrokenOffGoesOn() throws Exception {
    Peer[] peers = {new FakePeer("good", 0.5)};
    assertThat(run(false, 4, List.of(), peers).finished()).isFalse();
    assertThat(measurements).isEqualTo(4);
    PeersReport whole = run(true, Integer.MAX_VALUE, List.of(), peers);
    assertThat(whole.ok()).isTrue();
    int all = measurements;
    measurements = 0;
    run(false, Integer.MAX_VALUE, List.of(), peers);
    assertThat(measurements).as("nothing was measured twice").isEqualTo(all);
  }
}
