package org.pmhxb.router;

import java.util.Locale;

/** A dimension of the hyper-crossbar; its ordinal is its number on the wire. */
public enum Dimension {
  X,
  Y,
  Z;

  /** Most dimensions that a shape can have. */
  public static final int COUNT = 3;

  private static final Dimension[] VALUES = values();

  /** The dimension with a number, 0 to 2. */
  public static Dimension of(int number) {
    return VALUES[number];
  }

  /** Lower case, as in configuration files and rail names. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
