package org.pmhxb.sim.fault;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.pmhxb.router.Shape;

/**
 * The faults of one run, and what they excuse.
 *
 * @param faults in the order in which a profile made them: a fault is known by its place here
 */
public record Schedule(Shape shape, int rails, long peerTimeoutNs, List<Fault> faults) {
  /** A stall that must not end a session. */
  private static final long STALL_NS_MAX = 3_000_000_000L;

  /** The end of a session is told, or comes by a word of the peer's, so long behind its cause. */
  private static final long BEHIND_NS = 1_000_000_000L;

  /** How long a frame may lie in a relay's rings before the relay stands still. */
  private static final long IN_RINGS_NS = 50_000_000L;

  /** What lasts so long outlasts every run. */
  private static final long STANDING_NS = 1_000_000_000_000L;

  public Schedule {
    faults = List.copyOf(faults);
  }

  /**
   * When the last fault ends. A crash has no end that could be waited for, and for what outlasts
   * every run nobody waits if all must arrive in spite of it.
   */
  public long endNs() {
    boolean joined = linksJoinAll();
    long end = 0;
    for (Fault f : faults) {
      boolean stays = f.lengthNs() >= STANDING_NS && (f.isMild() || f.isOfDeadLinks() && joined);
      end = Math.max(end, f.kind() == FaultKind.CRASH || stays ? f.startNs() : f.endNs());
    }
    return end;
  }

  /** Whether all reach each other without the links that are dead at some time. */
  private boolean linksJoinAll() {
    Reach reach = new Reach(shape, rails);
    boolean anyDead = false;
    for (Fault f : faults) {
      if (f.isOfDeadLinks()) {
        reach.withoutLinks(f);
        anyDead = true;
      }
    }
    for (int a = 0; anyDead && a < shape.nodes(); a++) {
      for (int b = 0; b < a; b++) {
        if (!reach.isJoined(a, b)) {
          return false;
        }
      }
    }
    return true;
  }

  /** Whether a way led there, and one back, without all links that were dead between two times. */
  public boolean staysJoined(int a, int b, long fromNs, long toNs) {
    Reach reach = new Reach(shape, rails);
    for (Fault f : faults) {
      if (f.kind() == FaultKind.CRASH && f.startNs() <= toNs) {
        reach.without(f.place().node());
      } else if (f.isOfDeadLinks() && f.startNs() <= toNs && f.endNs() >= fromNs) {
        reach.withoutLinks(f);
      }
    }
    return reach.isJoined(a, b);
  }

  /**
   * By how much nodes that poll seldom, or whose programs do, may hold up a frame's way there and
   * back over so many hops.
   */
  public long gapsNs(int hops) {
    long longestNs = 0;
    for (Fault f : faults) {
      if (f.kind() == FaultKind.SELDOM || f.kind() == FaultKind.SLOW_CONSUMER) {
        longestNs = Math.max(longestNs, f.amount());
      }
    }
    return 2 * hops * longestNs;
  }

  /**
   * When the last node goes on that stands still at a time, or that time: a relay among them passes
   * on what a node said before it died.
   */
  public long stallsEndNs(long nowNs) {
    long endNs = nowNs;
    for (Fault f : faults) {
      if (f.kind() == FaultKind.STALL && f.startNs() <= nowNs + IN_RINGS_NS) {
        endNs = Math.max(endNs, f.endNs());
      }
    }
    return endNs;
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
   * Whether faults may end a session of two nodes at a time: one of them died, or on every way
   * between them something has been dead for about the peer timeout, or was until a moment before.
   * Stalls of up to 3 s, the loss of some of the rails and that of some of the relays may not.
   *
   * @param ofPresentLives both had it in the lives that they have: that one of them died once is no
   *     reason
   */
  public boolean mayEndSession(int a, int b, boolean ofPresentLives, long nowNs) {
    return mayEnd(a, b, f -> !ofPresentLives && f.startNs() <= nowNs, f -> mayIsolate(f, nowNs));
  }

  /** Whether there is a time at which they may, of lives that are over too. */
  public boolean mayEverEndSession(int a, int b) {
    return mayEnd(a, b, f -> true, f -> true);
  }

  /**
   * Whether some of the faults may end a session.
   *
   * @param deaths those that count as the death of the node that they start anew or stop
   * @param isolations those that count as a way that is dead
   */
  private boolean mayEnd(int a, int b, Predicate<Fault> deaths, Predicate<Fault> isolations) {
    Reach reach = new Reach(shape, rails);
    for (Fault f : faults) {
      if (deaths.test(f) && (diesAt(f, a) || diesAt(f, b))) {
        return true;
      }
      if (isolations.test(f)) {
        remove(f, reach);
      }
    }
    return !reach.isJoined(a, b);
  }

  /** At a time: there has been silence for long enough, or was until a moment before. */
  private boolean mayIsolate(Fault f, long nowNs) {
    if (nowNs < f.startNs() || nowNs - silentFromNs(f) < excusesAfterNs(f)) {
      return false;
    }
    long behindNs = BEHIND_NS + gapsNs(shape.dimensions());
    return f.kind() == FaultKind.CRASH || nowNs <= stallsEndNs(f.endNs() + behindNs) + behindNs;
  }

  /** Since when there may have been silence when a fault began: others may have brought it. */
  private long silentFromNs(Fault f) {
    long fromNs = f.startNs();
    for (Fault other : faults) {
      boolean silences = other.kind() == FaultKind.STALL || other.isOfDeadLinks();
      if (silences && other.startNs() < fromNs && other.endNs() >= f.startNs()) {
        fromNs = other.startNs();
      }
    }
    return fromNs;
  }

  /** How long there must have been silence before a fault may end a session. */
  private long excusesAfterNs(Fault f) {
    return switch (f.kind()) {
      case CRASH -> 0;
      case STALL -> STALL_NS_MAX;
      default -> longNs();
    };
  }

  /** About the peer timeout. */
  private long longNs() {
    return peerTimeoutNs * 4 / 5;
  }

  private static boolean diesAt(Fault f, int node) {
    boolean dies = f.kind() == FaultKind.RESTART || f.kind() == FaultKind.STOP;
    return dies && f.place().node() == node;
  }

  private void remove(Fault f, Reach reach) {
    boolean isLong = f.lengthNs() >= longNs();
    switch (f.kind()) {
      case CRASH -> reach.without(f.place().node());
      case RESTART, STOP -> {
        if (isLong) {
          reach.without(f.place().node());
        }
      }
      case STALL -> {
        if (f.lengthNs() > STALL_NS_MAX) {
          reach.without(f.place().node());
        }
      }
      case CUT, CUT_TX, CUT_RX, SHORT_FRAMES, SHORT_FRAMES_RX, STALE, PARTITION -> {
        if (isLong) {
          reach.withoutLinks(f);
        }
      }
      default -> {
        // What only hinders is no reason.
      }
    }
  }
}
