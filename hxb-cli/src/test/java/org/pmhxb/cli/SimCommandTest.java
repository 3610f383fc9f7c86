package org.pmhxb.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.sim.fault.FaultKind;

class SimCommandTest {
  @Test
  void printsOneObjectWithAllThatWasAskedFor() {
    CommandRun run =
        CommandRun.of(
            "sim",
            "--shape",
            "2x2",
            "--rails",
            "2",
            "--faults",
            "mixed",
            "--workload",
            "exchange",
            "--messages",
            "5",
            "--seeds",
            "1..3",
            "--json");

    JsonNode json = run.json();
    assertThat(run.code()).isZero();
    assertThat(json.get("ok").asBoolean()).isTrue();
    assertThat(json.get("seeds").asInt()).isEqualTo(3);
    assertThat(json.get("failedSeeds").isArray()).isTrue();
    assertThat(json.get("nodes").asInt()).isEqualTo(4);
    assertThat(json.get("delivered").asLong()).isPositive();
    for (String field :
        new String[] {
          "stuck",
          "shape",
          "messages",
          "lost",
          "duplicated",
          "misordered",
          "corrupt",
          "peerDowns",
          "leakedBuffers",
          "virtualSeconds",
          "wallSeconds",
          "goodputRatio",
          "eventsPerSecond"
        }) {
      assertThat(json.has(field)).as(field).isTrue();
    }
  }

  @Test
  void saysWhichFaultCameAfterTheEndOfEveryRun() {
    CommandRun run =
        CommandRun.of(
            "sim",
            "--shape",
            "2",
            "--messages",
            "5",
            "--fault",
            "cut@0.x1:0ms+1ms",
            "--fault",
            "cut@0.x0:200s+1s",
            "--json");

    JsonNode json = run.json();
    assertThat(json.get("given"))
        .extracting(JsonNode::asText)
        .as("as they were typed")
        .containsExactly("cut@0.x1:0ms+1ms", "cut@0.x0:200s+1s");
    assertThat(json.get("givenTooLate").size()).isEqualTo(1);
    assertThat(json.get("givenTooLate").get(0).asText()).startsWith("cut@0.x0:");
  }

  @Test
  void aFailingSeedComesWithItsReplayAndItsLastEvents() {
    String fault = "delay@*:4ms+10s:amount=6000000000";

    CommandRun run =
        CommandRun.of(
            "sim",
            "--shape",
            "2",
            "--rails",
            "1",
            "--workload",
            "one-way",
            "--messages",
            "10000",
            "--size",
            "1000",
            "--fault",
            fault,
            "--json");

    JsonNode failure = run.json().get("failures").get(0);
    assertThat(run.code()).isEqualTo(1);
    assertThat(run.json().get("failedSeeds").get(0).asLong()).isEqualTo(1);
    assertThat(failure.get("replay").asText()).startsWith("hxb sim --shape 2 --rails 1 --seed 1");
    assertThat(failure.get("faults").get(0).asText()).isEqualTo(fault);
    assertThat(failure.get("lastEvents").size()).isPositive();
  }

  @Test
  void helpExplainsEveryKindOfFault() {
    String help = CommandRun.of("sim", "--help").out().replaceAll("\\s+", " ");

    for (FaultKind kind : FaultKind.values()) {
      assertThat(help).contains(" " + kind + ": " + kind.explanation());
    }
    assertThat(help).contains("3.x0", "PLACE", "[:seed=S]");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--faults storm",
        "--workload chat",
        "--seeds 5..1",
        "--fault cut@9.q",
        "--link w=1bps/1ns/1B/1",
        "--rails 10",
        "--only 99 --faults mixed",
        "--only 99",
        "--only 0 --faults mixed --seeds 1..2",
        "--shape 60000",
        "--seeds 1..2 --replay"
      })
  void whatMakesNoSenseIsRefused(String words) {
    CommandRun run = CommandRun.of(("sim " + words).split(" "));

    assertThat(run.code()).isEqualTo(2);
    assertThat(run.err()).contains("hxb sim: ");
  }
}
