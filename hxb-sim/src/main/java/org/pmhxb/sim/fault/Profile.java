package org.pmhxb.sim.fault;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import org.pmhxb.router.RailLayout;
import org.pmhxb.router.Shape;

/** Makes schedules out of seeds: what kinds of fault, how many, where and how bad. */
public enum Profile {
  NONE("no faults"),
  LOSS("1 % of all frames, everywhere, all the time", FaultKind.LOSS),
  WIRE(
      "what wires do",
      FaultKind.LOSS,
      FaultKind.BURST_LOSS,
      FaultKind.DUPLICATION,
      FaultKind.LATE_DUPLICATION,
      FaultKind.REORDERING,
      FaultKind.CORRUPTION,
      FaultKind.TRUNCATION,
      FaultKind.DELAY,
      FaultKind.JITTER,
      FaultKind.SLOW_LINK,
      FaultKind.SHORT_QUEUE),
  RAILS(
      "rails die, both ways or one way, flap, lose a part, come back with stale frames",
      FaultKind.CUT,
      FaultKind.CUT_TX,
      FaultKind.CUT_RX,
      FaultKind.FLAPPING,
      FaultKind.GREY,
      FaultKind.STALE,
      FaultKind.MISCABLING),
  PORTS(
      "what drivers do",
      FaultKind.BLOCKING,
      FaultKind.STRANDING,
      FaultKind.LATE_RELEASE,
      FaultKind.PARTIAL),
  NODES(
      "nodes die, start again, stand still, lack buffers, have slow programs and bad clocks",
      FaultKind.CRASH,
      FaultKind.RESTART,
      FaultKind.STOP,
      FaultKind.STALL,
      FaultKind.SLOW_CONSUMER,
      FaultKind.STOPPED_CONSUMER,
      FaultKind.POOL,
      FaultKind.SKEW),
  RESTARTS(
      "nodes start again while copies of old frames are still about",
      FaultKind.RESTART,
      FaultKind.STOP,
      FaultKind.LATE_DUPLICATION,
      FaultKind.REORDERING),
  PARTITION("the machine falls into two and heals", FaultKind.PARTITION),
  MIXED("some of everything", FaultKind.brief()),
  SELDOM("nodes that poll seldom for long, beside some of everything", FaultKind.brief()),
  MILD(
      "all the time what must not keep a session from moving: some loss, a dead or grey rail, nodes"
          + " that poll seldom",
      FaultKind.LOSS,
      FaultKind.DUPLICATION,
      FaultKind.PARTIAL,
      FaultKind.SELDOM,
      FaultKind.SELDOM,
      FaultKind.SLOW_CONSUMER,
      FaultKind.CUT,
      FaultKind.CUT_TX,
      FaultKind.CUT_RX,
      FaultKind.GREY);

  private static final long MS = 1_000_000L;

  /** Faults begin within this time of the start, early ones as often as late ones. */
  private static final long HORIZON_NS = 50 * MS;

  /** Longer than a run. */
  private static final long ALWAYS_NS = 3_600_000 * MS;

  private static final double OLD_FRAMES_RATE = 0.2;
  private static final long OLD_FRAMES_NS = 40 * MS;

  private final String explanation;
  private final List<FaultKind> kinds;

  Profile(String explanation, FaultKind... kinds) {
    this.explanation = explanation;
    this.kinds = List.of(kinds);
  }

  public String explanation() {
    return explanation;
  }

  /** Machines differ in more than this: tags, long ways, nodes that differ from each other. */
  public boolean variesMore() {
    return this == SELDOM || this == MILD;
  }

  /** As on the command line: lower case with hyphens. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** The schedule of a seed. */
  public Schedule schedule(Shape shape, int rails, long peerTimeoutNs, long seed) {
    List<Fault> faults = new ArrayList<>();
    SplittableRandom random = new SplittableRandom(seed * 0x5DEE_CE66DL + ordinal());
    RailLayout layout = new RailLayout(shape, rails);
    if (this == LOSS) {
      faults.add(new Fault(FaultKind.LOSS, Place.ALL, 0, ALWAYS_NS, 0.01, 0, random.nextLong()));
    } else if (this == MILD) {
      addMild(faults, shape, rails, layout, random);
    } else if (this != NONE) {
      if (this == SELDOM) {
        for (int i = random.nextInt(3); i >= 0; i--) {
          long lengthNs = logarithmic(random, 100 * MS, 5_000 * MS);
          faults.add(seldom(logarithmic(random, MS / 2, HORIZON_NS), lengthNs, shape, random));
        }
      }
      int count = 1 + random.nextInt(8);
      for (int i = 0; i < count; i++) {
        Fault fault = fault(kinds.get(random.nextInt(kinds.size())), shape, layout, random);
        faults.add(fault);
        if (fault.kind() == FaultKind.RESTART || fault.kind() == FaultKind.STOP) {
          faults.add(oldFrames(fault, random));
        }
      }
    }
    return new Schedule(shape, rails, peerTimeoutNs, faults);
  }

  private static Fault fault(
      FaultKind kind, Shape shape, RailLayout layout, SplittableRandom random) {
    long startNs = logarithmic(random, MS / 2, HORIZON_NS);
    long lengthNs = (1 + random.nextLong(120)) * MS;
    int node = random.nextInt(shape.nodes());
    int rail = random.nextInt(Math.max(1, layout.count()));
    int dimension = layout.count() == 0 ? 0 : layout.dimension(rail);
    Place place =
        switch (kind.scope()) {
          case NODE -> Place.node(node);
          case MACHINE -> new Place(-1, dimension, -1);
          default ->
              new Place(
                  random.nextInt(3) == 0 ? -1 : node,
                  random.nextInt(4) == 0 ? -1 : dimension,
                  random.nextInt(4) == 0 ? -1 : layout.index(rail));
        };
    double rate = 0;
    long amount = 0;
    switch (kind) {
      case LOSS, DUPLICATION, CORRUPTION, TRUNCATION -> rate = 0.3 * random.nextDouble();
      case BURST_LOSS -> {
        rate = 0.02 * random.nextDouble();
        amount = 2 + random.nextLong(60);
      }
      case LATE_DUPLICATION, REORDERING -> {
        rate = 0.3 * random.nextDouble();
        amount = logarithmic(random, 20_000, 200 * MS);
      }
      case DELAY, JITTER -> amount = logarithmic(random, 10_000, 20 * MS);
      case SLOW_LINK -> rate = 0.01 + 0.5 * random.nextDouble();
      case SHORT_QUEUE -> amount = 2_000 + random.nextLong(30_000);
      case FLAPPING -> amount = logarithmic(random, 100_000, 20 * MS);
      case BLOCKING -> {
        rate = 0.1 * random.nextDouble();
        amount = logarithmic(random, 100_000, 5 * MS);
      }
      case LATE_RELEASE -> amount = logarithmic(random, 100_000, 20 * MS);
      case PARTIAL -> amount = random.nextLong(8);
      case STALL -> lengthNs = logarithmic(random, MS, 2_000 * MS);
      case RESTART -> lengthNs = logarithmic(random, MS / 10, 300 * MS);
      case STOP -> lengthNs = logarithmic(random, 5 * MS, 300 * MS);
      case SLOW_CONSUMER -> amount = logarithmic(random, 10_000, 10 * MS);
      case POOL -> rate = 0.5 + 0.5 * random.nextDouble();
      case SKEW -> {
        rate = 0.1 * (random.nextDouble() - 0.5);
        amount = logarithmic(random, 1_000, 1_000 * MS);
      }
      case PARTITION -> {
        amount = 1 + random.nextLong(Math.max(1, shape.extent(dimension) - 1));
        lengthNs = random.nextInt(4) == 0 ? 7_000 * MS : lengthNs;
      }
      default -> {
        // Place and time say all.
      }
    }
    return new Fault(kind, place, startNs, lengthNs, rate, amount, random.nextLong());
  }

  /** The poller of a node, or of all. */
  private static Fault seldom(long startNs, long lengthNs, Shape shape, SplittableRandom random) {
    Place place = random.nextInt(4) == 0 ? Place.ALL : Place.node(random.nextInt(shape.nodes()));
    long amountNs = logarithmic(random, MS, Fault.MILD_GAP_NS_MAX);
    double rate = random.nextBoolean() ? 0 : random.nextDouble();
    return new Fault(FaultKind.SELDOM, place, startNs, lengthNs, rate, amountNs, random.nextLong());
  }

  /** Where there are several rails, those of one index may be dead or grey. */
  private void addMild(
      List<Fault> faults, Shape shape, int rails, RailLayout layout, SplittableRandom random) {
    int index = random.nextInt(rails);
    for (int i = random.nextInt(4); i >= 0; i--) {
      FaultKind kind = kinds.get(random.nextInt(kinds.size()));
      Fault fault = fault(kind, shape, layout, random);
      if (kind == FaultKind.SELDOM) {
        fault = seldom(fault.startNs(), ALWAYS_NS, shape, random);
      }
      Place place = fault.place();
      if (fault.isOfDeadLinks()) {
        place = new Place(place.node(), place.dimension(), index);
      }
      long amount =
          switch (kind) {
            case PARTIAL -> Fault.MILD_BURST_LEAST + fault.amount();
            default -> Math.min(fault.amount(), Fault.MILD_GAP_NS_MAX);
          };
      double rate = kind == FaultKind.LOSS ? fault.rate() / 30 : fault.rate();
      if (rails > 1 || !fault.isOfDeadLinks()) {
        faults.add(new Fault(kind, place, fault.startNs(), ALWAYS_NS, rate, amount, fault.seed()));
      }
    }
  }

  /** Copies of what was under way before a node started again arrive while it is back. */
  private static Fault oldFrames(Fault restart, SplittableRandom random) {
    return new Fault(
        FaultKind.LATE_DUPLICATION,
        Place.ALL,
        MS / 2,
        Math.max(MS, restart.startNs() - MS / 2),
        OLD_FRAMES_RATE,
        restart.lengthNs() + OLD_FRAMES_NS,
        random.nextLong());
  }

  private static long logarithmic(SplittableRandom random, long least, long most) {
    double part = random.nextDouble();
    return (long) (least * Math.pow((double) most / least, part));
  }
}
