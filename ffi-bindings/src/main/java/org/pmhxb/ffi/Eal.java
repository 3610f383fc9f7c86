package org.pmhxb.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.pmhxb.ffi.gen.Pmhxb;

/**
 * DPDK's environment: one per process, started once, kept until the process ends.
 *
 * <p>With hugepages it starts {@code --in-memory}: no file is made, so nothing is left after a
 * kill. Without, EAL refuses that option; {@code --no-huge --no-shconf} makes no file either.
 */
public final class Eal {
  private static final int LOG_BYTES = 32 * 1024;
  private static Eal running;
  private static NativeException failure;

  private final boolean hugepages;
  private final List<String> arguments;

  private Eal(boolean hugepages, List<String> arguments) {
    this.hugepages = hugepages;
    this.arguments = List.copyOf(arguments);
  }

  /**
   * Starts EAL; later calls return the one that runs, whatever their options, because a process can
   * have only one. Any thread: the start itself happens on a thread of its own, because EAL pins
   * the thread that starts it.
   *
   * @throws NativeLoadException when the library cannot be used
   * @throws NativeException when EAL does not start, with the end of its log; it cannot be tried
   *     again in this process
   */
  public static synchronized Eal init(EalOptions options) {
    if (running != null) {
      return running;
    }
    if (failure != null) {
      throw new NativeException(failure.call(), failure.code(), "failed before: " + failure);
    }
    NativeLibrary.load();
    boolean huge = useHugepages(options);
    List<String> arguments = arguments(options, huge);
    int code = onThrowAwayThread(arguments);
    if (code < 0) {
      failure =
          new NativeException(
              "rte_eal_init" + arguments, code, remedy(code, huge) + "; DPDK says:\n" + log());
      throw failure;
    }
    running = new Eal(huge, arguments);
    return running;
  }

  /** Whether DPDK's own heap lies in hugepages. */
  public boolean hugepages() {
    return hugepages;
  }

  /** The arguments that EAL was started with. */
  public List<String> arguments() {
    return arguments;
  }

  /** The newest 32 KB of DPDK's log, which goes nowhere else. */
  public static String log() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment text = arena.allocate(LOG_BYTES);
      int length = Pmhxb.hxb_eal_log(text, LOG_BYTES);
      return length <= 0 ? "" : Memory.text(text, length);
    }
  }

  /** The last lines of {@link #log}, for an exception's message. */
  static String logTail(int lines) {
    List<String> all = log().lines().toList();
    return String.join(" | ", all.subList(Math.max(0, all.size() - lines), all.size()));
  }

  private static boolean useHugepages(EalOptions options) {
    return switch (options.hugepages()) {
      case NONE -> false;
      case REQUIRED -> true;
      case AUTO -> Hugepages.freePages() * 2 >= options.heapMegabytes();
    };
  }

  static List<String> arguments(EalOptions options, boolean huge) {
    List<String> arguments = new ArrayList<>();
    arguments.add("hxb");
    arguments.add("--no-pci");
    arguments.add("--no-telemetry");
    arguments.add("--iova-mode=va");
    arguments.add("--file-prefix=" + options.filePrefix());
    if (huge) {
      arguments.add("--in-memory");
    } else {
      arguments.add("--no-huge");
      arguments.add("--no-shconf");
      arguments.add("-m");
      arguments.add(Integer.toString(options.heapMegabytes()));
    }
    arguments.addAll(options.extra());
    // A bus scan is what --no-pci leaves out; devices named by the caller need it.
    if (options.extra().stream().anyMatch(a -> a.startsWith("-a") || a.startsWith("--allow"))) {
      arguments.remove("--no-pci");
    }
    return arguments;
  }

  static String remedy(int code, boolean huge) {
    return Errno.remedy(code, huge ? Hugepages.REMEDY : "see hxb doctor");
  }

  private static int onThrowAwayThread(List<String> arguments) {
    FutureTask<Integer> code = new FutureTask<>(() -> start(arguments));
    Thread.ofPlatform().name("hxb-eal-init").start(code);
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return code.get();
        } catch (InterruptedException e) {
          interrupted = true; // the start cannot be called off half-way
        } catch (ExecutionException e) {
          throw new IllegalStateException("EAL was not started: " + e.getCause(), e.getCause());
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static int start(List<String> arguments) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment argv = arena.allocate(ValueLayout.ADDRESS, arguments.size());
      for (int i = 0; i < arguments.size(); i++) {
        argv.setAtIndex(ValueLayout.ADDRESS, i, arena.allocateFrom(arguments.get(i)));
      }
      return Pmhxb.hxb_eal_init(arguments.size(), argv);
    }
  }
}
