package org.pmhxb.cli.process;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** A command that takes a minute, and tells its processes from all others of the machine. */
public final class Sleep {
  private static final AtomicInteger MADE = new AtomicInteger();

  private final String command =
      "sleep 60.%d%03d".formatted(ProcessHandle.current().pid(), MADE.incrementAndGet());

  /** Itself, and every shell that has it in its script, children of this JVM or of nobody. */
  public List<ProcessHandle> running() {
    return ProcessHandle.allProcesses()
        .filter(process -> process.info().commandLine().orElse("").contains(command))
        .toList();
  }

  @Override
  public String toString() {
    return command;
  }
}
