package org.pmhxb.router;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Ethernet addresses of a node's neighbours by dimension, coordinate and rail index, and of its own
 * rails. Filled by {@link Discovery}, read by {@link DimensionOrderRouting}.
 *
 * <p>Writer: the node's poll thread, which reads plainly. Other threads read with acquire (A1),
 * paired with the release (R1) in {@link #set}, and may see an entry late but never torn. Size: the
 * sum of extents x rails, 84 entries for 16x16x10 with two rails, whatever the number of nodes.
 */
final class NeighbourTable {
  private final AtomicLongArray macs;
  private final long[] own;
  private final int[] bases = new int[Dimension.COUNT];
  private final int perDimension;

  /** Poll thread: see {@link #changes()}. */
  private int changes;

  NeighbourTable(Shape shape, RailLayout layout) {
    this.perDimension = layout.perDimension();
    int next = 0;
    for (int d = 0; d < Dimension.COUNT; d++) {
      bases[d] = next;
      next += layout.present(d) ? shape.extent(d) * perDimension : 0;
    }
    this.macs = new AtomicLongArray(next);
    this.own = new long[layout.count()];
  }

  int slots() {
    return macs.length();
  }

  /** Poll thread: differs from what it was whenever an address came or went in between. */
  int changes() {
    return changes;
  }

  /** The slot of coordinate 0 and rail index 0 in a dimension. */
  int base(int dimension) {
    return bases[dimension];
  }

  int slot(int dimension, int coordinate, int index) {
    return bases[dimension] + coordinate * perDimension + index;
  }

  /** Poll thread: a neighbour's address, 0 while unknown. */
  long mac(int slot) {
    return macs.getPlain(slot);
  }

  /** Any thread. */
  long macAcquire(int slot) {
    return macs.getAcquire(slot); // A1
  }

  /** Poll thread: a neighbour's address; 0: it is not known any more. */
  void set(int slot, long mac) {
    changes++;
    macs.setRelease(slot, mac); // R1: pairs with A1
  }

  /** Poll thread: the address of an own rail, 0 while unknown. */
  long own(int rail) {
    return own[rail];
  }

  /** Poll thread. */
  void setOwn(int rail, long mac) {
    changes++;
    own[rail] = mac;
  }
}
