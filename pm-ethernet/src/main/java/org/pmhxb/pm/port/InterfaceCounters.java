package org.pmhxb.pm.port;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.function.Supplier;

/**
 * What the kernel counts of an interface: all that passes it, not only this node's frames. It stays
 * in the network namespace of the thread that made it, whoever asks. Owner: its port, which sees to
 * it that one thread asks at a time.
 */
final class InterfaceCounters implements AutoCloseable {
  /** Of the thread that opens it; it remains that namespace's. */
  private static final String FILE = "/proc/thread-self/net/dev";

  // Its columns behind the interface's name.
  private static final int RX_BYTES = 0;
  private static final int RX_PACKETS = 1;
  private static final int RX_ERRORS = 2;
  private static final int RX_FIFO = 4;
  private static final int TX_BYTES = 8;
  private static final int TX_PACKETS = 9;
  private static final int TX_ERRORS = 10;
  private static final int TX_DROPPED = 11;

  private final Supplier<String> interfaceName;

  /** No channel: an interrupt of one reader would close it for all. */
  private final RandomAccessFile file;

  /** What the kernel had counted when this began; less by what it has forgotten since. */
  private PortCounters before;

  private PortCounters last;

  /**
   * Counts from 0 on.
   *
   * @param interfaceName what it is called now, which may change; empty when it is gone
   */
  InterfaceCounters(Supplier<String> interfaceName) {
    this.interfaceName = interfaceName;
    last = PortCounters.ZERO;
    try {
      file = new RandomAccessFile(FILE, "r");
      last = read();
    } catch (IOException e) {
      throw new UncheckedIOException(FILE + " cannot be read; is /proc mounted?", e);
    }
    before = last;
  }

  /**
   * What was counted last, if the interface is gone. Made anew under its name it is counted on, as
   * one whose driver began again at 0 when it went down.
   */
  PortCounters get() {
    try {
      PortCounters now = read();
      if (now.isBelow(last)) {
        before = before.since(last);
      }
      last = now;
    } catch (IOException e) {
      throw new UncheckedIOException(FILE + " cannot be read any more", e);
    }
    return last.since(before);
  }

  private PortCounters read() throws IOException {
    String line = interfaceName.get() + ":";
    return text()
        .lines()
        .map(String::strip)
        .filter(each -> each.startsWith(line))
        .map(each -> parse(each.substring(line.length())))
        .findFirst()
        .orElse(last);
  }

  private String text() throws IOException {
    file.seek(0);
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    byte[] part = new byte[4_096];
    for (int n = file.read(part); n > 0; n = file.read(part)) {
      all.write(part, 0, n);
    }
    return all.toString(StandardCharsets.US_ASCII);
  }

  /**
   * What the kernel counts as dropped on receipt is left out: frames that no protocol of the host
   * wanted are among them.
   */
  static PortCounters parse(String columns) {
    String[] words = columns.strip().split("\\s+");
    return new PortCounters(
        Long.parseLong(words[RX_PACKETS]),
        Long.parseLong(words[RX_BYTES]),
        Long.parseLong(words[TX_PACKETS]),
        Long.parseLong(words[TX_BYTES]),
        Long.parseLong(words[RX_FIFO]),
        Long.parseLong(words[RX_ERRORS]),
        Long.parseLong(words[TX_ERRORS]) + Long.parseLong(words[TX_DROPPED]));
  }

  @Override
  public void close() {
    try {
      file.close();
    } catch (IOException e) {
      throw new UncheckedIOException(FILE + " cannot be closed", e);
    }
  }
}
