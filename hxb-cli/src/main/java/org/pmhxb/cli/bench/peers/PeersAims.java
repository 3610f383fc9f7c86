package org.pmhxb.cli.bench.peers;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.DoubleUnaryOperator;
import org.pmhxb.cli.Words;
import org.pmhxb.cli.bench.Bounded;
import org.pmhxb.cli.bench.Spread;
import org.pmhxb.cli.bench.peers.PeerCase.Medium;

/** What ours have to reach and are meant to, against what they did and the best of the peers. */
final class PeersAims {
  private static final String MISSED = "missed";

  /**
   * One of them, by the median of its runs; of several link counts that which came off worst.
   *
   * @param unit of all figures
   * @param most whether less is better
   * @param links between the two sides
   * @param measured null where ours failed: then no bound is met
   * @param withheld share of all processors that the host withheld meanwhile, 0 to 1; null: not
   *     known
   * @param met {@code aim}, {@code must}, or {@code missed}
   * @param peer the best of the others in the same case, the drivers' own limit aside; null: none
   *     measured
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Aim(
      String what,
      String unit,
      boolean most,
      double must,
      double aim,
      int links,
      Double measured,
      Spread withheld,
      String met,
      String peer,
      Double peerMeasured) {

    /** What to say where the must was missed. */
    Optional<String> missed() {
      String which = what + ", " + Words.count(links, "link");
      if (measured == null) {
        return Optional.of(which + ": not measured");
      }
      return met.equals(MISSED)
          ? Optional.of(Bounded.missed(which, measured, unit, must, most))
          : Optional.empty();
    }
  }

  /** A kind of figure with its bounds. */
  private record Bound(
      String what,
      String unit,
      boolean most,
      double must,
      double aim,
      DoubleUnaryOperator scale,
      String ours,
      List<PeerCase> cases) {}

  private final List<PeerFound> found;

  private PeersAims(List<PeerFound> found) {
    this.found = found;
  }

  /** Of what was measured; what was not has no entry. */
  static List<Aim> of(List<PeerFound> found) {
    PeersAims aims = new PeersAims(found);
    return bounds(found).stream().map(aims::worst).flatMap(Optional::stream).toList();
  }

  private static List<Bound> bounds(List<PeerFound> found) {
    List<PeerCase> veth = PeersPlan.unshaped(Medium.VETH);
    List<PeerCase> memory = PeersPlan.unshaped(Medium.SHARED_MEMORY);
    return List.of(
        share("8 KB messages one way", 0.98, 0.990, shaped(found, PeersPlan.MEDIUM_BYTES, false)),
        share("8 KB messages both ways", 0.96, 0.988, shaped(found, PeersPlan.MEDIUM_BYTES, true)),
        share("1 MB messages one way", 0.98, 0.990, shaped(found, PeersPlan.LARGE_BYTES, false)),
        half("half round trip, veth", 2.5, 1.6, PeersSuite.HXB, veth.get(0)),
        half("half round trip, shm", 1.0, 0.7, PeersSuite.HXB, memory.get(0)),
        half("half round trip, memif", 1.0, 0.7, PeersSuite.HXB_MEMIF, memory.get(0)),
        rate("64 B messages, veth", 5, 20, PeersSuite.HXB, veth.get(1)),
        rate("64 B messages, shm", 25, 40, PeersSuite.HXB, memory.get(1)),
        rate("64 B messages, memif", 25, 40, PeersSuite.HXB_MEMIF, memory.get(1)));
  }

  private static List<PeerCase> shaped(List<PeerFound> found, int sizeBytes, boolean both) {
    PeerCase of = new PeerCase(Medium.SHAPED, false, 1, sizeBytes, both);
    return found.stream()
        .map(PeerFound::what)
        .filter(what -> what.over(1).equals(of))
        .distinct()
        .toList();
  }

  private static Bound share(String what, double must, double aim, List<PeerCase> cases) {
    return new Bound(what, "of the links", false, must, aim, share -> share, PeersSuite.HXB, cases);
  }

  private static Bound half(String what, double must, double aim, String ours, PeerCase of) {
    return new Bound(what, "us", true, must, aim, us -> us, ours, List.of(of));
  }

  private static Bound rate(String what, double must, double aim, String ours, PeerCase of) {
    return new Bound(what, "M/s", false, must, aim, rate -> rate / 1e6, ours, List.of(of));
  }

  private Optional<Aim> worst(Bound bound) {
    Comparator<Double> ascending = Comparator.naturalOrder();
    Comparator<Double> fromWorst = bound.most() ? ascending.reversed() : ascending;
    return bound.cases().stream()
        .map(what -> aim(bound, what))
        .flatMap(Optional::stream)
        .min(Comparator.comparing(Aim::measured, Comparator.nullsFirst(fromWorst)));
  }

  private Optional<Aim> aim(Bound bound, PeerCase what) {
    Comparator<PeerFound> byFigure = Comparator.comparingDouble(f -> f.figure().median());
    Optional<PeerFound> best =
        found.stream()
            .filter(f -> f.what().equals(what) && f.failure() == null)
            .filter(f -> !PeersSuite.isOurs(f.peer()) && !f.peer().equals(TestpmdPeer.NAME))
            .max(bound.most() ? byFigure.reversed() : byFigure);
    return found.stream()
        .filter(f -> f.what().equals(what) && f.peer().equals(bound.ours()))
        .findFirst()
        .map(
            ours -> {
              Double measured = figure(bound, ours);
              return new Aim(
                  bound.what(),
                  bound.unit(),
                  bound.most(),
                  bound.must(),
                  bound.aim(),
                  what.links(),
                  measured,
                  ours.withheld(),
                  met(bound, measured),
                  best.map(PeerFound::peer).orElse(null),
                  best.map(f -> figure(bound, f)).orElse(null));
            });
  }

  private static Double figure(Bound bound, PeerFound of) {
    return of.failure() == null ? bound.scale().applyAsDouble(of.figure().median()) : null;
  }

  private static String met(Bound bound, Double measured) {
    return meets(bound, measured, bound.aim())
        ? "aim"
        : meets(bound, measured, bound.must()) ? "must" : MISSED;
  }

  private static boolean meets(Bound bound, Double measured, double limit) {
    return measured != null && (bound.most() ? measured <= limit : measured >= limit);
  }
}
