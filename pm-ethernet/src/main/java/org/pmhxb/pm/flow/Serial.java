package org.pmhxb.pm.flow;

/**
 * Serial number arithmetic modulo 2^32 (PROTOCOL.md section 5.1). Two numbers are comparable while
 * they are less than 2^31 apart; windows are far smaller.
 */
public final class Serial {
  private Serial() {}

  /** {@code a} comes before {@code b}. */
  public static boolean before(int a, int b) {
    return a - b < 0;
  }

  /** {@code a} comes after {@code b}. */
  public static boolean after(int a, int b) {
    return a - b > 0;
  }

  /** The later of two. */
  public static int max(int a, int b) {
    return a - b < 0 ? b : a;
  }
}
