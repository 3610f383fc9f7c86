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
    PacketCostReport report = report(lines);
    assertThat(text(report)).contains(note);
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

  private static PacketCostReport report(Line... lines) {
    return PacketCostReport.of("here", "bench", "2026-01-02T03:04:05Z", 1.5, List.of(lines));
  }

  private static String text(PacketCostReport report) {
    StringWriter text = new StringWriter();
    report.print(new PrintWriter(text, true));
    return text.toString();
  }

  private static Line measured(Path path, double javaNs, double ratio, String fault) {
    return measured(path, 1, javaNs, ratio, fault);
  }

  private static Line measured(Path path, int rails, double javaNs, double ratio, String fault) {
    Spread java = new Spread(javaNs, javaNs, javaNs);
    Spread ratios = new Spread(ratio, ratio, ratio);
    return Line.of(
        new Figures(
            new Scenario(path, 32, rails, 1),
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
  void aMissedBudgetIsTold() {
    PacketCostReport missed =
        report(measured(Path.RELAY, 26, 1, null), measured(Path.RECEIVE, 41.5, 1.26, null));
    assertThat(missed.met()).isFalse();
    assertThat(missed.missed())
        .containsExactly(
            "relay/32/1/1: 26 ns; must be 25 at most",
            "receive/32/1/1: 41.5 ns; must be 40 at most",
            "receive/32/1/1: 1.26 times C; must be 1.25 at most");
    assertThat(missed.ok()).as("no fault of the run").isTrue();
    PacketCostReport byLittle = report(measured(Path.RELAY, 25.001, 1, null));
    assertThat(byLittle.missed()).containsExactly("relay/32/1/1: 25.001 ns; must be 25 at most");

    PacketCostReport met = report(measured(Path.RELAY, 25, 1, null));
    assertThat(met.met()).isTrue();
    assertThat(met.missed()).isEmpty();
  }

  /** What has no budget keeps to none. */
  @Test
  void whereNoLineHasABudgetNothingIsMet() {
    PacketCostReport report = report(measured(Path.ACK, 400, 2, null));
    assertThat(report.met()).isNull();
    assertThat(text(report)).contains("no line has a budget").doesNotContain("every budget");
  }

  @Test
  void aVoidLineFailsTheRunAndMissesNothing() {
    PacketCostReport broken = report(measured(Path.RELAY, 25, 1, "void"));
    assertThat(broken.ok()).isFalse();
    assertThat(broken.met()).isFalse();
    assertThat(broken.missed()).isEmpty();
    assertThat(report().ok()).isFalse();
  }

  /** Beside the sum, which is what is judged. */
  @Test
  void whatAFurtherRailCostsIsTold() {
    PacketCostReport report =
        report(
            measured(Path.RELAY, 9, 12, 1, null),
            measured(Path.RELAY, 1, 10, 1, null),
            measured(Path.SEND, 9, 40, 1, null));
    assertThat(report.furtherRails())
        .containsExactly(
            new PacketCostReport.FurtherRail("relay", 32, 1, 64, 9, 0.25, 0.25, 2, 0.5));
    assertThat(text(report)).contains("Each further rail, ns: relay/32/9/1 +0.3 (C +0.3).");
    assertThat(report.markdown()).contains("Each further rail, ns: relay/32/9/1");
  }
}
