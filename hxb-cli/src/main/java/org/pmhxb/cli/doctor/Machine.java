package org.pmhxb.cli.doctor;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.pmhxb.cli.control.ControlServer;
import org.pmhxb.cli.process.ProcessTree;

/**
 * The machine under examination, seen through the files under a root: the real one, or a copy of
 * another machine's {@code /proc}, {@code /sys} and {@code /usr/lib}. Only looks.
 */
final class Machine {
  private static final Duration COMMAND_LIMIT = Duration.ofSeconds(10);

  private final Path root;
  private final Set<String> unreadable = new TreeSet<>();

  Machine(Path root) {
    this.root = root;
  }

  /** Whether this is the machine that we run on, so that it may be asked by commands too. */
  boolean isThisOne() {
    return root.equals(Path.of("/"));
  }

  /** Whether it is there, and to be seen. */
  boolean exists(String path) {
    try {
      at(path).getFileSystem().provider().checkAccess(at(path));
      return true;
    } catch (AccessDeniedException e) {
      unreadable.add(path);
      return false;
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * The file's text without surrounding white space; empty when it is not there or not readable.
   */
  String read(String path) {
    try {
      return Files.readString(at(path)).strip();
    } catch (NoSuchFileException e) {
      return "";
    } catch (FileSystemException e) {
      unreadable.add(path); // it is there, and was not opened
      return "";
    } catch (IOException e) {
      return ""; // opened: the kernel tells nothing, as of the speed of an interface that is down
    }
  }

  /** The file as a number, or {@code missing} when it is not there or holds none. */
  long number(String path, long missing) {
    try {
      return Long.parseLong(read(path));
    } catch (NumberFormatException e) {
      return missing;
    }
  }

  /** Whether this process is root's, and so has no use for sudo. */
  boolean isRoot() {
    return field("/proc/self/status", "Uid").matches("\\d+\\s+0\\s.*");
  }

  /** What follows {@code key} on its line of a file such as /proc/meminfo; empty if not there. */
  String field(String path, String key) {
    return read(path)
        .lines()
        .filter(line -> line.startsWith(key + ":"))
        .map(line -> line.substring(key.length() + 1).strip())
        .findFirst()
        .orElse("");
  }

  /**
   * Names within a directory that match a glob, sorted; empty when there is no such directory or it
   * is not readable.
   */
  List<String> list(String directory, String glob) {
    List<String> names = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(at(directory), glob)) {
      entries.forEach(entry -> names.add(entry.getFileName().toString()));
    } catch (NoSuchFileException | NotDirectoryException e) {
      return names;
    } catch (IOException | DirectoryIteratorException e) {
      unreadable.add(directory);
    }
    Collections.sort(names);
    return names;
  }

  /** Files and directories that were there and could not be read, sorted. */
  Set<String> unreadable() {
    return unreadable;
  }

  /** Whether this process may read a file and write to it. */
  boolean isOpenToUs(String path) {
    return Files.isReadable(at(path)) && Files.isWritable(at(path));
  }

  /** Whether this process may make files in a directory. */
  boolean mayMakeFilesIn(String directory) {
    return Files.isDirectory(at(directory))
        && Files.isWritable(at(directory))
        && Files.isExecutable(at(directory));
  }

  /** Whether a file is there that no node takes for its control socket. */
  boolean isOtherThanSocket(String path) {
    try {
      return ControlServer.isOtherFile(at(path));
    } catch (IOException e) {
      return false; // gone since, or of a folder that is looked at by itself
    }
  }

  /** A file of the machine, for who reads it by other means than these. */
  Path file(String path) {
    return at(path);
  }

  /** The last name of a symbolic link's target, as in {@code device/driver}; empty if none. */
  String linkName(String path) {
    try {
      return Files.readSymbolicLink(at(path)).getFileName().toString();
    } catch (IOException | UnsupportedOperationException e) {
      return Files.exists(at(path), LinkOption.NOFOLLOW_LINKS) ? read(path) : "";
    }
  }

  /** Whether a command ends with 0; its output is thrown away. Only for {@link #isThisOne}. */
  boolean succeeds(String... command) {
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      return ProcessTree.awaitOrEnd(process, COMMAND_LIMIT) && process.exitValue() == 0;
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private Path at(String path) {
    return root.resolve(path.startsWith("/") ? path.substring(1) : path);
  }
}
