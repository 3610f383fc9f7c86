package org.pmhxb.cli.bench.peers;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import org.pmhxb.cli.bench.CpuUse;
import org.pmhxb.cli.bench.Efficiency;
import org.pmhxb.cli.bench.Spread;
import org.pmhxb.cli.veth.LinkRate;

/**
 * What all runs of a peer gave in one case.
 *
 * @param share of the links' raw rate; null when they are not shaped
 * @param processorsUsed the runs' median
 * @param cpuNsPerMessage processor time of all its processes by messages that arrived
 * @param cpuNsPerKilobyte the same by 1,000 bytes of payload
 * @param machineBusy share of the machine's processor time, 0 to 1, the runs' median
 * @param withheld share of it that the host withheld, 0 to 1
 * @param storeNs until one processor sees what another stored, medians of the runs; of shared
 *     memory only
 * @param repeated void runs that were measured again: more came than the links carry
 * @param limit what kept it from being more
 * @param failure why there are no figures, or why they are void; null when they are good
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record PeerFound(
    String peer,
    PeerCase what,
    Spread share,
    Spread megabytesPerSecond,
    Spread messagesPerSecond,
    Spread halfRoundTripUs,
    Double processorsUsed,
    Double cpuNsPerMessage,
    Double cpuNsPerKilobyte,
    Double machineBusy,
    Spread withheld,
    Spread storeNs,
    int repeated,
    String limit,
    String failure) {

  /** From here on the links count as the limit: headers take 0.8 % of 8 KB frames and more. */
  private static final double LINKS_FULL = 0.97;

  static PeerFound failed(String peer, PeerCase what, String reason) {
    return new PeerFound(
        peer, what, null, null, null, null, null, null, null, null, null, null, 0, null, reason);
  }

  /**
   * Puts runs together.
   *
   * @param polls whether full processors show no limit, since the peer keeps them busy while it
   *     waits, too
   */
  static PeerFound of(
      String peer,
      PeerCase what,
      LinkRate rate,
      List<PeerFigures> runs,
      int repeated,
      boolean polls) {
    Spread messages = spread(runs, PeerFigures::messagesPerSecond);
    Spread bytes = messages == null ? null : messages.map(m -> m * what.sizeBytes());
    Double used = median(spread(runs, PeerFigures::processorsUsed));
    Double busy = median(spread(runs, PeerFigures::machineBusy));
    Spread share =
        bytes == null || what.medium() != PeerCase.Medium.SHAPED
            ? null
            : bytes.map(b -> ofLinks(what, rate, b).share());
    return new PeerFound(
        peer,
        what,
        share,
        bytes == null ? null : bytes.map(b -> b / 1e6),
        messages,
        spread(runs, PeerFigures::halfRoundTripUs),
        used,
        used == null || messages == null ? null : used * 1e9 / messages.median(),
        used == null || bytes == null ? null : used * 1e12 / bytes.median(),
        busy,
        spread(runs, PeerFigures::withheld),
        spread(runs, PeerFigures::storeNs),
        repeated,
        limit(what, share, busy, polls),
        runs.stream().flatMap(run -> objection(what, rate, run).stream()).findFirst().orElse(null));
  }

  /**
   * Why a run is void: more came than the links carry.
   *
   * @param rate of a shaped link; of other media none is asked for
   * @return empty when the run is good
   */
  static Optional<String> objection(PeerCase what, LinkRate rate, PeerFigures run) {
    return run.messagesPerSecond() == null || what.medium() != PeerCase.Medium.SHAPED
        ? Optional.empty()
        : ofLinks(what, rate, run.messagesPerSecond() * what.sizeBytes()).objection();
  }

  private static Efficiency ofLinks(PeerCase what, LinkRate rate, double bytesPerSecond) {
    return Efficiency.of(bytesPerSecond, what.both() ? 2 * what.links() : what.links(), rate);
  }

  /** Named from what was seen: links that are full, or processors that are. */
  private static String limit(PeerCase what, Spread share, Double busy, boolean polls) {
    if (what.ping()) {
      return "the way itself";
    }
    if (share != null && share.median() >= LINKS_FULL) {
      return "links";
    }
    if (busy == null) {
      return "unknown";
    }
    return CpuUse.limit(busy, Runtime.getRuntime().availableProcessors())
        + (polls && CpuUse.isFull(busy) ? ", polling" : "");
  }

  /** The figure that counts: half a round trip, the share of links, or else the rate. */
  Spread figure() {
    return what.ping() ? halfRoundTripUs : share != null ? share : messagesPerSecond;
  }

  private static Double median(Spread spread) {
    return spread == null ? null : spread.median();
  }

  private static Spread spread(List<PeerFigures> runs, Function<PeerFigures, Double> which) {
    List<Double> values = runs.stream().map(which).filter(Objects::nonNull).toList();
    return values.size() < runs.size() || values.isEmpty() ? null : Spread.of(values);
  }
}
