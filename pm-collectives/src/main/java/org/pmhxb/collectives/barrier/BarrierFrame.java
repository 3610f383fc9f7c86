package org.pmhxb.collectives.barrier;

/**
 * The words of a barrier's COLLECTIVE frame (PROTOCOL.md sections 3.1 and 13).
 *
 * <pre>
 *   word 0   operation:8 | step:8 | number:16 | group:32
 *   word 1   epoch:32 | asked:32      asked: 1 in an ARRIVE that answers an ASK
 *   word 2   value:64, of BROKEN the node that is down, of PING 1 when an ECHO is wanted
 * </pre>
 */
final class BarrierFrame {
  static final int ARRIVE = 1;
  static final int ASK = 2;
  static final int BROKEN = 3;

  /** A frame that measures the fabric, of no barrier; step is the way that it and its echo take. */
  static final int PING = 4;

  static final int ECHO = 5;

  private BarrierFrame() {}

  static long word0(int operation, int step, int number, int group) {
    return (long) operation << 56
        | (long) (step & 0xFF) << 48
        | (long) (number & 0xFFFF) << 32
        | group & 0xFFFF_FFFFL;
  }

  static long word1(int epoch) {
    return (long) epoch << 32;
  }

  /** Of an ARRIVE that was asked for. */
  static long asked(int epoch) {
    return word1(epoch) | 1;
  }

  static boolean isAsked(long word1) {
    return (int) word1 != 0;
  }

  static int operation(long word0) {
    return (int) (word0 >>> 56);
  }

  static int step(long word0) {
    return (int) (word0 >>> 48) & 0xFF;
  }

  static int number(long word0) {
    return (int) (word0 >>> 32) & 0xFFFF;
  }

  static int group(long word0) {
    return (int) word0;
  }

  static int epoch(long word1) {
    return (int) (word1 >>> 32);
  }
}
