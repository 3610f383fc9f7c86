package org.pmhxb.cli.bench.peers;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.pmhxb.cli.Words;
import org.pmhxb.cli.bench.BenchKind;
import org.pmhxb.cli.bench.Benchmark;
import org.pmhxb.cli.bench.CoreDistance;
import org.pmhxb.cli.bench.Journal;
import org.pmhxb.cli.bench.MachineInfo;
import org.pmhxb.cli.bench.MeasuredCluster;
import org.pmhxb.cli.bench.ResultFiles;
import org.pmhxb.cli.bench.SuiteTime;
import org.pmhxb.cli.bench.TrafficPlan;
import org.pmhxb.cli.bench.Undisturbed;
import org.pmhxb.cli.bench.WarmUp;
import org.pmhxb.cli.bench.peers.PeerCase.Medium;
import org.pmhxb.cli.cluster.ClusterSpec;
import org.pmhxb.cli.cluster.NodeOptions;
import org.pmhxb.cli.cluster.PollPolicy;
import org.pmhxb.cli.veth.LinkRate;
import org.pmhxb.router.HxbConfig;
import org.pmhxb.router.Shape;

/**
 * The whole of {@code hxb bench peers}: for each set of links our nodes first, then every peer in
 * the same namespaces over the same links. Owner: one thread.
 */
public final class PeersSuite {
  /** Our own name among the peers. */
  public static final String HXB = "hxb";

  /** Ours where memif takes the place of the shared-memory lines that only our nodes speak. */
  static final String HXB_MEMIF = "hxb over memif";

  private static final String PAGE = "peers.md";
  private static final String JSON = "peers.json";
  private static final Shape TWO = Shape.of(2);

  /** Of one run of a peer, at most. */
  static final int TRIES = 3;

  /** Before each run: the token buckets are emptied. */
  private static final long WARM_UP_MS = 1_000;

  private final Settings settings;
  private final List<Peer> peers;
  private final PeerClusters clusters;
  private final BooleanSupplier outOfTime;
  private final SuiteTime time;
  private final Consumer<String> progress;

  private final List<PeerFound> found = new ArrayList<>();
  private final List<IdleFound> idle = new ArrayList<>();
  private final List<String> failures = new ArrayList<>();
  private final Map<String, String> missing = new LinkedHashMap<>();
  private Journal journal;
  private Undisturbed undisturbed;

  /** Of the case under way. */
  private final List<PeerFound.Refused> refused = new ArrayList<>();

  /** What our nodes have carried last, to which they are compiled; null: they have just started. */
  private PeerCase warm;

  /**
   * What a user chooses.
   *
   * @param directory where results go
   * @param home of the project: scripts/peers and target/peers lie there
   * @param rate of shaped links
   * @param selected names of peers; empty for all
   */
  public record Settings(
      Path directory,
      Path home,
      boolean quick,
      boolean resume,
      LinkRate rate,
      List<String> selected) {
    int runs() {
      return quick ? 1 : 3;
    }

    PeersPlan plan() {
      return quick ? PeersPlan.QUICK : PeersPlan.FULL;
    }

    Peer.Times times() {
      return quick ? new Peer.Times(0.3, 1) : new Peer.Times(0.5, 1);
    }

    /** Of the whole suite: runs that the host disturbed are repeated for a part of it. */
    Duration limit() {
      return Duration.ofMinutes(quick ? 5 : 30);
    }

    /** Traffic at most before the first measurement of nodes that have just started. */
    Duration compile() {
      return Duration.ofSeconds(quick ? 5 : 20);
    }

    /** The same of nodes that have carried other traffic: most of it is compiled. */
    Duration compileOther() {
      return Duration.ofSeconds(quick ? 1 : 5);
    }
  }

  public PeersSuite(
      Settings settings,
      PeerClusters clusters,
      BooleanSupplier outOfTime,
      Consumer<String> progress) {
    this(settings, all(settings.home(), settings.rate()), clusters, outOfTime, progress);
  }

  PeersSuite(
      Settings settings,
      List<Peer> peers,
      PeerClusters clusters,
      BooleanSupplier outOfTime,
      Consumer<String> progress) {
    this.settings = settings;
    this.peers = peers;
    this.clusters = clusters;
    this.outOfTime = outOfTime;
    this.time = new SuiteTime(outOfTime);
    this.progress = progress;
  }

  private static List<Peer> all(Path home, LinkRate rate) {
    Path built = home.resolve("target/peers");
    return List.of(
        new Iperf3Peer(false),
        new Iperf3Peer(true),
        new MpiPeer(true, built),
        new MpiPeer(false, built),
        new UcxPeer(rate),
        new AeronPeer(built),
        new SockperfPeer(true),
        new SockperfPeer(false),
        new TestpmdPeer());
  }

  /** Names that {@code --peers} takes. */
  public static List<String> names() {
    return Stream.concat(
            Stream.of(HXB), all(Path.of("."), LinkRate.parse("1gbit")).stream().map(Peer::name))
        .toList();
  }

  /** Measures what the journal does not hold, and writes the page. */
  public PeersReport run(String command, MachineInfo machine)
      throws IOException, InterruptedException {
    long startNs = System.nanoTime();
    List<Peer> present = present();
    String fingerprint =
        machine.line() + settings.runs() + settings.times() + settings.rate() + ", tries: " + TRIES;
    journal =
        Journal.open(settings.directory().resolve("peers.journal"), fingerprint, settings.resume());
    undisturbed = new Undisturbed(journal, settings.limit(), outOfTime, progress);
    for (int links : settings.plan().links()) {
      ClusterSpec spec = new ClusterSpec(ClusterSpec.Fabric.VETH, TWO, links, settings.rate());
      measure(HXB, spec, settings.plan().shaped(links), present);
    }
    PollPolicy spin = new PollPolicy(HxbConfig.Idle.SPIN, true);
    measure(
        HXB,
        new ClusterSpec(ClusterSpec.Fabric.VETH, TWO, 1, null, spin, NodeOptions.NONE),
        settings.plan().small(Medium.VETH),
        present);
    List<PeerCase> memory = settings.plan().small(Medium.SHARED_MEMORY);
    measure(
        HXB,
        new ClusterSpec(ClusterSpec.Fabric.SHM, TWO, 1, null, spin, NodeOptions.NONE),
        memory,
        present);
    measure(
        HXB_MEMIF,
        new ClusterSpec(ClusterSpec.Fabric.MEMIF, TWO, 1, null, spin, NodeOptions.NONE),
        memory,
        List.of());
    if (selected(HXB)) {
      for (HxbConfig.Idle strategy : HxbConfig.Idle.values()) {
        measureIdle(strategy);
      }
    }
    return write(command, machine, startNs, present);
  }

  /** Whether a name is one of ours rather than of a peer. */
  public static boolean isOurs(String peer) {
    return peer.equals(HXB) || peer.equals(HXB_MEMIF);
  }

  private boolean selected(String name) {
    return settings.selected().isEmpty() || settings.selected().contains(name);
  }

  private List<Peer> present() {
    List<Peer> present = new ArrayList<>();
    for (Peer peer : peers) {
      if (!selected(peer.name())) {
        continue;
      }
      Optional<String> reason = peer.missing();
      reason.ifPresentOrElse(r -> missing.put(peer.name(), r), () -> present.add(peer));
    }
    return present;
  }

  /** Ours on a fresh cluster, then the others in what it leaves. */
  private void measure(String us, ClusterSpec spec, List<PeerCase> cases, List<Peer> present)
      throws IOException, InterruptedException {
    List<PeerCase> ours = selected(HXB) ? open(us, cases) : List.of();
    Map<Peer, List<PeerCase>> others = new LinkedHashMap<>();
    for (Peer peer : present) {
      List<PeerCase> rest = open(peer.name(), cases.stream().filter(peer::supports).toList());
      if (!rest.isEmpty()) {
        others.put(peer, rest);
      }
    }
    if (ours.isEmpty() && others.isEmpty() || time.isOver()) {
      return;
    }
    boolean spins = spec.poll().idle() == HxbConfig.Idle.SPIN;
    guarded(
        spec.fabric() + ", " + Words.count(spec.rails(), "link"),
        () -> {
          try (PeerClusters.Ends ends = clusters.up(spec)) {
            warm = null;
            for (PeerCase what : ours) {
              keep(us, spins, what, () -> runOurs(ends, what));
            }
            String[] names = others.isEmpty() ? null : ends.free();
            PeerSite site =
                names == null || names[0].isEmpty()
                    ? PeerSite.local()
                    : PeerSite.setUp(names[0], names[1], spec.rails());
            for (Map.Entry<Peer, List<PeerCase>> peer : others.entrySet()) {
              for (PeerCase what : peer.getValue()) {
                keep(
                    peer.getKey().name(),
                    peer.getKey().polls(),
                    what,
                    () -> tried(peer.getKey(), what, site));
              }
            }
          }
          return null;
        });
  }

  /**
   * What the journal does not hold; what it does is taken over, but for what the host disturbed,
   * whoever was measured and whatever it reached.
   */
  private List<PeerCase> open(String peer, List<PeerCase> cases) {
    List<PeerCase> rest = new ArrayList<>();
    for (PeerCase what : cases) {
      journal
          .find(peer + ": " + what.key(), PeerFound.class)
          .filter(kept -> !isDisturbed(kept))
          .ifPresentOrElse(found::add, () -> rest.add(what));
    }
    return rest;
  }

  private static boolean isDisturbed(PeerFound kept) {
    return kept.withheld() != null && Undisturbed.isDisturbed(kept.withheld().median());
  }

  /** Measures a case several times; a failure is named and does not keep the next one away. */
  private void keep(String peer, boolean polls, PeerCase what, Undisturbed.Run<PeerFigures> once)
      throws IOException, InterruptedException {
    if (time.isOver()) {
      return;
    }
    List<PeerFigures> runs = new ArrayList<>();
    refused.clear();
    PeerFound result;
    try {
      for (int run = 1; run <= settings.runs(); run++) {
        progress.accept(peer + ": " + what.key() + ", run " + run + " of " + settings.runs());
        runs.add(undisturbed.measure(once, PeerFigures::withheld));
      }
      result = PeerFound.of(peer, what, settings.rate(), runs, List.copyOf(refused), polls);
    } catch (SuiteTime.OverException _) {
      return;
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception e) {
      SuiteTime.throwIfInterrupted(e);
      result = PeerFound.failed(peer, what, List.copyOf(refused), String.valueOf(e.getMessage()));
    }
    time.progressed();
    found.add(result);
    if (result.failure() == null) {
      journal.add(peer + ": " + what.key(), result);
    } else if (isOurs(peer)) {
      failures.add(result.line());
    }
  }

  private PeerFigures runOurs(MeasuredCluster cluster, PeerCase what)
      throws IOException, InterruptedException {
    Benchmark.Outcome outcome = measure(cluster, what);
    PeerFigures figures =
        what.ping()
            ? PeerFigures.ping(outcome.latency().p50() / 1e3)
            : PeerFigures.stream(outcome.bytesPerSecond() / what.sizeBytes());
    return figures.using(outcome.cpu());
  }

  private Benchmark.Outcome measure(MeasuredCluster cluster, PeerCase what)
      throws IOException, InterruptedException {
    BenchKind kind = what.ping() ? BenchKind.LATENCY : BenchKind.BANDWIDTH;
    TrafficPlan plan = TrafficPlan.pair(kind, TWO, cluster.rails(), 0, what.both());
    long measureMs = Math.round(1e3 * settings.times().measure());
    if (!what.equals(warm)) {
      // Each by its own traffic: who has only sent or received has not compiled doing both at once.
      Duration most = warm == null ? settings.compile() : settings.compileOther();
      List<String> faults =
          new WarmUp(most, time::isOver, progress).run(cluster, plan, what.sizeBytes());
      if (!faults.isEmpty()) {
        throw new IOException("warming up: " + faults);
      }
      warm = what;
      time.throwIfOver();
    }
    Benchmark.Outcome outcome = cluster.measure(plan, what.sizeBytes(), WARM_UP_MS, measureMs);
    if (outcome.faulty() > 0 || !outcome.failures().isEmpty() || outcome.messages() == 0) {
      throw new IOException(outcome.faulty() + " faulty messages; " + outcome.failures());
    }
    return outcome;
  }

  /**
   * Again where it fails, tells no figure, or more came than the links carry: what lay in the
   * receiver's sockets when the measurement began was sent before.
   *
   * @throws IOException when the last try is refused, too
   */
  private PeerFigures tried(Peer peer, PeerCase what, PeerSite site)
      throws IOException, InterruptedException {
    for (int tries = 1; ; tries++) {
      PeerFound.Refused refusal;
      try {
        PeerFigures figures = run(peer, what, site);
        Optional<PeerFound.Refused> objection = PeerFound.objection(what, settings.rate(), figures);
        if (objection.isEmpty()) {
          return figures;
        }
        refusal = objection.get();
      } catch (InterruptedException e) {
        throw e;
      } catch (Exception e) {
        SuiteTime.throwIfInterrupted(e);
        refusal = new PeerFound.Refused(PeerFound.Why.ERROR, String.valueOf(e.getMessage()));
      }
      refused.add(refusal);
      if (tries == TRIES) {
        throw new IOException(
            PeerFound.Refused.words(refused) + "; the last time: " + refusal.message());
      }
      progress.accept(peer.name() + ": " + PeerFound.Refused.words(refused) + "; tried again");
    }
  }

  private PeerFigures run(Peer peer, PeerCase what, PeerSite site)
      throws IOException, InterruptedException {
    try (Foreign programs =
        new Foreign(
            settings.home().resolve("scripts/peers"),
            settings.home().resolve("target/peers/run"),
            site.isLocal() ? CoreDistance.here() : null)) {
      PeerFigures figures = peer.run(what, site, programs, settings.times());
      return figures.using(programs.cpuUse());
    }
  }

  private void measureIdle(HxbConfig.Idle strategy) throws IOException, InterruptedException {
    String key = "idle " + strategy;
    Optional<IdleFound> known = journal.find(key, IdleFound.class);
    if (known.isPresent()) {
      idle.add(known.get());
      return;
    }
    if (time.isOver()) {
      return;
    }
    guarded(
        key,
        () -> {
          PollPolicy poll = new PollPolicy(strategy, true);
          List<PeerFigures> pings = idleRuns(poll, null, true);
          List<PeerFigures> streams = idleRuns(poll, settings.rate(), false);
          PeerCase ping = PeersPlan.unshaped(Medium.VETH).getFirst();
          PeerCase stream = new PeerCase(Medium.SHAPED, false, 1, PeersPlan.MEDIUM_BYTES, false);
          PeerFound half = PeerFound.of(HXB, ping, null, pings, List.of(), false);
          PeerFound share = PeerFound.of(HXB, stream, settings.rate(), streams, List.of(), false);
          IdleFound result =
              new IdleFound(
                  strategy.toString(),
                  half.halfRoundTripUs(),
                  half.processorsUsed(),
                  half.withheld(),
                  share.share(),
                  share.processorsUsed(),
                  share.withheld(),
                  half.failure() != null ? half.failure() : share.failure());
          time.progressed();
          idle.add(result);
          if (result.failure() != null) {
            throw new IOException(result.failure());
          }
          journal.add(key, result);
          return null;
        });
  }

  private List<PeerFigures> idleRuns(PollPolicy poll, LinkRate rate, boolean ping)
      throws IOException, InterruptedException {
    List<PeerFigures> runs = new ArrayList<>();
    ClusterSpec spec =
        new ClusterSpec(ClusterSpec.Fabric.VETH, TWO, 1, rate, poll, NodeOptions.NONE);
    try (PeerClusters.Ends ends = clusters.up(spec)) {
      warm = null;
      for (int run = 1; run <= settings.runs(); run++) {
        progress.accept("idle " + poll.idle() + ", run " + run + " of " + settings.runs());
        int size = ping ? PeersPlan.SMALL_BYTES : PeersPlan.MEDIUM_BYTES;
        PeerCase what = new PeerCase(Medium.VETH, ping, 1, size, false);
        runs.add(undisturbed.measure(() -> runOurs(ends, what), PeerFigures::withheld));
      }
    }
    return runs;
  }

  /** A cluster that does not come up is named, and the others are measured. */
  private void guarded(String what, Callable<Void> work) throws InterruptedException {
    try {
      work.call();
    } catch (SuiteTime.OverException _) {
      // What is missing is named as such.
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception e) {
      SuiteTime.throwIfInterrupted(e);
      failures.add(what + ": " + e.getMessage());
    }
  }

  private PeersReport write(String command, MachineInfo machine, long startNs, List<Peer> present)
      throws IOException {
    List<PeersReport.Program> programs = new ArrayList<>();
    for (Peer peer : present) {
      programs.add(new PeersReport.Program(peer.name(), peer.version(), peer.how()));
    }
    ResultFiles files = new ResultFiles(settings.home(), settings.directory());
    files.add(PAGE, JSON);
    files.add(PeersPlots.write(found, files.path("peers")));
    List<PeersAims.Aim> aims = PeersAims.of(found);
    PeersReport report =
        new PeersReport(
            failures.isEmpty() && !time.isBrokenOff(),
            command,
            Instant.now().truncatedTo(ChronoUnit.SECONDS).toString(),
            (System.nanoTime() - startNs) / 1e9,
            settings.quick(),
            settings.runs(),
            !time.isBrokenOff(),
            machine,
            undisturbed.counts(),
            settings.rate().toString(),
            programs,
            missing,
            found,
            idle,
            aims,
            aims.stream().flatMap(aim -> aim.missed().stream()).toList(),
            failures,
            found.stream()
                .filter(f -> !isOurs(f.peer()) && f.failure() != null)
                .map(PeerFound::line)
                .toList(),
            files);
    files.write(PAGE, PeersPage.of(report));
    files.writeJson(JSON, report);
    return report;
  }
}
