package org.pmhxb.collectives;

/** What a reduction's vectors are made of; little-endian, as all machines that this runs on. */
public enum ElementType {
  INT(Integer.BYTES, false),
  LONG(Long.BYTES, false),
  FLOAT(Float.BYTES, true),
  DOUBLE(Double.BYTES, true);

  private final int bytes;
  private final boolean floating;

  ElementType(int bytes, boolean floating) {
    this.bytes = bytes;
    this.floating = floating;
  }

  /** Of one element. */
  public int bytes() {
    return bytes;
  }

  /** Sums depend on the order, and there are no bitwise operations. */
  public boolean isFloating() {
    return floating;
  }

  @Override
  public String toString() {
    return name().toLowerCase(java.util.Locale.ROOT);
  }
}
