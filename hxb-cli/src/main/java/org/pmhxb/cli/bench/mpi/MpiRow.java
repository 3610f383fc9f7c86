package org.pmhxb.cli.bench.mpi;

import org.pmhxb.cli.Words;
import org.pmhxb.cli.veth.LinkRate;

/**
 * One MPI over so many links.
 *
 * @param theoreticalBytesPerSecond one way: raw rate of the links
 * @param oneWay bytes per second; both: of both directions together; efficiencies against the raw
 *     rate
 * @param halfRoundTripUs of 8 bytes, of an eager and of a rendezvous message
 * @param fewUnexpectedUs a receive's time while 100 messages wait, received in reverse order;
 *     manyUnexpectedUs: while 10,000 do
 * @param busy largest share of the machine's processor time that a measurement took
 */
public record MpiRow(
    String name,
    int links,
    double theoreticalBytesPerSecond,
    double oneWay,
    double oneWayEfficiency,
    double both,
    double bothEfficiency,
    double eagerOneWay,
    double eagerOneWayEfficiency,
    double halfRoundTripUs,
    double halfRoundTripEagerUs,
    double halfRoundTripRendezvousUs,
    double fewUnexpectedUs,
    double manyUnexpectedUs,
    double busy) {

  /** More than this cannot come over shaped links. */
  private static final double MOST_EFFICIENCY = 1.01;

  static MpiRow of(String name, int links, LinkRate rate, MpiSizes sizes, MpiFigures figures) {
    double theoretical = links * rate.bytesPerSecond();
    double oneWay = value(figures, "oneway", sizes.rendezvousBytes());
    double both = value(figures, "both", sizes.rendezvousBytes());
    double eager = value(figures, "oneway", sizes.eagerBytes());
    MpiRow row =
        new MpiRow(
            name,
            links,
            theoretical,
            oneWay,
            oneWay / theoretical,
            both,
            both / 2 / theoretical,
            eager,
            eager / theoretical,
            value(figures, "latency", 8),
            value(figures, "latency", sizes.eagerBytes()),
            value(figures, "latency", sizes.rendezvousBytes()),
            value(figures, "unexpected", MpiSizes.FEW),
            value(figures, "unexpected", MpiSizes.MANY),
            figures.figures().stream().mapToDouble(MpiFigures.Figure::busy).max().orElse(1));
    row.refuseUnshaped();
    return row;
  }

  private void refuseUnshaped() {
    double most = Math.max(oneWayEfficiency, Math.max(bothEfficiency, eagerOneWayEfficiency));
    if (most > MOST_EFFICIENCY) {
      throw new IllegalStateException(
          "%s over %s: efficiency %.3f; the shaping did not bite, the figures are void"
              .formatted(name, Words.count(links, "link"), most));
    }
  }

  private static double value(MpiFigures figures, String kind, int size) {
    return figures
        .of(kind, Integer.toString(size))
        .orElseThrow(
            () -> new IllegalStateException("the program printed no " + kind + " of " + size))
        .value();
  }
}
