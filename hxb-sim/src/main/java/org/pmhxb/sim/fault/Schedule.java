package org.pmhxb.sim.fault;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.pmhxb.router.Coordinates;
import org.pmhxb.router.Shape;

/**
 * The faults of one run, and what they excuse.
 *
 * @param faults in the order in which a profile made them: a fault is known by its place here
 */
public record Schedule(Shape shape, int rails, long peerTimeoutNs, List<Fault> faults) {
  public Schedule {
    faults = List.copyOf(faults);
  }

  /** When the last fault ends; a crash has no end that could be waited for. */
  public long endNs() {
    long end = 0;
    for (Fault f : faults) {
      end = Math.max(end, f.kind() == FaultKind.CRASH ? f.startNs() : f.endNs());
    }
    return end;
  }

  /** The same with further faults behind the others. */
  public Schedule and(List<Fault> further) {
    List<Fault> all = new ArrayList<>(faults);
    all.addAll(further);
    return new Schedule(shape, rails, peerTimeoutNs, all);
  }

  /** The same with only some of the faults, by their places. */
  public Schedule only(Iterable<Integer> places) {
    List<Fault> kept = new ArrayList<>();
    for (int i : new TreeSet<>(toList(places))) {
      if (i < 0 || i >= faults.size()) {
        throw new IllegalArgumentException(
            "fault " + i + " is not in 0.." + (faults.size() - 1) + " of this schedule");
      }
      kept.add(faults.get(i));
    }
    return new Schedule(shape, rails, peerTimeoutNs, kept);
  }

  private static List<Integer> toList(Iterable<Integer> numbers) {
    List<Integer> list = new ArrayList<>();
    numbers.forEach(list::add);
    return list;
  }

  /**
   * Whether a fault that has begun may end a session of two nodes: one of them died, or nothing
   * could pass between them for about the peer timeout. Stalls of up to 3 s and the loss of some of
   * the rails may not (DESIGN rule 8).
   */
  public boolean mayEndSession(int a, int b, long nowNs) {
    for (Fault f : faults) {
      if (f.startNs() <= nowNs && isCause(f, a, b)) {
        return true;
      }
    }
    return false;
  }

  private boolean isCause(Fault f, int a, int b) {
    boolean isLong = f.lengthNs() >= peerTimeoutNs * 4 / 5;
    int node = f.place().node();
    return switch (f.kind()) {
      case CRASH -> isBetween(node, a, b);
      case RESTART, STOP -> node == a || node == b || isLong && isBetween(node, a, b);
      case STALL -> f.lengthNs() > 3_000_000_000L && isBetween(node, a, b);
      case PARTITION -> isLong;
      case CUT, CUT_TX, CUT_RX, STALE ->
          isLong && (f.place().index() < 0 || rails == 1) && (node < 0 || isBetween(node, a, b));
      default -> false;
    };
  }

  /** One of the two, or a relay of the way there or back. */
  public boolean isBetween(int node, int a, int b) {
    return node == a || node == b || relays(a, b).contains(node) || relays(b, a).contains(node);
  }

  /** The relays from one node to another, X then Y then Z. */
  private List<Integer> relays(int from, int to) {
    Coordinates at = shape.coordinates(from);
    Coordinates end = shape.coordinates(to);
    List<Integer> relays = new ArrayList<>();
    at = new Coordinates(end.x(), at.y(), at.z());
    relays.add(shape.node(at));
    at = new Coordinates(end.x(), end.y(), at.z());
    relays.add(shape.node(at));
    return relays;
  }
}
