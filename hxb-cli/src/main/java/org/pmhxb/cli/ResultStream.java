package org.pmhxb.cli;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Standard output, which remembers why something could not be written: a result that a full disk
 * has swallowed is none, and a {@link PrintWriter} keeps that to itself. Owner: any thread, one at
 * a time, as its printer sees to.
 */
final class ResultStream extends OutputStream {
  private final OutputStream out;
  private final boolean pipe;
  private volatile IOException failure;

  /**
   * @param pipe whether a reader may close it
   */
  ResultStream(OutputStream out, boolean pipe) {
    this.out = out;
    this.pipe = pipe;
  }

  /** This process's. */
  static ResultStream standardOutput() {
    boolean pipe = false;
    try {
      pipe = Files.readSymbolicLink(Path.of("/proc/self/fd/1")).toString().startsWith("pipe:");
    } catch (IOException _) {
      // Closed: writing says so.
    }
    return new ResultStream(new FileOutputStream(FileDescriptor.out), pipe);
  }

  /** Writes a line when it is whole. */
  PrintWriter printer(Charset charset) {
    return new PrintWriter(new OutputStreamWriter(this, charset), true);
  }

  @Override
  public void write(int oneByte) throws IOException {
    write(new byte[] {(byte) oneByte}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    try {
      out.write(bytes, offset, length);
    } catch (IOException e) {
      if (failure == null) {
        failure = e;
      }
      throw e;
    }
  }

  /**
   * Whether something was lost that somebody waits for; says so then. Who closes a pipe has read
   * what he wanted, as {@code head} has.
   *
   * @param others whether others could not write either, as ranks of {@code hxb mpirun}
   */
  boolean lost(boolean others, PrintWriter err) {
    IOException e = failure;
    if (pipe || e == null && !others) {
      return false;
    }
    String why = e == null ? "" : ": " + e.getMessage();
    err.println("hxb: standard output could not be written" + why + "; the result is lost");
    return true;
  }
}
