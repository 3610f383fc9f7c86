package org.pmhxb.bufpool;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * Zeroed memory that the kernel gives page by page as it is touched (mmap(2)). An arena's own
 * allocation writes zeros over all of it: in a simulation, whose nodes touch few of their buffers,
 * that was a quarter of its time.
 */
final class AnonymousMemory {
  // Of the Linux headers, the same on x86-64 and on AArch64.
  private static final int PROT_READ_WRITE = 0x1 | 0x2;
  private static final int MAP_PRIVATE_ANONYMOUS = 0x02 | 0x20;
  private static final long MAP_FAILED = -1;

  private static final Linker LINKER = Linker.nativeLinker();

  private static final MethodHandle MMAP =
      LINKER.downcallHandle(
          LINKER.defaultLookup().findOrThrow("mmap"),
          FunctionDescriptor.of(
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_LONG));

  private static final MethodHandle MUNMAP =
      LINKER.downcallHandle(
          LINKER.defaultLookup().findOrThrow("munmap"),
          FunctionDescriptor.of(
              ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG));

  private AnonymousMemory() {}

  /**
   * Memory from the beginning of a page on, which is given back when the arena closes.
   *
   * @param bytes at least 1
   * @throws OutOfMemoryError the kernel has no room for it
   */
  static MemorySegment map(long bytes, Arena arena) {
    long address = mmap(bytes);
    if (address == MAP_FAILED) {
      throw new OutOfMemoryError("no room to map " + bytes + " bytes: free memory or map less");
    }
    return MemorySegment.ofAddress(address)
        .reinterpret(bytes, arena, memory -> munmap(memory.address(), bytes));
  }

  private static long mmap(long bytes) {
    try {
      return (long) MMAP.invokeExact(0L, bytes, PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS, -1, 0L);
    } catch (Throwable e) {
      throw new AssertionError("mmap throws nothing", e);
    }
  }

  private static void munmap(long address, long bytes) {
    int result;
    try {
      result = (int) MUNMAP.invokeExact(address, bytes);
    } catch (Throwable e) {
      throw new AssertionError("munmap throws nothing", e);
    }
    if (result != 0) {
      throw new IllegalStateException(
          "munmap of " + bytes + " bytes at 0x" + Long.toHexString(address) + " failed");
    }
  }
}
