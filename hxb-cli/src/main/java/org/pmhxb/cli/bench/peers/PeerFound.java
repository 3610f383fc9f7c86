package org.pmhxb.cli.bench.peers;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
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
    String failure) {

  static PeerFound failed(String peer, PeerCase what, String reason) {
    return new PeerFound(peer, what, null, null, null, null, null, null, null, reason);
  }

  static PeerFound of(String peer, PeerCase what, LinkRate rate, List<PeerFigures> runs) {
    Spread messages = spread(runs, PeerFigures::messagesPerSecond);
    Spread bytes = messages == null ? null : messages.map(m -> m * what.sizeBytes());
    Spread processors = spread(runs, PeerFigures::processorsUsed);
    Double used = processors == null ? null : processors.median();
    Spread share = null;
    String failure = null;
    if (bytes != null && what.medium() == PeerCase.Medium.SHAPED) {
      int links = what.both() ? 2 * what.links() : what.links();
      share = bytes.map(b -> Efficiency.of(b, links, rate).share());
      failure = Efficiency.of(bytes.max(), links, rate).objection().orElse(null);
    }
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
        failure);
  }

  private static Spread spread(List<PeerFigures> runs, Function<PeerFigures, Double> which) {
    List<Double> values = runs.stream().map(which).filter(Objects::nonNull).toList();
    return values.size() < runs.size() || values.isEmpty() ? null : Spread.of(values);
  }
}
