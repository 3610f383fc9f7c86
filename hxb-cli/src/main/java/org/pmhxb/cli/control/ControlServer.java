package org.pmhxb.cli.control;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.pmhxb.cli.UserErrorException;

/**
 * Answers requests on a Unix domain socket: one JSON object per line, one line back for each. Every
 * connection is a {@link Conversation} on a thread of its own; whoever may open the socket's
 * directory may ask.
 */
public final class ControlServer implements AutoCloseable {
  /** A line beyond this ends the connection: nothing here is that long. */
  static final int MAX_LINE_BYTES = 1 << 20;

  /** Beyond this a connection is refused: one controller and a few status requests are usual. */
  static final int MAX_CONNECTIONS = 32;

  private static final long RETRY_NS = 100_000_000L;

  /** S_IFMT and S_IFSOCK of Linux's inode(7). */
  private static final int FILE_TYPE = 0170000;

  private static final int SOCKET = 0140000;

  private final Path path;
  private final ServerSocketChannel server;
  private final ThreadFactory threads;
  private final Set<SocketChannel> open = ConcurrentHashMap.newKeySet();

  /** One connection's side of the talk. Called by that connection's thread alone. */
  public interface Conversation extends AutoCloseable {
    /**
     * The answer; an exception's message goes back as {@code {"ok": false, "error": ...}}.
     *
     * @param gone for this thread, until it has the answer: whether the other side has ended the
     *     connection, or its half of it, in which case it gets the answer still. What takes long
     *     asks, and is broken off then. Requests of 8 KB that were sent ahead hide it
     */
    ObjectNode reply(ObjectNode request, BooleanSupplier gone) throws Exception;

    /** The other side went away. */
    @Override
    void close();
  }

  ControlServer(Path path, ServerSocketChannel server) {
    // Platform threads: a conversation may run a workload, which polls.
    this(path, server, Thread.ofPlatform().daemon().name("control-talk").factory());
  }

  /**
   * @param threads of the conversations
   */
  ControlServer(Path path, ServerSocketChannel server, ThreadFactory threads) {
    this.path = path;
    this.server = server;
    this.threads = threads;
  }

  /** {@link #open} and {@link #answer} at once. */
  public static ControlServer start(Path path, Supplier<Conversation> conversations)
      throws IOException {
    ControlServer control = open(path);
    control.answer(conversations);
    return control;
  }

  /**
   * Opens the socket; who asks waits until there is something that answers. A socket that a crashed
   * process left there is replaced.
   *
   * @throws UserErrorException there is a file that is no socket, or somebody answers there; it
   *     stays
   */
  public static ControlServer open(Path path) throws IOException {
    requireNoOtherFile(path);
    requireNobody(path);
    ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    try {
      Files.deleteIfExists(path);
      channel.bind(UnixDomainSocketAddress.of(path));
    } catch (IOException e) {
      channel.close();
      throw new IOException(
          "cannot open the control socket "
              + path
              + ": "
              + e.getMessage()
              + "; its directory must exist and be writable, the path at most 106 bytes long",
          e);
    }
    return new ControlServer(path, channel);
  }

  /** Answers until {@link #close()}. Once. */
  public void answer(Supplier<Conversation> conversations) {
    Thread.ofVirtual().name("control").start(() -> accept(conversations));
  }

  /**
   * Whether something is there that is no socket: no server replaces it.
   *
   * @throws IOException it cannot be looked at
   */
  public static boolean isOtherFile(Path path) throws IOException {
    if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
      return false;
    }
    // Java's own attributes know no socket: devices and pipes are "other" files, too.
    int mode = (int) Files.getAttribute(path, "unix:mode", LinkOption.NOFOLLOW_LINKS);
    return (mode & FILE_TYPE) != SOCKET;
  }

  private static void requireNoOtherFile(Path path) throws IOException {
    if (isOtherFile(path)) {
      throw new UserErrorException(
          "control-socket "
              + path
              + ": a file that is no socket is there; remove it, or choose another path");
    }
  }

  /**
   * A socket that a crashed process left refuses.
   *
   * @throws UserErrorException a process answers there
   */
  public static void requireNobody(Path path) {
    try {
      ControlClient.connect(path).close();
    } catch (SocketTimeoutException _) {
      // It is there, and stands still.
    } catch (InterruptedIOException e) {
      throw new UncheckedIOException(e); // nobody knows
    } catch (IOException e) {
      return;
    }
    throw new UserErrorException(
        "control-socket "
            + path
            + ": a process answers there already, a node with this configuration perhaps (hxb status);"
            + " end it, or choose another path");
  }

  private void accept(Supplier<Conversation> conversations) {
    boolean told = false;
    while (server.isOpen()) {
      try {
        admit(server.accept(), conversations);
        told = false;
      } catch (IOException | RuntimeException | Error e) {
        // No descriptor is free, say, which passes: who asks waits for that. Or no thread is: who
        // asked was turned away.
        if (server.isOpen() && !told) {
          System.err.println("hxb: nobody can ask at " + path + " now: " + e.getMessage());
          told = true;
        }
        LockSupport.parkNanos(RETRY_NS);
      }
    }
  }

  private void admit(SocketChannel channel, Supplier<Conversation> conversations)
      throws IOException {
    if (open.size() >= MAX_CONNECTIONS) {
      channel.close();
      return;
    }
    open.add(channel);
    if (!server.isOpen()) {
      // close() may have gone through those that were open before this one was.
      open.remove(channel);
      channel.close();
      return;
    }
    try {
      threads.newThread(() -> talk(channel, conversations)).start();
    } catch (RuntimeException | Error e) {
      open.remove(channel);
      channel.close();
      throw e;
    }
  }

  private void talk(SocketChannel channel, Supplier<Conversation> conversations) {
    try (channel;
        Conversation conversation = conversations.get()) {
      LineReader reader = new LineReader(channel, MAX_LINE_BYTES);
      for (String line = reader.next(); line != null; line = reader.next()) {
        write(channel, answer(conversation, line, () -> isGone(channel, reader)));
      }
    } catch (ClosedChannelException _) {
      // By this side's end.
    } catch (IOException e) {
      System.err.println("hxb: control connection ended: " + e.getMessage());
    } finally {
      open.remove(channel);
    }
  }

  /** Without waiting for what the other side sends. */
  private static boolean isGone(SocketChannel channel, LineReader reader) {
    try {
      channel.configureBlocking(false);
      try {
        return reader.endsAhead();
      } finally {
        channel.configureBlocking(true);
      }
    } catch (IOException e) {
      // It left with answers unread, or this side closed.
      return true;
    }
  }

  private static ObjectNode answer(Conversation conversation, String line, BooleanSupplier gone) {
    try {
      return conversation.reply(ControlJson.parse(line), gone);
    } catch (Exception e) {
      return ControlJson.refusal(e.getMessage() == null ? e.toString() : e.getMessage());
    }
  }

  static void write(SocketChannel channel, ObjectNode object) throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap((object + "\n").getBytes(StandardCharsets.UTF_8));
    while (bytes.hasRemaining()) {
      channel.write(bytes);
    }
  }

  /**
   * Ends every conversation, without waiting for its thread, and removes the socket's file: an
   * answer may take as long as a workload does.
   */
  @Override
  public void close() throws IOException {
    // While this one listens nobody replaces the file; afterwards it may be another's.
    try {
      Files.deleteIfExists(path);
    } finally {
      server.close();
      for (SocketChannel channel : open) {
        channel.close();
      }
    }
  }
}
