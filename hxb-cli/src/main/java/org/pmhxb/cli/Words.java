package org.pmhxb.cli;

import java.util.regex.Pattern;

/** Words of what is printed for people, and for shells. */
public final class Words {
  private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9_./:=,@%+-]+");

  private Words() {}

  /** As it has to be typed for a shell to take it for one word. */
  public static String forShell(String word) {
    return PLAIN.matcher(word).matches() ? word : "'" + word.replace("'", "'\\''") + "'";
  }

  /** As in 1 rail, 2 rails. */
  public static String count(long n, String noun) {
    return n + " " + noun + (n == 1 ? "" : "s");
  }

  /** A number as a person writes it: 2 and 0.5. */
  public static String number(double value) {
    return value == Math.rint(value) && Math.abs(value) < 1e15
        ? Long.toString((long) value)
        : Double.toString(value);
  }
}
