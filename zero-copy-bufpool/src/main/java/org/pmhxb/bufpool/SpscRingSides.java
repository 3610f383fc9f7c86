package org.pmhxb.bufpool;

/*
 * Each side's private indices on cache lines of their own: the JVM lays out a superclass's fields
 * before those of its subclass, so the classes below order the padding. 15 longs keep a field two
 * lines (the adjacent-line prefetcher fetches pairs) from its neighbours.
 */

@SuppressWarnings("unused")
abstract class SpscPadBefore {
  private long p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14, p15;
}

/** Owner: the producer. */
abstract class SpscProducerSide extends SpscPadBefore {
  /** Descriptors offered ever. */
  long produced;

  /** What the consumer had taken when the producer looked last. */
  long consumedSeen;
}

@SuppressWarnings("unused")
abstract class SpscPadBetween extends SpscProducerSide {
  private long q1, q2, q3, q4, q5, q6, q7, q8, q9, q10, q11, q12, q13, q14, q15;
}

/** Owner: the consumer. */
abstract class SpscConsumerSide extends SpscPadBetween {
  /** Descriptors taken ever. */
  long consumed;

  /** What the producer had published when the consumer looked last. */
  long producedSeen;

  long lo;
  long hi;
}

@SuppressWarnings("unused")
abstract class SpscPadAfter extends SpscConsumerSide {
  private long r1, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11, r12, r13, r14, r15;
}
