package org.pmhxb.cli.bench.paper;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.pmhxb.cli.bench.Benchmark;
import org.pmhxb.cli.bench.Journal;
import org.pmhxb.cli.bench.MeasuredCluster;
import org.pmhxb.cli.bench.SuiteTime;
import org.pmhxb.cli.bench.Undisturbed;
import org.pmhxb.cli.bench.WarmUp;
import org.pmhxb.cli.bench.paper.PaperPlan.Section;
import org.pmhxb.cli.bench.paper.PaperPoint.Setup;
import org.pmhxb.cli.veth.LinkRate;
import org.pmhxb.router.Shape;

/** Measures what a {@link PaperPlan} asks for, cluster by cluster. Owner: one thread. */
public final class PaperRun {
  /** The paper's links, and what is taken where the machine does not carry them. */
  private static final LinkRate FULL_RATE = LinkRate.parse("1gbit");

  private static final LinkRate LOWER_RATE = LinkRate.parse("200mbit");

  /** A machine carries a rate when its heaviest traffic reaches this share of it in each run. */
  static final double CARRIED = 0.98;

  /**
   * A rate that asks for more than so many times what the machine carried at most, where it carried
   * less than was asked, is not tried: one kind of traffic takes less of a machine than another,
   * but not so much less.
   */
  private static final double HOPELESS = 2;

  private final Clusters clusters;
  private final Pace pace;
  private final Journal journal;
  private final Consumer<String> progress;
  private final SuiteTime time;
  private final Undisturbed undisturbed;
  private final List<String> failures = new ArrayList<>();
  private final List<Probe> probes = new ArrayList<>();

  /** Brings up what is measured. */
  public interface Clusters {
    /**
     * A cluster over veth; closing it takes it down.
     *
     * @param rate null for unshaped links
     */
    MeasuredCluster up(Shape shape, int rails, LinkRate rate) throws IOException;
  }

  /**
   * How long and how often; times in milliseconds.
   *
   * @param runs of each point
   * @param compileMs traffic at most before a cluster's first measurement, until its code is
   *     compiled
   * @param otherMs the same before its first measurement of each further kind of traffic, which
   *     finds most of it compiled
   * @param warmUpMs traffic before each: the token buckets are emptied
   * @param tableMs measurement of a table's figure
   * @param curveMs measurement of a curve's point
   * @param limit of the whole suite: runs that the host disturbed are repeated for a part of it
   */
  public record Pace(
      int runs,
      long compileMs,
      long otherMs,
      long warmUpMs,
      long tableMs,
      long curveMs,
      Duration limit) {
    /** Three runs of everything. */
    public static final Pace FULL =
        new Pace(3, 25_000, 5_000, 300, 1_500, 700, Duration.ofMinutes(20));

    /** One run of everything: shows that it works, and about how much. */
    public static final Pace QUICK = new Pace(1, 800, 200, 100, 400, 200, Duration.ofMinutes(3));

    public Pace {
      if (runs < 1) {
        throw new IllegalArgumentException("runs is " + runs + "; must be 1 or more");
      }
    }
  }

  /**
   * How a section's rate was chosen.
   *
   * @param table of the paper
   * @param rate in question
   * @param askedGbit what the section's heaviest traffic asks of the machine at that rate: Gbit/s,
   *     over each link and hop
   * @param efficiency that it reached in the worst run; null when it was not tried, since another
   *     section's had shown that the machine carries far less
   * @param carriedGbit what it carried in that run; untried, the most that another section's did
   * @param chosen rate
   */
  public record Probe(
      String table,
      String rate,
      double askedGbit,
      Double efficiency,
      double carriedGbit,
      String chosen) {}

  /**
   * @param outOfTime asked before each point and while it warms up: true breaks off; what was found
   *     is in the journal
   */
  public PaperRun(
      Clusters clusters,
      Pace pace,
      Journal journal,
      BooleanSupplier outOfTime,
      Consumer<String> progress) {
    this.clusters = clusters;
    this.pace = pace;
    this.journal = journal;
    this.time = new SuiteTime(outOfTime);
    this.undisturbed = new Undisturbed(journal, pace.limit(), outOfTime, progress);
    this.progress = progress;
  }

  /**
   * Runs everything that the journal does not hold.
   *
   * @param given rate of all links; null to choose one for each section by measuring
   */
  PaperFindings run(LinkRate given, List<Integer> sizes) throws IOException, InterruptedException {
    PaperPlan plan = new PaperPlan(rates(given), sizes);
    Map<PaperPoint, Measured> found = new LinkedHashMap<>();
    int done = 0;
    Map<Setup, List<PaperPoint>> groups = plan.bySetup();
    for (Map.Entry<Setup, List<PaperPoint>> group : groups.entrySet()) {
      progress.accept(String.format("cluster %d of %d: %s", ++done, groups.size(), group.getKey()));
      measure(group.getKey(), group.getValue(), found);
    }
    found.values().forEach(measured -> failures.addAll(measured.failures()));
    return new PaperFindings(
        plan, found, probes, failures, time.isBrokenOff(), undisturbed.counts());
  }

  private Map<Section, LinkRate> rates(LinkRate given) throws IOException, InterruptedException {
    Map<Section, LinkRate> rates = new EnumMap<>(Section.class);
    for (Section section : Section.values()) {
      rates.put(section, given != null ? given : choose(section));
    }
    return rates;
  }

  private LinkRate choose(Section section) throws IOException, InterruptedException {
    String key = "rate carried in table " + section.table();
    Optional<Probe> known = journal.find(key, Probe.class);
    if (known.isEmpty()) {
      int failed = failures.size();
      known = Optional.of(probe(section, key));
      if (failures.size() == failed) {
        // What failed is tried again when the suite goes on.
        journal.add(key, known.get());
      }
    }
    probes.add(known.get());
    return LinkRate.parse(known.get().chosen());
  }

  private Probe probe(Section section, String key) throws IOException, InterruptedException {
    PaperPoint point = PaperPlan.heaviest(section, FULL_RATE);
    double askedGbit = point.askedBytesPerSecond() * Byte.SIZE / 1e9;
    double mostGbit = probes.stream().mapToDouble(Probe::carriedGbit).max().orElse(0);
    if (askedGbit > HOPELESS * mostGbit && probes.stream().anyMatch(PaperRun::fellShort)) {
      return new Probe(
          section.table(), FULL_RATE.toString(), askedGbit, null, mostGbit, LOWER_RATE.toString());
    }
    progress.accept("does this machine carry table " + section.table() + " at " + FULL_RATE);
    double reached = 0;
    try (MeasuredCluster cluster = up(point.setup())) {
      failures.addAll(warmUp(cluster, point, pace.compileMs()));
      reached = least(cluster, point);
    } catch (IOException | RuntimeException e) {
      SuiteTime.throwIfInterrupted(e);
      failures.add(key + ": " + e.getMessage());
    }
    LinkRate chosen = reached >= CARRIED ? FULL_RATE : LOWER_RATE;
    return new Probe(
        section.table(),
        FULL_RATE.toString(),
        askedGbit,
        reached,
        reached * askedGbit,
        chosen.toString());
  }

  /** Whether something was carried, but too little; 0 is a cluster that did not come up. */
  private static boolean fellShort(Probe probe) {
    return probe.carriedGbit() > 0 && probe.carriedGbit() < CARRIED * probe.askedGbit();
  }

  /** Of as many runs as a figure has, or fewer where one shows already that it is not carried. */
  private double least(MeasuredCluster cluster, PaperPoint point)
      throws IOException, InterruptedException {
    double least = Double.POSITIVE_INFINITY;
    for (int run = 0; run < pace.runs() && least >= CARRIED; run++) {
      Measured measured = Measured.of(point, point.plan(), List.of(runOf(cluster, point)));
      failures.addAll(measured.failures());
      least = Math.min(least, measured.efficiency().median());
    }
    return least;
  }

  private MeasuredCluster up(Setup setup) throws IOException {
    return clusters.up(setup.shape(), setup.rails(), setup.rate());
  }

  private void measure(Setup setup, List<PaperPoint> points, Map<PaperPoint, Measured> found)
      throws IOException, InterruptedException {
    List<PaperPoint> open = new ArrayList<>();
    for (PaperPoint point : points) {
      Optional<Measured> known = journal.find(point.key(), Measured.class);
      known.ifPresentOrElse(m -> found.put(point, m), () -> open.add(point));
    }
    if (open.isEmpty() || time.isOver()) {
      return;
    }
    try (MeasuredCluster cluster = up(setup)) {
      long compileMs = pace.compileMs();
      PaperPoint.Traffic warm = null;
      boolean warmedUpWell = true;
      for (PaperPoint point : open) {
        if (time.isOver()) {
          return;
        }
        if (point.traffic() != warm) {
          // Each way by its own traffic: a node that sent all the time has not compiled receiving.
          List<String> faults = warmUp(cluster, point, compileMs);
          failures.addAll(faults);
          warmedUpWell = faults.isEmpty();
          warm = point.traffic();
          compileMs = pace.otherMs();
          if (time.isOver()) {
            return;
          }
        }
        Measured measured = measure(cluster, point);
        found.put(point, measured);
        time.progressed();
        if (warmedUpWell && measured.failures().isEmpty()) {
          // What failed is measured again when the suite goes on.
          journal.add(point.key(), measured);
        }
      }
    } catch (IOException | RuntimeException e) {
      SuiteTime.throwIfInterrupted(e);
      failures.add(setup + ": " + e.getMessage());
    }
  }

  private List<String> warmUp(MeasuredCluster cluster, PaperPoint point, long compileMs)
      throws IOException, InterruptedException {
    return new WarmUp(Duration.ofMillis(compileMs), time::isOver, progress)
        .run(cluster, point.plan(), point.sizeBytes());
  }

  private Measured measure(MeasuredCluster cluster, PaperPoint point)
      throws IOException, InterruptedException {
    List<Benchmark.Outcome> runs = new ArrayList<>();
    for (int run = 0; run < pace.runs(); run++) {
      progress.accept(point.key() + ", run " + (run + 1) + " of " + pace.runs());
      runs.add(runOf(cluster, point));
    }
    return Measured.of(point, point.plan(), runs);
  }

  private Benchmark.Outcome runOf(MeasuredCluster cluster, PaperPoint point)
      throws IOException, InterruptedException {
    boolean table = point.sizeBytes() == PaperPlan.LARGE_BYTES || point.setup().rate() == null;
    long ms = table ? pace.tableMs() : pace.curveMs();
    return undisturbed.measure(
        () -> cluster.measure(point.plan(), point.sizeBytes(), pace.warmUpMs(), ms));
  }
}
