package org.pmhxb.cli.bench.contention;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.pmhxb.cli.bench.Benchmark;
import org.pmhxb.cli.bench.Journal;
import org.pmhxb.cli.bench.MachineInfo;
import org.pmhxb.cli.bench.MeasuredCluster;
import org.pmhxb.cli.bench.ResultFiles;
import org.pmhxb.cli.bench.SuiteTime;
import org.pmhxb.cli.bench.TrafficPlan;
import org.pmhxb.cli.bench.Undisturbed;
import org.pmhxb.cli.bench.WarmUp;
import org.pmhxb.cli.veth.LinkRate;
import org.pmhxb.router.Shape;

/**
 * The whole of {@code hxb bench contention}: measures, then writes page and JSON. Owner: one
 * thread.
 */
public final class ContentionSuite {
  /** Of streams that compete: who sends more again than that has not given way. */
  private static final double RESENT_MOST = 0.05;

  private static final String PAGE = "contention.md";
  private static final String JSON = "contention.json";

  /** Before each run: links and windows get used to the traffic. */
  private static final long WARM_UP_MS = 1_000;

  /** Of each case: shows about how much. Eight nodes on two processors may not be done by then. */
  private static final Duration QUICK_WARM_UP = Duration.ofSeconds(12);

  private final ResultFiles files;
  private final boolean quick;
  private final boolean resume;
  private final List<ContentionCase> cases;
  private final Clusters clusters;
  private final BooleanSupplier outOfTime;
  private final SuiteTime time;
  private final Consumer<String> progress;

  private final List<ContentionLine> lines = new ArrayList<>();
  private final List<String> failures = new ArrayList<>();
  private Undisturbed undisturbed;

  /** Brings up what is measured; closing it takes it down. */
  public interface Clusters {
    /** Nodes of one process and one thread. */
    MeasuredCluster ring(Shape shape, int rails) throws IOException, InterruptedException;

    /**
     * A process per node.
     *
     * @param slow rate of the first rail of dimension x; null: as the others
     */
    MeasuredCluster veth(Shape shape, int rails, LinkRate rate, LinkRate slow) throws IOException;

    /** The nodes that a plan names in one process, the others in another; both spin. */
    MeasuredCluster relayed(Shape shape, int rails, TrafficPlan plan) throws IOException;
  }

  /**
   * @param files where page and JSON go
   * @param resume whether to go on where an earlier command was broken off
   * @param only ids of the cases to measure; empty: all
   * @param outOfTime when true, the suite breaks off before the next line, or in the warm-up for it
   */
  public ContentionSuite(
      ResultFiles files,
      boolean quick,
      boolean resume,
      Collection<String> only,
      Clusters clusters,
      BooleanSupplier outOfTime,
      Consumer<String> progress) {
    this.files = files;
    this.quick = quick;
    this.resume = resume;
    this.cases =
        ContentionCase.all().stream()
            .filter(what -> only.isEmpty() || only.contains(what.id()))
            .toList();
    this.clusters = clusters;
    this.outOfTime = outOfTime;
    this.time = new SuiteTime(outOfTime);
    this.progress = progress;
  }

  /** What {@code only} may name. */
  public static List<String> ids() {
    return ContentionCase.all().stream().map(ContentionCase::id).toList();
  }

  private int runs() {
    return quick ? 1 : 3;
  }

  /** Of cases that are measured in turn. */
  private int rounds() {
    return quick ? 60 : 120;
  }

  /** Of the whole suite: runs that the host disturbed are repeated for a part of it. */
  private Duration limit() {
    return Duration.ofMinutes(quick ? 4 : 8);
  }

  /** Traffic at most before each case, until its code is compiled. */
  private Duration compile() {
    return quick ? QUICK_WARM_UP : WarmUp.LONGEST;
  }

  private long measureMs() {
    return quick ? 800 : 2_500;
  }

  /**
   * Measures what the journal does not hold, and writes the page.
   *
   * @param command that does so again
   */
  public ContentionReport run(String command, MachineInfo machine)
      throws IOException, InterruptedException {
    long startNs = System.nanoTime();
    Journal journal =
        Journal.open(
            files.path("contention.journal"),
            "%s, %d runs of %d ms, %s"
                .formatted(machine.line(), runs(), measureMs(), Slices.title(rounds())),
            resume);
    undisturbed = new Undisturbed(journal, limit(), outOfTime, progress);
    Map<ContentionCase.Site, List<ContentionCase>> bySite = new LinkedHashMap<>();
    for (ContentionCase what : cases) {
      known(journal, what)
          .ifPresentOrElse(
              lines::add,
              () -> bySite.computeIfAbsent(what.site(), any -> new ArrayList<>()).add(what));
    }
    for (Map.Entry<ContentionCase.Site, List<ContentionCase>> site : bySite.entrySet()) {
      measure(site.getKey(), site.getValue(), journal);
    }
    return write(command, machine, startNs);
  }

  /** Whether some of these, by their ids, are judged when no others are measured. */
  public static boolean haveBudget(List<String> ids) {
    return ids.contains(ContentionCase.relayedRateId(0))
        && ContentionReport.RATE_LOST_MUST.keySet().stream()
            .anyMatch(relays -> ids.contains(ContentionCase.relayedRateId(relays)));
  }

  /** Cases in turn are known together or not at all: each is compared slice by slice. */
  private Optional<ContentionLine> known(Journal journal, ContentionCase what) {
    boolean known =
        cases.stream()
            .filter(other -> other == what || what.isRate() && other.isRate())
            .allMatch(
                other ->
                    journal
                        .find(other.id(), ContentionLine.class)
                        .filter(line -> !isCompared(other) || line.rateLost() != null)
                        .isPresent());
    return known ? journal.find(what.id(), ContentionLine.class) : Optional.empty();
  }

  /** With the direct way, if that is measured; it may have been at another time. */
  private boolean isCompared(ContentionCase what) {
    String direct = ContentionCase.relayedRateId(0);
    return what.isRate()
        && !what.id().equals(direct)
        && cases.stream().anyMatch(other -> other.id().equals(direct));
  }

  private void measure(ContentionCase.Site site, List<ContentionCase> cases, Journal journal)
      throws IOException, InterruptedException {
    if (time.isOver()) {
      return;
    }
    progress.accept("cluster: " + site);
    try (MeasuredCluster cluster = up(site, cases.getFirst().plan())) {
      boolean warmedUpWell = true;
      for (ContentionCase what : cases) {
        if (time.isOver()) {
          return;
        }
        // Each by its own traffic: neighbours alone leave a relay's code uncompiled.
        WarmUp warmUp = new WarmUp(compile(), time::isOver, progress);
        List<String> faults = warmUp.run(cluster, what.plan(), what.sizeBytes());
        failures.addAll(faults);
        warmedUpWell &= faults.isEmpty();
        if (time.isOver()) {
          return;
        }
        if (!what.isRate()) {
          keep(List.of(measure(cluster, what)), warmedUpWell, journal);
        }
      }
      List<ContentionCase> rates = cases.stream().filter(ContentionCase::isRate).toList();
      if (!rates.isEmpty() && !time.isOver()) {
        keep(measureInTurn(cluster, rates), warmedUpWell, journal);
      }
    } catch (IOException | RuntimeException e) {
      SuiteTime.throwIfInterrupted(e);
      failures.add(site + ": " + e.getMessage());
    }
  }

  /** What was measured together goes into the journal together. */
  private void keep(List<ContentionLine> measured, boolean warmedUpWell, Journal journal)
      throws IOException {
    time.progressed();
    lines.addAll(measured);
    measured.forEach(line -> failures.addAll(line.failures()));
    if (warmedUpWell && measured.stream().allMatch(line -> line.failures().isEmpty())) {
      for (ContentionLine line : measured) {
        journal.add(line.id(), line);
      }
    }
  }

  private MeasuredCluster up(ContentionCase.Site site, TrafficPlan plan)
      throws IOException, InterruptedException {
    return switch (site.fabric()) {
      case RING -> clusters.ring(site.shape(), site.rails());
      case VETH -> clusters.veth(site.shape(), site.rails(), site.rate(), site.slow());
      case SHM -> clusters.relayed(site.shape(), site.rails(), plan);
    };
  }

  private ContentionLine measure(MeasuredCluster cluster, ContentionCase what)
      throws IOException, InterruptedException {
    List<Benchmark.Outcome> outcomes = new ArrayList<>();
    for (int run = 1; run <= runs(); run++) {
      progress.accept(what.id() + ", run " + run + " of " + runs());
      outcomes.add(
          undisturbed.measure(
              () -> cluster.measure(what.plan(), what.sizeBytes(), WARM_UP_MS, measureMs())));
    }
    return ContentionLine.of(what, outcomes);
  }

  private List<ContentionLine> measureInTurn(MeasuredCluster cluster, List<ContentionCase> rates)
      throws IOException, InterruptedException {
    Map<ContentionCase, List<Benchmark.Outcome>> slices =
        new Slices(cluster, rounds(), progress).measure(rates);
    List<Benchmark.Outcome> direct =
        slices.entrySet().stream()
            .filter(of -> of.getKey().id().equals(ContentionCase.relayedRateId(0)))
            .map(Map.Entry::getValue)
            .findFirst()
            .orElse(List.of());
    return slices.entrySet().stream()
        .map(of -> ContentionLine.inTurn(of.getKey(), of.getValue(), direct))
        .toList();
  }

  private ContentionReport write(String command, MachineInfo machine, long startNs)
      throws IOException {
    List<String> order = ids();
    lines.sort(Comparator.comparingInt(line -> order.indexOf(line.id())));
    for (ContentionLine line : lines) {
      if (line.must() != null && line.share().median() < line.must()) {
        failures.add(
            "%s: %.1f %% of the links' rate; must be %.0f %%"
                .formatted(line.id(), 100 * line.share().median(), 100 * line.must()));
      }
      if (line.halfRoundTripUs() == null && line.resentShare() > RESENT_MOST) {
        failures.add(
            "%s: %.2f %% of the frames were sent again; must be %.0f %% at most"
                .formatted(line.id(), 100 * line.resentShare(), 100 * RESENT_MOST));
      }
    }
    files.add(PAGE, JSON);
    Map<Integer, Double> rateLost = ContentionReport.rateLost(lines);
    ContentionReport report =
        new ContentionReport(
            failures.isEmpty() && !time.isBrokenOff(),
            command,
            Instant.now().truncatedTo(ChronoUnit.SECONDS).toString(),
            (System.nanoTime() - startNs) / 1e9,
            quick,
            runs(),
            !time.isBrokenOff(),
            machine,
            undisturbed.counts(),
            lines,
            ContentionReport.perRelay(lines),
            rateLost,
            ContentionReport.missed(rateLost),
            failures,
            files);
    files.write(PAGE, ContentionPage.of(report));
    files.writeJson(JSON, report);
    return report;
  }
}
