package org.pmhxb.mpi.engine;

import java.lang.foreign.MemorySegment;

/**
 * A message's bytes in the program's memory: a first part in a buffer and a second one after it, as
 * MPJ's static and dynamic sections. Offsets count over both.
 */
public final class Payload {
  /** No bytes at all. */
  public static final Payload EMPTY = new Payload(MemorySegment.NULL, 0, 0, MemorySegment.NULL);

  private final MemorySegment first;
  private final long firstAt;
  private final int firstBytes;
  private final MemorySegment second;

  /**
   * @param firstAt where the first part begins in {@code first}
   * @param second all of it is the second part
   */
  public Payload(MemorySegment first, long firstAt, int firstBytes, MemorySegment second) {
    java.util.Objects.checkFromIndexSize(firstAt, firstBytes, first.byteSize());
    this.first = first;
    this.firstAt = firstAt;
    this.firstBytes = firstBytes;
    this.second = second;
  }

  int firstBytes() {
    return firstBytes;
  }

  int secondBytes() {
    return (int) second.byteSize();
  }

  /** Of both parts; up to 2^32. */
  public long bytes() {
    return firstBytes + second.byteSize();
  }

  /** Copies {@code [offset, offset + length)} out of the message. */
  void read(long offset, MemorySegment to, long at, int length) {
    int fromFirst = Math.clamp(firstBytes - offset, 0, length);
    if (fromFirst > 0) {
      MemorySegment.copy(first, firstAt + offset, to, at, fromFirst);
    }
    if (fromFirst < length) {
      long from = offset + fromFirst - firstBytes;
      MemorySegment.copy(second, from, to, at + fromFirst, length - fromFirst);
    }
  }

  /** Copies {@code [offset, offset + length)} into the message. */
  void write(long offset, MemorySegment from, long at, int length) {
    int intoFirst = Math.clamp(firstBytes - offset, 0, length);
    if (intoFirst > 0) {
      MemorySegment.copy(from, at, first, firstAt + offset, intoFirst);
    }
    if (intoFirst < length) {
      long to = offset + intoFirst - firstBytes;
      MemorySegment.copy(from, at + intoFirst, second, to, length - intoFirst);
    }
  }
}
