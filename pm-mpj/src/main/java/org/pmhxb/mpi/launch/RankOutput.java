package org.pmhxb.mpi.launch;

import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Standard output or error of a JVM with several ranks: each line is labelled with the rank whose
 * thread, or whose thread's ancestor, wrote it. Lines of different ranks never mix.
 */
final class RankOutput extends OutputStream {
  private static final InheritableThreadLocal<Integer> RANK = new InheritableThreadLocal<>();

  private final PrintStream to;
  private final Line[] lines;

  private static final class Line {
    byte[] bytes = new byte[256];
    int length;
  }

  private RankOutput(PrintStream to, int ranks) {
    this.to = to;
    this.lines = new Line[ranks + 1];
    Arrays.setAll(lines, i -> new Line());
  }

  /** This thread and those that it starts write as this rank. */
  static void writeAs(int rank) {
    RANK.set(rank);
  }

  /** A stream that labels, over one that does not. */
  static PrintStream over(PrintStream plain, int ranks) {
    return new Labelling(new RankOutput(plain, ranks));
  }

  @Override
  public void write(int b) {
    write(new byte[] {(byte) b}, 0, 1);
  }

  @Override
  public void write(byte[] b, int off, int len) {
    Integer rank = RANK.get();
    Line line = lines[rank == null ? lines.length - 1 : rank];
    synchronized (to) {
      for (int i = off; i < off + len; i++) {
        if (line.length == line.bytes.length) {
          line.bytes = Arrays.copyOf(line.bytes, line.length * 2);
        }
        line.bytes[line.length++] = b[i];
        if (b[i] == '\n') {
          put(rank, line);
        }
      }
    }
  }

  private void put(Integer rank, Line line) {
    byte[] label =
        rank == null ? new byte[0] : ("[" + rank + "] ").getBytes(StandardCharsets.UTF_8);
    to.write(label, 0, label.length);
    to.write(line.bytes, 0, line.length);
    to.flush();
    line.length = 0;
  }

  /** Puts out a stream's lines that have no end yet, if it labels any; it may be written on. */
  static void putRest(PrintStream stream) {
    // Not by a method of the stream: who ends the process may hold it.
    if (stream instanceof Labelling labelling) {
      labelling.output.putRest();
    }
  }

  private void putRest() {
    synchronized (to) {
      for (int i = 0; i < lines.length; i++) {
        if (lines[i].length > 0) {
          put(i == lines.length - 1 ? null : i, lines[i]);
        }
      }
      to.flush();
    }
  }

  private static final class Labelling extends PrintStream {
    final RankOutput output;

    Labelling(RankOutput output) {
      super(output, true, StandardCharsets.UTF_8);
      this.output = output;
    }
  }
}
