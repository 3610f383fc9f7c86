package org.pmhxb.cli.rehearsal;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.pmhxb.cli.process.DirectoryTree;
import org.pmhxb.cli.process.ProcStat;

/**
 * A directory for a rehearsal's temporary files. Its name tells whose it is: what a process that
 * was killed left, the next one removes.
 */
final class ScratchDirectory implements AutoCloseable {
  private static final Path PROC = Path.of("/proc");
  private static final String PREFIX = "hxb-rehearsal-";

  /** The process and when it began, which tells it from a later one with its number. */
  private static final Pattern NAME = Pattern.compile(PREFIX + "(\\d{1,18})-(\\d{1,18})-\\d+");

  private final Path path;

  private ScratchDirectory(Path path) {
    this.path = path;
  }

  /** In the usual place for temporary files. */
  static ScratchDirectory open() throws IOException {
    return open(Path.of(System.getProperty("java.io.tmpdir")));
  }

  /**
   * Makes one that none but its user may enter, and removes those of this user whose process is
   * gone.
   */
  static ScratchDirectory open(Path root) throws IOException {
    Path made = Files.createTempDirectory(root, prefix(ProcessHandle.current().pid()));
    removeAbandoned(root, Files.getOwner(made));
    return new ScratchDirectory(made);
  }

  private static String prefix(long pid) {
    return PREFIX + pid + "-" + ProcStat.ofProcess(PROC, pid).orElseThrow().startTicks() + "-";
  }

  /** As far as it goes: nothing of its own depends on it. */
  private static void removeAbandoned(Path root, UserPrincipal user) {
    try (DirectoryStream<Path> found = Files.newDirectoryStream(root, PREFIX + "*")) {
      for (Path each : found) {
        Matcher name = NAME.matcher(each.getFileName().toString());
        if (name.matches()
            && !ProcStat.isRunning(
                PROC, Long.parseLong(name.group(1)), Long.parseLong(name.group(2)))) {
          removeIfOf(user, each);
        }
      }
    } catch (IOException | DirectoryIteratorException | IllegalStateException _) {
      // The place may be written and not listed, say: what is there stays.
    }
  }

  private static void removeIfOf(UserPrincipal user, Path directory) {
    try {
      if (Files.getOwner(directory, LinkOption.NOFOLLOW_LINKS).equals(user)) {
        DirectoryTree.delete(directory);
      }
    } catch (IOException _) {
      // Another rehearsal removes it at the same time; else it is the next one's.
    }
  }

  Path path() {
    return path;
  }

  @Override
  public void close() throws IOException {
    DirectoryTree.delete(path);
  }
}
