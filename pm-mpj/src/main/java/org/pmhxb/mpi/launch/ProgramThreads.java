package org.pmhxb.mpi.launch;

/** The threads of a rank's program where the process has others, or ends by itself. */
final class ProgramThreads {
  private static final long LOOK_MS = 50;

  private ProgramThreads() {}

  /**
   * Runs the body of a rank on a thread of its own. What it starts begins as no daemon, as from any
   * main method, and is found by {@link #awaitOthers}.
   */
  static Thread start(int rank, Runnable body) {
    String name = "rank-" + rank;
    return Thread.ofPlatform().group(new ThreadGroup(name)).name(name).daemon(false).start(body);
  }

  /**
   * Behind the main method, on its thread: waits for those that Java would wait for before it ends
   * a process. As there, an interrupt, which the program may have left, ends nothing.
   */
  static void awaitOthers() {
    boolean interrupted = false;
    for (Thread other = other(); other != null; other = other()) {
      try {
        other.join(LOOK_MS);
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private static Thread other() {
    ThreadGroup group = Thread.currentThread().getThreadGroup();
    Thread[] all = new Thread[group.activeCount() + 16];
    int count = group.enumerate(all);
    for (int i = 0; i < count; i++) {
      if (all[i] != Thread.currentThread() && !all[i].isDaemon()) {
        return all[i];
      }
    }
    return null;
  }
}
