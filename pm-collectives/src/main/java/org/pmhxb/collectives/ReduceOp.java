package org.pmhxb.collectives;

/** How a reduction combines two elements. All are commutative; sums wrap round as in Java. */
public enum ReduceOp {
  SUM,
  MIN,
  MAX,
  AND,
  OR,
  XOR;

  /** Of whole numbers only. */
  public boolean isBitwise() {
    return ordinal() >= AND.ordinal();
  }

  @Override
  public String toString() {
    return name().toLowerCase(java.util.Locale.ROOT);
  }
}
