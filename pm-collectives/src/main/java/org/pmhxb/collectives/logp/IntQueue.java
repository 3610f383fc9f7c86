package org.pmhxb.collectives.logp;

import java.util.Arrays;

/** Numbers in the order in which they were added. */
final class IntQueue {
  private int[] ring = new int[4];

  /** Where the next to take lies. */
  private int head;

  private int size;

  boolean isEmpty() {
    return size == 0;
  }

  int size() {
    return size;
  }

  void add(int value) {
    if (size == ring.length) {
      grow();
    }
    ring[head + size++ & ring.length - 1] = value;
  }

  /** The first; there is one. */
  int take() {
    int value = ring[head];
    head = head + 1 & ring.length - 1;
    size--;
    return value;
  }

  private void grow() {
    int[] wider = Arrays.copyOf(ring, 2 * size);
    System.arraycopy(ring, head, wider, 0, size - head);
    System.arraycopy(ring, 0, wider, size - head, head);
    ring = wider;
    head = 0;
  }
}
