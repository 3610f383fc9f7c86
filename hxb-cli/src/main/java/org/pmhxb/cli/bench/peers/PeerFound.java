package org.pmhxb.cli.bench.peers;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
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
 * @param refused tries whose figures do not count, in order; of ours none, as they are not tried
 *     again
 * @param limit what kept it from being more
 * @param failure why there are no figures; null when they are good
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
    List<Refused> refused,
    String limit,
    String failure) {
  /** A try that does not count. */
  public record Refused(Why why, String message) {
    /** What all of them are refused for, with how often: short, for a cell. */
    static String words(List<Refused> all) {
      Map<Why, Long> counts =
          all.stream()
              .collect(Collectors.groupingBy(Refused::why, TreeMap::new, Collectors.counting()));
      return counts.entrySet().stream()
          .map(e -> e.getKey().words + " " + (e.getValue() == 1 ? "once" : e.getValue() + " times"))
          .collect(Collectors.joining(", "));
    }
  }

  /** For what a try is refused. */
  public enum Why {
    /** More came than the links carry. */
    ABOVE_RATE("above the links' rate"),
    /** It told no figure, or none that can be. */
    NOTHING("nothing measured"),
    /** The program failed, took too long or printed what is not understood. */
    ERROR("ended in an error");

    private final String words;

    Why(String words) {
      this.words = words;
    }
  }

  /** From here on the links count as the limit: headers take 0.8 % of 8 KB frames and more. */
  private static final double LINKS_FULL = 0.97;

  /** Without figures: also those that there were are not kept. */
  static PeerFound failed(String peer, PeerCase what, List<Refused> refused, String reason) {
    return new PeerFound(
        peer, what, null, null, null, null, null, null, null, null, null, null, refused, null,
        reason);
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
      List<Refused> refused,
      boolean polls) {
    Optional<Refused> objection =
        runs.stream().flatMap(run -> objection(what, rate, run).stream()).findFirst();
    if (objection.isPresent()) {
      return failed(peer, what, refused, objection.get().message());
    }
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
        refused,
        limit(what, share, busy, polls),
        null);
  }

  /**
   * Why a run is void: it has no figure, or more came than the links carry.
   *
   * @param rate of a shaped link; of other media none is asked for
   * @return empty when the run is good
   */
  static Optional<Refused> objection(PeerCase what, LinkRate rate, PeerFigures run) {
    Double figure = what.ping() ? run.halfRoundTripUs() : run.messagesPerSecond();
    if (figure == null || !(figure > 0) || figure.isInfinite()) {
      String unit = what.ping() ? "half round trip, us" : "messages a second";
      return Optional.of(new Refused(Why.NOTHING, unit + ": " + figure));
    }
    return what.ping() || what.medium() != PeerCase.Medium.SHAPED
        ? Optional.empty()
        : ofLinks(what, rate, figure * what.sizeBytes())
            .objection()
            .map(message -> new Refused(Why.ABOVE_RATE, message));
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

  /** Of one that failed: which, and why. */
  String line() {
    return peer + ": " + what.key() + ": " + failure;
  }

  private static Double median(Spread spread) {
    return spread == null ? null : spread.median();
  }

  private static Spread spread(List<PeerFigures> runs, Function<PeerFigures, Double> which) {
    List<Double> values = runs.stream().map(which).filter(Objects::nonNull).toList();
    return values.size() < runs.size() || values.isEmpty() ? null : Spread.of(values);
  }
}
