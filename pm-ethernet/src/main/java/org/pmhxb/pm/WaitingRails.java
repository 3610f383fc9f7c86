package org.pmhxb.pm;

/**
 * Which of a node's rails have frames that wait, or may: those are to be offered to their ports. As
 * one word, so that a duty cycle in which none does spends nothing on a loop, and one rail that
 * alone does is found without one. Owner: the poll thread.
 */
final class WaitingRails {
  private final int count;
  private int bits;

  /**
   * @param count of rails, up to 32: {@link org.pmhxb.pm.port.QueueBursts#PORTS_MAX}
   */
  WaitingRails(int count) {
    this.count = count;
  }

  /** All rails. */
  int count() {
    return count;
  }

  /** A bit for each rail that waits. */
  int bits() {
    return bits;
  }

  /** The word of an only rail. */
  static int bit(int index) {
    return 1 << index;
  }

  void add(int bit) {
    bits |= bit;
  }

  void remove(int bit) {
    bits &= ~bit;
  }

  boolean has(int bit) {
    return (bits & bit) != 0;
  }

  /** Index of the rail that alone waits; -1: none or several do. */
  int only() {
    return bits != 0 && (bits & bits - 1) == 0 ? Integer.numberOfTrailingZeros(bits) : -1;
  }
}
