package org.pmhxb.cli;

/** Words of what is printed for people. */
public final class Words {
  private Words() {}

  /** As in 1 rail, 2 rails. */
  public static String count(long n, String noun) {
    return n + " " + noun + (n == 1 ? "" : "s");
  }
}
