package org.pmhxb.ffi;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.invoke.MethodHandle;

/**
 * Which signals of a terminal come to this process. By the C library alone: a process is to have
 * its group before it loads anything.
 */
public final class ProcessGroup {
  private ProcessGroup() {}

  /**
   * Gives this process a group of its own in the session that it was started in: a terminal's
   * Ctrl-C and hang-up are for the group in its foreground. A session of its own would do that too,
   * but the scheduler of Linux shares processors out among sessions first ({@code
   * kernel.sched_autogroup_enabled}), and a poll thread whose compilers had the other processor
   * then waited for up to 36 ms (docs/RELIABILITY.md, failover). For any thread; who leads a group
   * or session already goes on doing so.
   *
   * @throws NativeException the kernel refuses
   */
  public static void own() {
    boolean leads;
    try {
      leads =
          (int) function("setpgid", JAVA_INT, JAVA_INT).invokeExact(0, 0) == 0
              || (int) function("getpgrp").invokeExact() == ProcessHandle.current().pid();
    } catch (Throwable e) {
      throw new IllegalStateException("setpgid", e);
    }
    if (!leads) {
      // The one error that there is for oneself.
      throw new NativeException(
          "setpgid(0, 0)", -Errno.EPERM, "of process " + ProcessHandle.current().pid());
    }
  }

  private static MethodHandle function(String name, MemoryLayout... arguments) {
    Linker linker = Linker.nativeLinker();
    return linker.downcallHandle(
        linker.defaultLookup().findOrThrow(name), FunctionDescriptor.of(JAVA_INT, arguments));
  }
}
