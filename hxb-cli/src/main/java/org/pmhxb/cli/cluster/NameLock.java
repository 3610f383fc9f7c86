package org.pmhxb.cli.cluster;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The right to make and remove the network namespaces of a cluster's name. They go by it alone, so
 * that commands with different run directories would take each other's while no node lives in them.
 * A process has it once, however often it is taken; it ends with the process.
 */
final class NameLock implements AutoCloseable {
  /** What a process has is lost when it closes a file that it has locked by another name. */
  private static final Set<Path> OURS = ConcurrentHashMap.newKeySet();

  private static final int TRIES = 100;

  private final Path file;

  /** Null: there is nothing to let go. */
  private final FileChannel channel;

  private final boolean denied;

  private NameLock(Path file, FileChannel channel, boolean denied) {
    this.file = file;
    this.channel = channel;
    this.denied = denied;
  }

  /** Beside /run/netns, where the namespaces' names are. */
  private static Path file(String cluster) {
    return Path.of("/run", "hxb-" + cluster + ".lock");
  }

  /** Whether a process has it, or was killed while it had. */
  static boolean isThere(String cluster) {
    return Files.exists(file(cluster), LinkOption.NOFOLLOW_LINKS);
  }

  /** Whether this user may not make, and so not remove, namespaces. */
  boolean isDenied() {
    return denied;
  }

  /** Empty when another process has it. */
  static Optional<NameLock> take(String cluster) throws IOException {
    Path file = file(cluster);
    if (!OURS.add(file)) {
      return Optional.of(new NameLock(file, null, false));
    }
    Optional<NameLock> taken = Optional.empty();
    try {
      taken = take(file);
    } finally {
      if (taken.isEmpty() || taken.get().channel == null) {
        OURS.remove(file);
      }
    }
    return taken;
  }

  private static Optional<NameLock> take(Path file) throws IOException {
    boolean interrupted = false;
    try {
      for (int i = 0; i < TRIES; i++) {
        interrupted |= Thread.interrupted(); // which would close the channel
        FileChannel channel;
        try {
          channel = open(file);
        } catch (AccessDeniedException _) {
          return Optional.of(new NameLock(file, null, true));
        }
        if (channel == null) {
          return Optional.of(new NameLock(file, null, false));
        }
        try {
          if (channel.tryLock() == null) {
            channel.close();
            return Optional.empty();
          }
          if (channel.size() == 0) {
            return Optional.of(new NameLock(file, channel, false));
          }
          channel.close(); // it was removed since it was opened
        } catch (ClosedByInterruptException _) {
          // Once more, without the interrupt.
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
    throw new IOException(file + " is not empty: hxb did not make it; remove it");
  }

  /** Null where nothing may be written: no namespaces can be made then. */
  private static FileChannel open(Path file) throws AccessDeniedException {
    try {
      return FileChannel.open(
          file, StandardOpenOption.CREATE, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
    } catch (AccessDeniedException e) {
      throw e;
    } catch (IOException e) {
      return null;
    }
  }

  /** Lets go, and leaves no file. */
  @Override
  public void close() {
    if (channel == null) {
      return;
    }
    boolean interrupted = Thread.interrupted();
    try (channel) {
      Files.deleteIfExists(file);
      // For who has opened it meanwhile: the next one makes another.
      channel.write(ByteBuffer.allocate(1));
    } catch (IOException _) {
      // A file is left that says nothing.
    } finally {
      OURS.remove(file);
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
