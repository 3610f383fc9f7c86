package org.pmhxb.cli.cluster;

import java.nio.file.Path;
import java.util.List;

/** A process that has a cluster's name until it is ended, as a command that makes namespaces. */
final class NameHolder {
  private NameHolder() {}

  /** Returns when it has the name. */
  static Process start(Path folder, String cluster) throws Exception {
    List<String> command = TestJvm.command(NameHolder.class);
    command.add(cluster);
    Process process =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    if (process.getInputStream().read() != 'h') {
      throw new IllegalStateException("it has not got the name " + cluster);
    }
    return process;
  }

  public static void main(String[] arguments) throws Exception {
    System.out.println(NameLock.take(arguments[0]).isPresent() ? "has it" : "no");
    Thread.sleep(60_000);
  }
}
