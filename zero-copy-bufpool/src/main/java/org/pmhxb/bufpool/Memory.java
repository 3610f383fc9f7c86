package org.pmhxb.bufpool;

import java.lang.foreign.MemorySegment;

/**
 * All memory of the process, as a constant, for the packet path.
 *
 * <p>A segment in a field is an object that the compiler must look at again after each call: its
 * kind, its lifetime, its bounds. Of a constant it knows them, so that an access is one
 * instruction. The price is that nothing but the caller checks the address: it is a pool's base
 * plus an offset that the pool made ({@link BufferPool#frameAt}), and lengths are checked before.
 */
public final class Memory {
  /** Offset = address. Never closed. */
  public static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  /** Above every address of user space: 47 bits, 56 with five levels of page tables. */
  private static final long ADDRESS_MASK = (1L << 62) - 1;

  private Memory() {}

  /**
   * The address itself, in a form that lets the compiler see that it lies within {@link #ALL}: it
   * then leaves out the bounds check of each access that adds a constant, three instructions of
   * four.
   */
  public static long known(long address) {
    return address & ADDRESS_MASK;
  }
}
