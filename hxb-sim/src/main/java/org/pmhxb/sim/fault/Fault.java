package org.pmhxb.sim.fault;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One fault of a schedule: what, where, when and how much. Data only. Its random numbers come from
 * a seed of its own, so that leaving other faults out does not change it.
 *
 * <p>Written {@code loss@3.x0:2ms+40ms:rate=0.05}, with {@code :amount=} and {@code :seed=} where
 * they are not the usual ones.
 *
 * @param startNs virtual time of its beginning
 * @param lengthNs how long it lasts
 * @param rate probability or part, as its kind says
 * @param amount as its kind says
 */
public record Fault(
    FaultKind kind, Place place, long startNs, long lengthNs, double rate, long amount, long seed) {
  /** Between two polls of a node, or steps of its program, that is not idle. */
  static final long MILD_GAP_NS_MAX = 20_000_000L;

  /** With less, what control frames need is all that a node which polls seldom can send. */
  static final long MILD_BURST_LEAST = 8;

  private static final double MILD_LOSS_MAX = 0.02;

  /** Thirty years: the ends of faults, and what is reckoned from them, are numbers of 64 bits. */
  private static final long TIME_NS_MAX = 1_000_000_000_000_000_000L;

  private static final Pattern FORM =
      Pattern.compile(
          "([a-z-]+)@([^:]+):(\\d+)(ns|us|ms|s)\\+(\\d+)(ns|us|ms|s)"
              + "(?::rate=(-?[0-9.]+(?:[eE]-?\\d+)?))?(?::amount=(\\d+))?(?::seed=(-?\\d+))?");

  public Fault {
    if (startNs < 0
        || startNs > TIME_NS_MAX
        || lengthNs < 0
        || lengthNs > TIME_NS_MAX
        || !(rate >= -1 && rate <= 1)) {
      throw new IllegalArgumentException(
          "fault %s: start %d ns and length %d ns must be in 0..%d, rate %s must be in -1..1"
              .formatted(kind, startNs, lengthNs, TIME_NS_MAX, rate));
    }
    // A zero is one value only, without a sign: it is left out when it is written.
    rate += 0.0;
  }

  public long endNs() {
    return startNs + lengthNs;
  }

  /** Of links that carry nothing, or so little that their paths are given up. */
  public boolean isOfDeadLinks() {
    return switch (kind) {
      case CUT, CUT_TX, CUT_RX, GREY, STALE, SHORT_FRAMES, SHORT_FRAMES_RX, PARTITION -> true;
      default -> false;
    };
  }

  /**
   * It slows messages down, but must not keep them from moving however long it lasts. What
   * {@linkplain #isOfDeadLinks dead links} keep from moving depends on all of them together.
   */
  public boolean isMild() {
    return switch (kind) {
      case LOSS, CORRUPTION, TRUNCATION -> rate <= MILD_LOSS_MAX;
      case DUPLICATION -> true;
      case PARTIAL -> amount >= MILD_BURST_LEAST;
      case SELDOM, SLOW_CONSUMER -> amount <= MILD_GAP_NS_MAX;
      default -> false;
    };
  }

  /**
   * Reads what {@link #toString} writes; rate, amount and seed may be left out.
   *
   * @throws IllegalArgumentException naming the text and the form
   */
  public static Fault parse(String text) {
    Matcher m = FORM.matcher(text.strip());
    if (!m.matches()) {
      throw new IllegalArgumentException(
          "fault \""
              + text
              + "\" is not of the form KIND@PLACE:START+LENGTH[:rate=R][:amount=N][:seed=S], as in"
              + " loss@3.x0:2ms+40ms:rate=0.05");
    }
    FaultKind kind;
    try {
      kind = FaultKind.valueOf(m.group(1).toUpperCase(Locale.ROOT).replace('-', '_'));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "fault kind \"" + m.group(1) + "\" is none of " + java.util.List.of(FaultKind.values()),
          e);
    }
    Fault fault;
    Place place = Place.parse(m.group(2));
    try {
      fault =
          new Fault(
              kind,
              place,
              nanos(m.group(3), m.group(4)),
              nanos(m.group(5), m.group(6)),
              m.group(7) == null ? 0 : Double.parseDouble(m.group(7)),
              m.group(8) == null ? 0 : Long.parseLong(m.group(8)),
              m.group(9) == null ? 0 : Long.parseLong(m.group(9)));
    } catch (NumberFormatException | ArithmeticException e) {
      throw new IllegalArgumentException(
          "fault \"" + text + "\" has a number that is too large, or none", e);
    }
    return m.group(9) == null ? fault.withSeed(fault.ownSeed()) : fault;
  }

  private Fault withSeed(long other) {
    return new Fault(kind, place, startNs, lengthNs, rate, amount, other);
  }

  /** That of a fault which is written without one: however it is written. */
  private long ownSeed() {
    return withoutSeed().hashCode();
  }

  private static long nanos(String number, String unit) {
    return Math.multiplyExact(
        Long.parseLong(number),
        switch (unit) {
          case "ns" -> 1L;
          case "us" -> 1_000L;
          case "ms" -> 1_000_000L;
          default -> 1_000_000_000L;
        });
  }

  /** As it is typed: what has its usual value is left out. */
  @Override
  public String toString() {
    return withoutSeed() + (seed == ownSeed() ? "" : ":seed=" + seed);
  }

  private String withoutSeed() {
    return "%s@%s:%s+%s%s%s"
        .formatted(
            kind,
            place,
            time(startNs),
            time(lengthNs),
            rate == 0 ? "" : ":rate=" + (rate == Math.rint(rate) ? "" + (int) rate : "" + rate),
            amount == 0 ? "" : ":amount=" + amount);
  }

  /** In the largest unit of which it is a whole number; none is 0ms. */
  private static String time(long ns) {
    if (ns % 1_000_000 != 0) {
      return ns % 1_000 == 0 ? ns / 1_000 + "us" : ns + "ns";
    }
    return ns > 0 && ns % 1_000_000_000 == 0 ? ns / 1_000_000_000 + "s" : ns / 1_000_000 + "ms";
  }
}
