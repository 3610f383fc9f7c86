package org.pmhxb.cli.bench.peers;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.pmhxb.cli.bench.CpuUse;

/**
 * What one run of a peer gave; what does not apply, or was not told, is null.
 *
 * @param messagesPerSecond that arrived, both ways added up
 * @param halfRoundTripUs median
 * @param processorsUsed processor seconds a second of all its processes, on average
 * @param machineBusy share of all processors' time in which they were not idle, 0 to 1
 * @param withheld share of them that the host withheld meanwhile, 0 to 1
 * @param storeNs until one processor sees what another stored; of shared memory only
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record PeerFigures(
    Double messagesPerSecond,
    Double halfRoundTripUs,
    Double processorsUsed,
    Double machineBusy,
    Double withheld,
    Double storeNs) {

  static PeerFigures stream(double messagesPerSecond) {
    return new PeerFigures(messagesPerSecond, null, null, null, null, null);
  }

  static PeerFigures ping(double halfRoundTripUs) {
    return new PeerFigures(null, halfRoundTripUs, null, null, null, null);
  }

  /** With processors that the peer told itself; null when it did not. */
  PeerFigures withProcessors(Double processors) {
    return new PeerFigures(
        messagesPerSecond, halfRoundTripUs, processors, machineBusy, withheld, storeNs);
  }

  /** With what was measured of the processors, unless the peer told it itself. */
  PeerFigures using(CpuUse use) {
    if (use == null) {
      return this;
    }
    return new PeerFigures(
        messagesPerSecond,
        halfRoundTripUs,
        processorsUsed != null ? processorsUsed : (Double) use.processorsUsed(),
        use.machineBusy(),
        use.withheld(),
        use.storeNs() == null ? null : (Double) use.storeNs().median());
  }
}
