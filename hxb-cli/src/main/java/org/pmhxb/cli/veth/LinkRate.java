package org.pmhxb.cli.veth;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A link's raw rate, in the units of {@code tc}: powers of ten, bits per second. */
public record LinkRate(long bitsPerSecond) {
  /** Slowest rate that is accepted: below it one jumbo frame takes longer than a poll cycle. */
  public static final long MIN_BITS_PER_SECOND = 1_000_000L;

  /** Fastest rate that is accepted; no shaped link of one machine comes near it. */
  public static final long MAX_BITS_PER_SECOND = 100_000_000_000L;

  private static final Pattern TEXT = Pattern.compile("(\\d{1,12})(bit|kbit|mbit|gbit)");

  public LinkRate {
    if (bitsPerSecond < MIN_BITS_PER_SECOND || bitsPerSecond > MAX_BITS_PER_SECOND) {
      throw outside(text(bitsPerSecond));
    }
  }

  private static IllegalArgumentException outside(String rate) {
    return new IllegalArgumentException(
        "rate of %s is outside %s to %s"
            .formatted(rate, text(MIN_BITS_PER_SECOND), text(MAX_BITS_PER_SECOND)));
  }

  /**
   * Reads {@code 200mbit}, {@code 1gbit}; throws IllegalArgumentException with what is expected.
   */
  public static LinkRate parse(String text) {
    Matcher matcher = TEXT.matcher(text.toLowerCase(Locale.ROOT));
    if (!matcher.matches()) {
      throw new IllegalArgumentException(
          "\"" + text + "\": expected a whole number and bit, kbit, mbit or gbit, as in 200mbit");
    }
    long unit =
        switch (matcher.group(2)) {
          case "kbit" -> 1_000L;
          case "mbit" -> 1_000_000L;
          case "gbit" -> 1_000_000_000L;
          default -> 1L;
        };
    long units = Long.parseLong(matcher.group(1));
    if (units > MAX_BITS_PER_SECOND / unit) {
      throw outside(matcher.group()); // it may be beyond a long
    }
    return new LinkRate(units * unit);
  }

  public double bytesPerSecond() {
    return bitsPerSecond / 8.0;
  }

  /** The shortest text that {@link #parse} reads back to the same rate. */
  @Override
  public String toString() {
    return text(bitsPerSecond);
  }

  private static String text(long bitsPerSecond) {
    if (bitsPerSecond == 0) {
      return "0bit";
    }
    if (bitsPerSecond % 1_000_000_000L == 0) {
      return bitsPerSecond / 1_000_000_000L + "gbit";
    }
    if (bitsPerSecond % 1_000_000L == 0) {
      return bitsPerSecond / 1_000_000L + "mbit";
    }
    return bitsPerSecond % 1_000L == 0 ? bitsPerSecond / 1_000L + "kbit" : bitsPerSecond + "bit";
  }
}
