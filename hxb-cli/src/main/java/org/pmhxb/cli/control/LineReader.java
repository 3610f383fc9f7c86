package org.pmhxb.cli.control;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.charset.StandardCharsets;

/** Cuts what a channel delivers into lines of bounded length. */
final class LineReader {
  private final ReadableByteChannel channel;
  private final int maxLineBytes;
  private final ByteBuffer chunk = ByteBuffer.allocate(8_192).flip();
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
