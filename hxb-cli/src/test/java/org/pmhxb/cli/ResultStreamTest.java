package org.pmhxb.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class ResultStreamTest {
  private final StringWriter said = new StringWriter();

  private boolean lostOnto(OutputStream out, boolean pipe, boolean fails) {
    ResultStream results = new ResultStream(out, pipe);
    PrintWriter printer = results.printer(StandardCharsets.UTF_8);
    printer.println("first");
    printer.println("second");
    assertThat(printer.checkError()).isEqualTo(fails);
    return results.lost(false, new PrintWriter(said, true));
  }

  @Test
  void whatIsWrittenIsNotLost() {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    assertThat(lostOnto(out, false, false)).isFalse();
    assertThat(out.toString(StandardCharsets.UTF_8))
        .isEqualToNormalizingNewlines("first\nsecond\n");
    assertThat(said.toString()).isEmpty();
  }

  @Test
  void whatAFullDiskSwallowsIsLostAndSaidOnce() throws IOException {
    Path full = Path.of("/dev/full");
    assumeThat(Files.isWritable(full)).as("no /dev/full").isTrue();
    try (FileOutputStream out = new FileOutputStream(full.toFile())) {
      assertThat(lostOnto(out, false, true)).isTrue();
    }
    assertThat(said.toString().lines())
        .singleElement()
        .asString()
        .startsWith("hxb: standard output could not be written: ")
        .endsWith("; the result is lost");
  }

  @Test
  void whatOthersCouldNotWriteIsLostToo() {
    ResultStream results = new ResultStream(OutputStream.nullOutputStream(), false);
    assertThat(results.lost(true, new PrintWriter(said, true))).isTrue();
    assertThat(said.toString()).startsWith("hxb: standard output could not be written; the");
  }

  @Test
  void aPipeThatItsReaderHasClosedIsNoLoss() throws Exception {
    Process reader = new ProcessBuilder("sh", "-c", "exec <&-; echo closed; exec sleep 60").start();
    try (BufferedReader tells = reader.inputReader()) {
      assertThat(tells.readLine()).isEqualTo("closed");
      assertThat(lostOnto(unbuffered(reader.getOutputStream()), true, true)).isFalse();
    } finally {
      reader.destroyForcibly();
    }
    assertThat(said.toString()).isEmpty();
  }

  private static OutputStream unbuffered(OutputStream out) {
    return new OutputStream() {
      @Override
      public void write(int oneByte) throws IOException {
        out.write(oneByte);
        out.flush();
      }
    };
  }
}
