package org.pmhxb.cli.process;

import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** Signals that {@link ProcessHandle} has no word for. */
public final class Signals {
  private Signals() {}

  /**
   * Sends one; to a process that has ended none. By the shell's own {@code kill}, as the program of
   * that name is not everywhere. An interrupt does not keep it from being sent, and is kept.
   *
   * @param signal its name without SIG, as in STOP
   * @throws IOException the process lives, and may not be signalled
   */
  public static void send(String signal, long pid) throws IOException {
    String command = "kill -s " + signal + " " + pid;
    Process shell = new ProcessBuilder("sh", "-c", command).redirectErrorStream(true).start();
    String said = new String(shell.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    int code = shell.onExit().join().exitValue();
    if (code != 0 && ProcessHandle.of(pid).isPresent()) {
      throw new IOException(command + " ended with " + code + ": " + said.strip());
    }
  }
}
