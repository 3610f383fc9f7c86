package org.pmhxb.cli.control;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.charset.StandardCharsets;

/** Cuts what a channel delivers into lines of bounded length. Owner: one thread. */
final class LineReader {
  /** Most that is read at once, and ahead. */
  private static final int CHUNK_BYTES = 8_192;

  private final ReadableByteChannel channel;
  private final int maxLineBytes;
  private final ByteBuffer chunk = ByteBuffer.allocate(CHUNK_BYTES).flip();
  private final ByteArrayOutputStream line = new ByteArrayOutputStream();

  LineReader(ReadableByteChannel channel, int maxLineBytes) {
    this.channel = channel;
    this.maxLineBytes = maxLineBytes;
  }

  /** The next line without its end; null at the end of the stream. */
  String next() throws IOException {
    while (true) {
      String found = buffered();
      if (found != null) {
        return found;
      }
      if (fill() < 0) {
        return null;
      }
    }
  }

  /** Reads once; returns what the channel returned: 0 when it does not block and has nothing. */
  int fill() throws IOException {
    chunk.clear();
    int count = channel.read(chunk);
    chunk.flip();
    return count;
  }

  /**
   * Reads ahead, once, from a channel that does not block; whether the stream is at its end. What
   * was read is kept; {@value #CHUNK_BYTES} bytes of it hide the end.
   */
  boolean endsAhead() throws IOException {
    chunk.compact();
    try {
      return channel.read(chunk) < 0;
    } finally {
      chunk.flip();
    }
  }

  /** A line that is complete already, or null. */
  String buffered() throws IOException {
    while (chunk.hasRemaining()) {
      byte next = chunk.get();
      if (next == '\n') {
        String text = line.toString(StandardCharsets.UTF_8);
        line.reset();
        return text;
      }
      if (line.size() >= maxLineBytes) {
        throw new IOException("a line is longer than " + maxLineBytes + " bytes");
      }
      line.write(next);
    }
    return null;
  }
}
