package org.pmhxb.cli.cluster;

import java.io.File;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.List;

/** How an integration test starts a main class of its own, that is not in the jar. */
final class TestJvm {
  private TestJvm() {}

  /** As {@link NodeJvm#command}, with the tests' classes behind the jar, whose archive it takes. */
  static List<String> command(Class<?> main) {
    List<String> command = NodeJvm.command(main.getName());
    int classPath = command.indexOf("-cp") + 1;
    command.set(classPath, command.get(classPath) + File.pathSeparator + classes(main));
    return command;
  }

  private static Path classes(Class<?> main) {
    try {
      return Path.of(main.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }
}
