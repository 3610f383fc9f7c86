package org.pmhxb.collectives;

/**
 * Hashes of numbers in their order, by the finalizer of SplitMix64 (Steele, Lea, Flood: Fast
 * Splittable Pseudorandom Number Generators, 2014): unlike sums of products, none that differ in
 * two places by what makes up for each other are the same.
 */
final class Mixed {
  private static final long GOLDEN = 0x9E37_79B9_7F4A_7C15L;

  private Mixed() {}

  /** The hash of what had one so far and of one more number. */
  static long of(long hash, long next) {
    long z = (hash + GOLDEN) ^ next;
    z = (z ^ z >>> 30) * 0xBF58_476D_1CE4_E5B9L;
    z = (z ^ z >>> 27) * 0x94D0_49BB_1331_11EBL;
    return z ^ z >>> 31;
  }
}
