package org.pmhxb.cli.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.cli.fuzz.FrameJudge.Fate;
import org.pmhxb.cli.fuzz.FrameJudge.Verdict;
import org.pmhxb.pm.DropReason;
import org.pmhxb.pm.FrameKey;
import picocli.CommandLine;

/** The short part of {@code hxb fuzz}; the long one is that command. */
class FuzzTest {
  private static final long FRAMES = 150_000;

  /** Reasons that each run here must have reached; some come a few times in as many frames. */
  private static final List<String> REACHED =
      List.of(
          "too-short",
          "not-ours",
          "major-version",
          "hop-check",
          "crc",
          "key",
          "unknown-node",
          "unknown-kind",
          "malformed",
          "hop-limit",
          "no-route",
          "no-session",
          "duplicate",
          "out-of-window");

  private static FuzzReport run(long seed, long frames, FrameKey.Mode mode) {
    return new Fuzzer(seed, frames, mode, line -> {}, FuzzTest::endStuck).run();
  }

  /** Nothing else ends a test whose thread loops. */
  private static void endStuck(String what, StackTraceElement[] where) {
    System.err.println(what + ", at " + List.of(where));
    Runtime.getRuntime().halt(1);
  }

  /** It ends the process, so what it says first is looked at alone. */
  @Test
  void aNodeThatLoopsIsToldAsTheOneObjectToo() {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    FuzzCommand command = new FuzzCommand();
    CommandLine line = new CommandLine(command);
    line.setOut(new PrintWriter(out))
        .setErr(new PrintWriter(err))
        .setCaseInsensitiveEnumValuesAllowed(true)
        .parseArgs("--json");
    command.tellStuck(
        "stuck; replay: x",
        new StackTraceElement[] {new StackTraceElement("Rail", "poll", "Rail.java", 7)});
    assertThat(out)
        .hasToString("{\"ok\":false,\"error\":\"stuck; replay: x\"}" + System.lineSeparator());
    assertThat(err).hasToString("hxb fuzz: stuck; replay: x\n  at Rail.poll(Rail.java:7)\n");
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 3})
  void hostileFramesDoWhatTheProtocolSaysAndNothingElse(long seed) {
    FuzzReport report = run(seed, FRAMES, FrameKey.Mode.OFF);
    assertThat(report.violations()).isEmpty();
    assertThat(report.ok()).isTrue();
    assertThat(report.frames()).isGreaterThanOrEqualTo(FRAMES);
    assertThat(report.relayed()).isPositive();
    assertThat(report.judgedByState()).isGreaterThan(FRAMES / 10);
    assertThat(report.goodMessages()).isGreaterThan(FRAMES / 64);
    for (String reason : REACHED) {
      assertThat(report.drops().get(reason)).as(reason).isPositive();
    }
  }

  /** A stranger without the key changes nothing at all, not even by playing frames again. */
  @ParameterizedTest
  @EnumSource(names = {"TAG", "REPLAY"})
  void withTagsNoSessionSuffers(FrameKey.Mode mode) {
    FuzzReport report = run(13, FRAMES / 3, mode);
    assertThat(report.violations()).isEmpty();
    assertThat(report.ok()).isTrue();
    assertThat(report.drops().get("tag")).isGreaterThan(FRAMES / 6);
    if (mode == FrameKey.Mode.REPLAY) {
      assertThat(report.drops().get("replay")).isPositive();
    }
  }

  @Test
  void aSeedGivesOneRun() {
    FuzzReport first = run(3, 5_000, FrameKey.Mode.OFF);
    FuzzReport second = run(3, 5_000, FrameKey.Mode.OFF);
    assertThat(second.drops()).isEqualTo(first.drops());
    assertThat(second.goodMessages()).isEqualTo(first.goodMessages());
    assertThat(second.relayed()).isEqualTo(first.relayed());
    assertThat(run(4, 5_000, FrameKey.Mode.OFF).drops()).isNotEqualTo(first.drops());
  }

  /** The fuzzer must be able to fail: a state that changes is seen, down to the field. */
  @Test
  void theStateHashSeesWhatAFrameChanges() {
    try (FuzzNet net = new FuzzNet(1, FrameKey.NONE)) {
      StateHash state = new StateHash();
      net.settle(2);
      long before = state.of(net.nodes.get(2));
      var was = state.describe(net.nodes.get(2));
      assertThat(state.of(net.nodes.get(2))).isEqualTo(before);
      net.nodes.get(2).connect(3);
      assertThat(state.of(net.nodes.get(2))).isNotEqualTo(before);
      assertThat(StateHash.difference(was, state.describe(net.nodes.get(2))))
          .anyMatch(line -> line.contains("peers[3]"));
    }
  }

  /** Every committed frame has the fate under which it was kept. */
  @Test
  void theCorpusIsJudgedAsItSays() throws Exception {
    FuzzNet net = new FuzzNet(1, FrameKey.NONE);
    FrameJudge judge = new FrameJudge(FuzzNet.SHAPE, net.layout, 2, FuzzNet.KEY, null, false);
    List<Corpus.Entry> corpus = Corpus.read();
    assertThat(corpus).hasSizeGreaterThan(100);
    for (Corpus.Entry entry : corpus) {
      Verdict verdict = judge.judge(entry.frame(), entry.rail(), new int[6], new boolean[6]);
      boolean ofSession = entry.label().startsWith("STATEFUL") || entry.label().startsWith("IGN");
      if (!ofSession) {
        String reason = verdict.reason() == null ? "" : "-" + verdict.reason();
        assertThat(entry.label()).startsWith(verdict.fate() + reason);
      } else {
        assertThat(verdict.fate()).isIn(Fate.STATEFUL, Fate.NO_SESSION, Fate.IGNORED);
      }
    }
    assertThat(corpus)
        .extracting(Corpus.Entry::label)
        .anyMatch(label -> label.contains(DropReason.HOP_LIMIT.name()))
        .anyMatch(label -> label.startsWith("RELAYED"));
    net.close();
    net.free();
  }
}
