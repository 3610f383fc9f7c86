package org.pmhxb.pm.flow;

/** A bounded FIFO of packet descriptors within one thread. Owner: the poll thread. */
public final class DescriptorQueue {
  private final long[] items;
  private final int mask;
  private int head;
  private int tail;

  /**
   * @param capacity a power of two, 2 to 65,536
   */
  public DescriptorQueue(int capacity) {
    if (Integer.bitCount(capacity) != 1 || capacity < 2 || capacity > 65_536) {
      throw new IllegalArgumentException(
          "queue of " + capacity + " descriptors: must be a power of two in 2..65536");
    }
    items = new long[capacity];
    mask = capacity - 1;
  }

  public int size() {
    return tail - head;
  }

  /** Items that fit now. */
  public int room() {
    return items.length - (tail - head);
  }

  public boolean isFull() {
    return tail - head == items.length;
  }

  /** Ticket of the item that is put next; compare with {@link #taken()}. */
  public int ticket() {
    return tail;
  }

  /** Items with a ticket before this have left the queue. */
  public int taken() {
    return head;
  }

  /** False when full: the item stays the caller's. */
  public boolean put(long item) {
    // Masked by the length itself, which lets the compiler leave out the bounds check.
    long[] array = items;
    int at = tail;
    if (at - head == array.length) {
      return false;
    }
    array[at & array.length - 1] = item;
    tail = at + 1;
    return true;
  }

  /** The i-th item from the head, {@code 0 <= i < size()}. */
  public long peek(int i) {
    return items[head + i & mask];
  }

  /** Replaces the i-th item from the head. */
  public void replace(int i, long item) {
    items[head + i & mask] = item;
  }

  /** Removes {@code count} items from the head. */
  public void drop(int count) {
    head += count;
  }
}
