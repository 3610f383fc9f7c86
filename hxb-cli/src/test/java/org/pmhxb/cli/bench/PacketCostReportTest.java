package org.pmhxb.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.pmhxb.cli.bench.PacketCostReport.Line;
import org.pmhxb.cost.Figures;
import org.pmhxb.cost.Path;
import org.pmhxb.cost.Scenario;
import org.pmhxb.cost.Spread;

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

  private static Line measured(Path path, double javaNs, double ratio, String fault) {
    Spread java = new Spread(javaNs, javaNs, javaNs);
    Spread ratios = new Spread(ratio, ratio, ratio);
    return Line.of(
        new Figures(
            new Scenario(path, 32, 1, 1),
            path.toString(),
            fault,
            java,
            java,
            ratios,
            1,
            0,
            1_000,
            "0-0",
            5,
            1,
            1,
            1,
            false));
  }

  /** By what was measured, not by what is printed of it. */
  @Test
  void aBudgetIsMetUpToItself() {
    assertThat(measured(Path.RECEIVE, 40, 1.25, null).met()).isTrue();
    assertThat(measured(Path.RECEIVE, 40.001, 1.25, null).met()).isFalse();
    assertThat(measured(Path.RECEIVE, 40, 1.2501, null).met()).isFalse();
    assertThat(measured(Path.SEND, 40, 2, null).met()).as("no ratio is asked of it").isTrue();
    assertThat(measured(Path.ACK, 400, 2, null).met()).isNull();
    assertThat(measured(Path.RELAY, 1, 1, "void").met()).isFalse();
  }

  @Test
  void aMissedBudgetFailsTheCommandWhereItIsRequired() {
    List<Line> missed = List.of(measured(Path.RELAY, 26, 1, null));
    assertThat(PacketCostReport.of("here", "bench", missed, false).succeeded()).isTrue();
    assertThat(PacketCostReport.of("here", "bench", missed, true).succeeded()).isFalse();
    List<Line> met = List.of(measured(Path.RELAY, 25, 1, null));
    assertThat(PacketCostReport.of("here", "bench", met, true).succeeded()).isTrue();
    List<Line> broken = List.of(measured(Path.RELAY, 25, 1, "void"));
    assertThat(PacketCostReport.of("here", "bench", broken, false).succeeded()).isFalse();
    assertThat(PacketCostReport.of("here", "bench", List.of(), false).succeeded()).isFalse();
  }
}
