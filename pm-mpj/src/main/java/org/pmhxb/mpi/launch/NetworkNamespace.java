package org.pmhxb.mpi.launch;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;

/**
 * Does something in another network namespace: a namespace belongs to a thread, and sockets stay in
 * the one where they were made. So a process that its launcher knows by the host's network can have
 * its rails in a namespace of its own.
 */
final class NetworkNamespace {
  private static final int CLONE_NEWNET = 0x4000_0000;
  private static final int O_RDONLY_CLOEXEC = 0x8_0000;
  private static final Linker LINKER = Linker.nativeLinker();
  private static final Linker.Option ERRNO = Linker.Option.captureCallState("errno");

  private NetworkNamespace() {}

  /**
   * Runs an action on a thread of its own in a namespace; threads that it starts are there too.
   *
   * @param namespace as in /run/netns
   */
  static <T> T call(Path namespace, Callable<T> action) throws Exception {
    FutureTask<T> task =
        new FutureTask<>(
            () -> {
              enter(namespace);
              return action.call();
            });
    Thread.ofPlatform().name("in-" + namespace.getFileName()).start(task);
    return task.get();
  }

  private static void enter(Path namespace) {
    try (Arena arena = Arena.ofConfined()) {
      MethodHandle open =
          LINKER.downcallHandle(
              LINKER.defaultLookup().findOrThrow("open"),
              FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT),
              Linker.Option.firstVariadicArg(2),
              ERRNO);
      MethodHandle setns =
          LINKER.downcallHandle(
              LINKER.defaultLookup().findOrThrow("setns"),
              FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT),
              ERRNO);
      MethodHandle close =
          LINKER.downcallHandle(
              LINKER.defaultLookup().findOrThrow("close"),
              FunctionDescriptor.of(JAVA_INT, JAVA_INT));
      MemorySegment errno = arena.allocate(Linker.Option.captureStateLayout());
      MemorySegment path = arena.allocateFrom(namespace.toString());
      int fd = (int) open.invokeExact(errno, path, O_RDONLY_CLOEXEC);
      check("open", fd, errno, namespace);
      int result = (int) setns.invokeExact(errno, fd, CLONE_NEWNET);
      check("setns", result, errno, namespace);
      int closed = (int) close.invokeExact(fd);
      assert closed == 0;
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable t) {
      throw new IllegalStateException("cannot enter " + namespace, t);
    }
  }

  private static void check(String call, int result, MemorySegment errno, Path namespace) {
    if (result < 0) {
      throw new IllegalStateException(
          call
              + " of "
              + namespace
              + " failed with errno "
              + errno.get(ValueLayout.JAVA_INT, 0)
              + "; entering a network namespace needs root, and it must exist");
    }
  }
}
