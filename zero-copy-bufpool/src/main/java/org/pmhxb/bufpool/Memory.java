package org.pmhxb.bufpool;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

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

  /**
   * Behind this the compiler reads fields anew instead of keeping what it read before. Where many
   * are read to decide and again to act, it would keep more of them than it has registers, and a
   * value that is put away and fetched back costs more than one that is loaded from the first-level
   * cache (docs/performance/send.md). No instruction on x86-64, a load barrier on AArch64.
   */
  public static void readAnew() {
    VarHandle.acquireFence();
  }
}
