package org.pmhxb.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.pmhxb.cli.bench.PacketCostReport.Line;

class PacketCostReportTest {
  private static Line line(String path, int peers, Double stepNs, boolean slow) {
    List<Double> counted = List.of(0.75, slow ? 0.25 : 1);
    return PacketCostLines.line(
        path, peers, 30.5, List.of(30.0, 31.0), null, stepNs, counted, slow);
  }

  /** In the command's output and on the page. */
  private static void assertSays(String note, Line... lines) {
    PacketCostReport report = PacketCostReport.of("here", "bench", List.of(lines), false);
    StringWriter text = new StringWriter();
    report.print(new PrintWriter(text, true));
    assertThat(text.toString()).contains(note);
    assertThat(report.markdown()).contains(note);
  }

  @Test
  void aLineThatAnotherSpeedMetIsNamed() {
    assertSays(
        "1.10 to 1.80 ns a step; batches at a slower one left out, of Java's 25 % and of C's 75 % at most"
            + " but for send/32/1/100.",
        line("send", 1, 1.1, false), line("send", 100, 1.8, true), line("relay", 1, 1.12, false));
  }

  @Test
  void oneSpeedIsToldAsOne() {
    assertSays(
        "1.10 to 1.20 ns a step; batches at a slower one left out, of Java's 25 % and of C's 0 % at"
            + " most.",
        line("send", 1, 1.1, false), line("ack", 1, 1.2, false));
  }
}
