package org.pmhxb.cli.mpi;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class RankOutputsTest {
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final RankOutputs outputs = new RankOutputs();

  /** A rank that ended may have started what goes on, and has its output. */
  @Test
  void whatSomebodyKeepsOpenIsNotWaitedForWhenNothingComes() throws Exception {
    PipedInputStream kept = new PipedInputStream();
    try (PipedOutputStream rank = new PipedOutputStream(kept)) {
      outputs.pump(kept, "[0] ", print(out));
      rank.write("said\n".getBytes(StandardCharsets.UTF_8));
      rank.flush();
      while (out.size() == 0) {
        Thread.sleep(5);
      }
      assertThat(outputs.await(200)).isFalse();
      assertThat(out.toString(StandardCharsets.UTF_8)).isEqualTo("[0] said\n");
    }
    assertThat(outputs.await(20_000)).isTrue();
  }

  /** As a pager is, that shows a page until a key is pressed. */
  @Test
  void whoTakesOutputSlowlyGetsAllOfIt() throws Exception {
    byte[] lines = "a\nb\nc\n".getBytes(StandardCharsets.UTF_8);
    outputs.pump(new ByteArrayInputStream(lines), "", print(new Slow(out)));
    assertThat(outputs.await(400)).isTrue();
    assertThat(out.toString(StandardCharsets.UTF_8)).isEqualTo("a\nb\nc\n");
  }

  private static PrintStream print(OutputStream to) {
    return new PrintStream(to, true, StandardCharsets.UTF_8);
  }

  private static final class Slow extends OutputStream {
    private final OutputStream to;

    Slow(OutputStream to) {
      this.to = to;
    }

    @Override
    public void write(int octet) {
      throw new UnsupportedOperationException("by the byte");
    }

    @Override
    public void write(byte[] octets, int from, int count) throws java.io.IOException {
      try {
        Thread.sleep(600);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      to.write(octets, from, count);
    }
  }
}
