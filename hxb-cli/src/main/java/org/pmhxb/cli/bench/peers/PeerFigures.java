package org.pmhxb.cli.bench.peers;

import com.fasterxml.jackson.annotation.JsonInclude;

/**
 * What one run of a peer gave; what does not apply, or was not told, is null.
 *
 * @param messagesPerSecond that arrived, both ways added up
 * @param halfRoundTripUs median
 * @param processorsUsed processor seconds a second of all its processes, on average
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record PeerFigures(Double messagesPerSecond, Double halfRoundTripUs, Double processorsUsed) {

  static PeerFigures stream(double messagesPerSecond) {
    return new PeerFigures(messagesPerSecond, null, null);
  }

  static PeerFigures ping(double halfRoundTripUs) {
    return new PeerFigures(null, halfRoundTripUs, null);
  }

  /** With the processor time, unless the peer told it itself. */
  PeerFigures using(Double processors) {
    return processorsUsed != null
        ? this
        : new PeerFigures(messagesPerSecond, halfRoundTripUs, processors);
  }
}
