package org.pmhxb.mpi.launch;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/**
 * Runs another program as this very process, as a shell's {@code exec} does: whoever started this
 * one waits for it, signals it and reads from it as before. So a rank gets another JVM than the one
 * that its launcher started.
 */
public final class ProcessImage {
  private ProcessImage() {}

  /**
   * Does not return. Nothing of this JVM goes on, its shutdown hooks neither: to be called before
   * there is anything to end.
   *
   * @param command the executable's path, and its arguments
   * @throws IllegalStateException it cannot be run; this process goes on
   */
  public static void replace(List<String> command) {
    Linker linker = Linker.nativeLinker();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment argv = arena.allocate(ADDRESS, command.size() + 1L); // ends with a null
      for (int i = 0; i < command.size(); i++) {
        argv.setAtIndex(ADDRESS, i, arena.allocateFrom(command.get(i)));
      }
      MemorySegment errno = arena.allocate(Linker.Option.captureStateLayout());
      int result =
          (int)
              linker
                  .downcallHandle(
                      linker.defaultLookup().findOrThrow("execv"),
                      FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS),
                      Linker.Option.captureCallState("errno"))
                  .invokeExact(errno, arena.allocateFrom(command.getFirst()), argv);
      throw new IllegalStateException(
          "execv(%s) answered %d with errno %d"
              .formatted(command.getFirst(), result, errno.get(ValueLayout.JAVA_INT, 0)));
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable t) {
      throw new IllegalStateException("cannot call execv", t);
    }
  }
}
