package org.pmhxb.cli;

import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.Charset;

/**
 * Standard output, which remembers why something could not be written: a result that a full disk
 * has swallowed is none, and a {@link PrintWriter} keeps that to itself. Owner: any thread, one at
 * a time, as its printer sees to.
 */
final class ResultStream extends OutputStream {
  private final OutputStream out;
  private volatile IOException failure;

  ResultStream(OutputStream out) {
    this.out = out;
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
   */
  boolean lost(PrintWriter err) {
    IOException e = failure;
    if (e == null || "Broken pipe".equals(e.getMessage())) {
      return false;
    }
    err.println(
        "hxb: standard output could not be written: " + e.getMessage() + "; the result is lost");
    return true;
  }
}
