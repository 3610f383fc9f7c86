package org.pmhxb.cli.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;

/** Processes of this machine, by their numbers. */
public final class Running {
  private Running() {}

  /** Those in whose command lines the path stands. */
  public static List<Long> startedWith(Path path) {
    return ProcessHandle.allProcesses()
        .map(ProcessHandle::pid)
        .filter(pid -> String.join(" ", Arguments.of(pid)).contains(path.toString()))
        .toList();
  }

  /**
   * A group of its own, of processes that this one started: a terminal's Ctrl-C is this process's
   * alone, the session by which Linux serves all have.
   */
  public static void assertThatEachHasAGroup(List<Long> pids) {
    long session = stat(ProcessHandle.current().pid()).session();
    assertThat(pids).allMatch(pid -> stat(pid).group() == pid);
    assertThat(pids).allMatch(pid -> stat(pid).session() == session);
  }

  private static ProcStat stat(long pid) {
    return ProcStat.ofProcess(Path.of("/proc"), pid).orElseThrow();
  }
}
