package org.pmhxb.cli.control;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;

/** Asks one node over its control socket. Owner: one thread. */
public final class ControlClient implements AutoCloseable {
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

  /** Connects; an IOException says that nobody listens there. */
  public static ControlClient connect(Path path) throws IOException {
    SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
    try {
      channel.connect(UnixDomainSocketAddress.of(path));
      return new ControlClient(path, channel);
    } catch (IOException e) {
      channel.close();
      throw new IOException("no answer on " + path + ": " + e.getMessage(), e);
    }
  }

  /** One question on a connection of its own. */
  public static ObjectNode ask(Path path, ObjectNode request, Duration limit) throws IOException {
    try (ControlClient client = connect(path)) {
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
