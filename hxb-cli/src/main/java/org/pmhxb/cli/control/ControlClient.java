package org.pmhxb.cli.control;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** Asks one node over its control socket. Owner: one thread. */
public final class ControlClient implements AutoCloseable {
  private static final Duration CONNECT_LIMIT = Duration.ofSeconds(2);
  private static final long RETRY_NS = 10_000_000;

  private final Path path;
  private final SocketChannel channel;
  private final Selector selector;
  private final LineReader reader;

  private ControlClient(Path path, SocketChannel channel) throws IOException {
    this.path = path;
    this.channel = channel;
    this.selector = Selector.open();
    this.reader = new LineReader(channel, ControlServer.MAX_LINE_BYTES);
  }

  /**
   * Connects.
   *
   * @throws SocketTimeoutException somebody listens there, and has taken no connection for two
   *     seconds: its process stands still
   * @throws IOException nobody listens there, or the thread is interrupted, which it stays
   */
  public static ControlClient connect(Path path) throws IOException {
    return connect(path, CONNECT_LIMIT);
  }

  private static ControlClient connect(Path path, Duration limit) throws IOException {
    long deadlineNs = System.nanoTime() + limit.toNanos();
    IOException why = null;
    while (true) {
      SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
      try {
        // One that blocks would wait without end while the queue of those who ask is full.
        channel.configureBlocking(false);
        if (channel.connect(UnixDomainSocketAddress.of(path))) {
          return new ControlClient(path, channel);
        }
        channel.close();
      } catch (IOException e) {
        channel.close();
        why = e;
        if (!isFull(e, path)) {
          throw new IOException("no answer on " + path + ": " + e.getMessage(), e);
        }
      }
      if (System.nanoTime() - deadlineNs >= 0) {
        SocketTimeoutException late =
            new SocketTimeoutException(
                "%s took no connection within %d ms: its process stands still, or many ask%s"
                    .formatted(
                        path, limit.toMillis(), why == null ? "" : " (" + why.getMessage() + ")"));
        late.initCause(why);
        throw late;
      }
      LockSupport.parkNanos(RETRY_NS);
      if (Thread.currentThread().isInterrupted()) {
        throw new InterruptedIOException("interrupted while " + path + " was to take a connection");
      }
    }
  }

  /**
   * Whether the queue of those who ask was full. The JDK has no exception for EAGAIN, and its text
   * is of the user's language; refusal is a ConnectException, and a missing file not there.
   */
  private static boolean isFull(IOException e, Path path) {
    return e.getClass() == SocketException.class && Files.exists(path);
  }

  /** One question on a connection of its own, for which the limit holds, too. */
  public static ObjectNode ask(Path path, ObjectNode request, Duration limit) throws IOException {
    try (ControlClient client = connect(path, limit)) {
      return client.call(request, limit);
    }
  }

  /**
   * Sends a request and waits for its answer.
   *
   * @throws IOException when the node ends the connection, does not answer in time, or refuses, or
   *     the thread is interrupted, which it stays
   */
  public ObjectNode call(ObjectNode request, Duration limit) throws IOException {
    send(request);
    return receive(request.path("op").asText(), limit);
  }

  /** Sends a request whose answer {@link #receive} takes later. */
  public void send(ObjectNode request) throws IOException {
    channel.configureBlocking(true);
    ControlServer.write(channel, request);
  }

  /** Waits for the answer to what was sent last. */
  public ObjectNode receive(String op, Duration limit) throws IOException {
    channel.configureBlocking(false);
    SelectionKey key = channel.register(selector, SelectionKey.OP_READ);
    try {
      String line = awaitLine(op, System.nanoTime() + limit.toNanos(), limit);
      ObjectNode answer = ControlJson.parse(line);
      if (!answer.path("ok").asBoolean(false)) {
        throw new IOException(path + " refused " + op + ": " + answer.path("error").asText("?"));
      }
      return answer;
    } finally {
      key.cancel();
      // Deregisters the channel: only then may it block again.
      selector.selectNow();
    }
  }

  private String awaitLine(String op, long deadlineNs, Duration limit) throws IOException {
    while (true) {
      String line = reader.buffered();
      if (line != null) {
        return line;
      }
      long leftMs = (deadlineNs - System.nanoTime()) / 1_000_000;
      if (leftMs <= 0) {
        throw new IOException(
            path + " did not answer " + op + " within " + limit.toMillis() + " ms");
      }
      selector.select(leftMs);
      selector.selectedKeys().clear();
      if (Thread.currentThread().isInterrupted()) {
        // No selection waits any more: it would be asked again and again until the limit.
        throw new InterruptedIOException("interrupted while " + path + " was to answer " + op);
      }
      if (reader.fill() < 0) {
        throw new IOException(path + " ended the connection during " + op);
      }
    }
  }

  @Override
  public void close() throws IOException {
    selector.close();
    channel.close();
  }
}
