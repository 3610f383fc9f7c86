package org.pmhxb.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.BitSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;
import org.pmhxb.ffi.gen.Pmhxb;

/** DPDK registration and CPU affinity of the calling thread: platform threads only. */
public final class Threads {
  private static final int CPU_WORDS = 16; // 1,024 CPUs, as the kernel's cpu_set_t

  private Threads() {}

  /**
   * Gives the calling thread a DPDK thread number, and with it a cache in every pool that has one.
   * Undo with {@link #unregister} before the thread ends. A second call does nothing.
   */
  public static void register() {
    requirePlatform();
    int code = Pmhxb.hxb_thread_register();
    if (code < 0) {
      throw new NativeException(
          "rte_thread_register", code, "EAL must run, and DPDK knows at most 128 threads");
    }
  }

  /** Harmless when not registered. */
  public static void unregister() {
    Pmhxb.hxb_thread_unregister();
  }

  /** Pins the calling thread to one CPU. */
  public static void pin(int cpu) {
    requirePlatform();
    NativeLibrary.load();
    int code = Pmhxb.hxb_thread_pin(cpu);
    if (code < 0) {
      throw new NativeException(
          "hxb_thread_pin(" + cpu + ")", code, "this process may use CPUs " + affinity());
    }
  }

  /** The CPUs that the calling thread may run on. */
  public static BitSet affinity() {
    NativeLibrary.load();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment words = arena.allocate(ValueLayout.JAVA_LONG, CPU_WORDS);
      int code = Pmhxb.hxb_thread_affinity(words, CPU_WORDS);
      if (code < 0) {
        throw new NativeException("hxb_thread_affinity", code, "");
      }
      return BitSet.valueOf(words.toArray(ValueLayout.JAVA_LONG));
    }
  }

  /** Lets the calling thread run on these CPUs. */
  public static void setAffinity(BitSet cpus) {
    requirePlatform();
    NativeLibrary.load();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment words = arena.allocate(ValueLayout.JAVA_LONG, CPU_WORDS);
      MemorySegment.copy(
          MemorySegment.ofArray(cpus.toLongArray()), 0, words, 0, cpus.toLongArray().length * 8L);
      int code = Pmhxb.hxb_thread_set_affinity(words, CPU_WORDS);
      if (code < 0) {
        throw new NativeException("hxb_thread_set_affinity(" + cpus + ")", code, "");
      }
    }
  }

  /**
   * Runs an action on a thread of its own that is pinned to one CPU, and waits for it: memory that
   * the action is the first to touch lies on that CPU's NUMA node. The calling thread, which may be
   * a virtual one, keeps its affinity.
   *
   * @param cpu negative: none, the calling thread runs the action itself
   * @throws NativeException this process may not use that CPU; or what the action throws
   */
  public static <T> T callOn(int cpu, Supplier<T> action) {
    if (cpu < 0) {
      return action.get();
    }
    FutureTask<T> task =
        new FutureTask<>(
            () -> {
              pin(cpu);
              return action.get();
            });
    Thread.ofPlatform().name("hxb-on-cpu-" + cpu).start(task);
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return task.get();
        } catch (InterruptedException e) {
          interrupted = true; // what the action makes has to be somebody's
        }
      }
    } catch (ExecutionException e) {
      switch (e.getCause()) {
        case RuntimeException thrown -> throw thrown;
        case Error thrown -> throw thrown;
        default -> throw new IllegalStateException(e.getCause());
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static void requirePlatform() {
    if (Thread.currentThread().isVirtual()) {
      throw new IllegalStateException(
          "a virtual thread has no CPU of its own: use Thread.ofPlatform");
    }
  }
}
