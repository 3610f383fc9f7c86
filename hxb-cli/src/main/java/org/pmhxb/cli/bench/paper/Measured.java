package org.pmhxb.cli.bench.paper;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;
import org.pmhxb.cli.bench.Benchmark;
import org.pmhxb.cli.bench.CpuUse;
import org.pmhxb.cli.bench.Efficiency;
import org.pmhxb.cli.bench.Spread;
import org.pmhxb.cli.bench.TrafficPlan;
import org.pmhxb.cli.bench.Withheld;

/**
 * What the runs of one point found.
 *
 * @param links directed links that bound the traffic
 * @param megabytesPerSecond payload that arrived
 * @param messagesPerSecond that arrived
 * @param efficiency share of the links' raw rate; null when they are not shaped
 * @param halfRoundTripUs medians of the runs; null of streams
 * @param processorsUsed by the nodes' processes, the runs' median; null when unknown
 * @param machineBusy share of the machine's processor time, the runs' median; null when unknown
 * @param withheld share of the processors that the host withheld, 0 to 1; null when unknown
 * @param resent frames, all runs together
 * @param limit what kept it from being more
 * @param failures what did not go as it should
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record Measured(
    int links,
    Spread megabytesPerSecond,
    Spread messagesPerSecond,
    Spread efficiency,
    Spread halfRoundTripUs,
    Double processorsUsed,
    Double machineBusy,
    Spread withheld,
    long resent,
    String limit,
    List<String> failures) {

  /** From here on the links count as the limit; the header alone takes 0.8 % of 8 KB frames. */
  private static final double LINKS_FULL = 0.98;

  static Measured of(PaperPoint point, TrafficPlan plan, List<Benchmark.Outcome> runs) {
    boolean ping = point.traffic() == PaperPoint.Traffic.PING;
    Spread bytes = Spread.of(runs, Benchmark.Outcome::bytesPerSecond);
    Spread efficiency =
        point.setup().rate() == null || ping
            ? null
            : bytes.map(b -> Efficiency.of(b, plan.links(), point.setup().rate()).share());
    boolean metered = runs.stream().allMatch(run -> run.cpu() != null);
    Double busy =
        metered ? Double.valueOf(Spread.of(runs, run -> run.cpu().machineBusy()).median()) : null;
    return new Measured(
        plan.links(),
        bytes.map(b -> b / 1e6),
        Spread.of(runs, Benchmark.Outcome::messagesPerSecond),
        efficiency,
        ping ? Spread.of(runs, run -> run.latency().p50() / 1e3) : null,
        metered
            ? Double.valueOf(Spread.of(runs, run -> run.cpu().processorsUsed()).median())
            : null,
        busy,
        Withheld.of(runs, Benchmark.Outcome::cpu),
        runs.stream().mapToLong(Benchmark.Outcome::resent).sum(),
        limit(point, efficiency, metered ? runs.getFirst().cpu() : null, busy),
        runs.stream().flatMap(run -> Faults.of(point, run).stream()).distinct().toList());
  }

  /**
   * Named from what was seen: links that are full, or processors that are; of a ping-pong whether
   * each process on its way had a processor.
   */
  private static String limit(PaperPoint point, Spread efficiency, CpuUse cpu, Double busy) {
    if (point.traffic() == PaperPoint.Traffic.PING) {
      int processes = point.depth() + 2;
      return cpu != null && processes > cpu.processors()
          ? processes + " processes on " + cpu.processors() + " processors"
          : "the way itself";
    }
    if (efficiency != null && fillsLinks(point, efficiency)) {
      return "links";
    }
    if (busy == null) {
      return "unknown";
    }
    return CpuUse.limit(busy, cpu.processors());
  }

  /** The raw rate includes the header of each frame: a small message's is larger than itself. */
  private static boolean fillsLinks(PaperPoint point, Spread efficiency) {
    double ceiling = Faults.payloadShare(point.sizeBytes());
    return efficiency.median() >= LINKS_FULL * ceiling;
  }
}
