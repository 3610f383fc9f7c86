package org.pmhxb.pm;

import java.lang.foreign.ValueLayout;
import org.pmhxb.bufpool.Memory;
import org.pmhxb.pm.port.Burst;

/**
 * Frames that wait for a rail's port with their only reference, which passes to it: control frames,
 * or relayed ones. As in {@link LocalQueue}, the descriptors lie in native memory as a ring, so
 * that the driver takes them where they were put. Owner: the poll thread.
 */
final class FrameQueue {
  static final int CAPACITY = 1024;
  private static final int MASK = CAPACITY - 1;

  private final Burst ring = new Burst(CAPACITY);
  private final long address = ring.address();
  private int head;
  private int tail;

  /** The descriptors: the first at {@link #first()}. */
  Burst ring() {
    return ring;
  }

  int size() {
    return tail - head;
  }

  /** Index in {@link #ring} of the frame at the head. */
  int first() {
    return head & MASK;
  }

  /** Of the first {@code count} frames, how many stand before the ring's end. */
  int unbroken(int count) {
    return Math.min(count, CAPACITY - (head & MASK));
  }

  /** False when full: the frame stays the caller's. */
  boolean put(long descriptor) {
    int at = tail;
    if (at - head == CAPACITY) {
      return false;
    }
    Memory.ALL.set(ValueLayout.JAVA_LONG_UNALIGNED, at(at), descriptor);
    tail = at + 1;
    return true;
  }

  /** The i-th frame from the head, {@code 0 <= i < size()}. */
  long peek(int i) {
    return Memory.ALL.get(ValueLayout.JAVA_LONG_UNALIGNED, at(head + i));
  }

  /** Where the next frame is put, counted on and on: see {@link #before}. */
  int end() {
    return tail;
  }

  /** How many of the frames wait that were there when {@link #end} said this. */
  int before(int end) {
    return Math.max(0, end - head);
  }

  /** Removes {@code count} frames from the head. */
  void drop(int count) {
    head += count;
  }

  /** The first {@code count} frames, if any, were sealed and stay: they need no second seal. */
  void sealed(int count) {
    for (int i = 0; i < count; i++) {
      Memory.ALL.set(ValueLayout.JAVA_LONG_UNALIGNED, at(head + i), peek(i) & ~Burst.SEAL);
    }
  }

  private long at(int place) {
    return Memory.known(address) + ((long) (place & MASK) << 3);
  }
}
