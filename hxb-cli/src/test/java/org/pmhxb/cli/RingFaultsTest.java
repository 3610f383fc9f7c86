package org.pmhxb.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** All-to-all over ring ports that misbehave: everything once, in order, intact, buffers home. */
class RingFaultsTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "loss=0.01",
        "loss=0.05",
        "reorder=0.1",
        "duplicate=0.01",
        "corrupt=0.001",
        "loss=0.02,duplicate=0.01,reorder=0.1,corrupt=0.001"
      })
  void everyMessageArrivesOnce(String faults) {
    CommandRun run =
        CommandRun.of(
            "demo",
            "--shape",
            "2x2",
            "--rails",
            "2",
            "--seconds",
            "0.7",
            "--size",
            "1024",
            "--faults",
            faults + ",seed=5",
            "--json");
    JsonNode json = run.json();
    assertThat(run.code()).as(run.out() + run.err()).isEqualTo(Main.OK);
    assertThat(json.path("messages").asLong()).isGreaterThan(1_000);
    assertThat(json.path("lost").asLong(-1)).isZero();
    assertThat(json.path("duplicated").asLong(-1)).isZero();
    assertThat(json.path("corrupt").asLong(-1)).isZero();
    assertThat(json.path("leakedBuffers").asLong(-1)).isZero();
    if (faults.contains("loss") || faults.contains("corrupt")) {
      assertThat(json.path("resent").asLong()).isPositive();
    }
    if (faults.contains("corrupt")) {
      JsonNode counters = json.path("counters");
      long damaged =
          counters.path("drop.crc").asLong()
              + counters.path("drop.hop-check").asLong()
              + counters.path("drop.not-ours").asLong();
      assertThat(damaged).isPositive();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"loss=0.01", "loss=0.05", "reorder=0.1", "duplicate=0.01", "corrupt=0.001"})
  void anExchangeArrivesWhole(String faults) {
    CommandRun run =
        CommandRun.of(
            "bench",
            "exchange",
            "--fabric",
            "ring",
            "--shape",
            "2x2",
            "--rails",
            "2",
            "--seconds",
            "0.8", // longer than a machine withholds its processors
            "--warm-up",
            "0",
            "--size",
            "1024",
            "--faults",
            faults + ",seed=6",
            "--json");
    JsonNode json = run.json();
    assertThat(run.code()).as(run.out() + run.err()).isEqualTo(Main.OK);
    assertThat(json.path("messages").asLong()).isGreaterThan(100);
    if (faults.contains("loss")) {
      assertThat(json.path("resent").asLong()).as("the faults happen").isPositive();
    }
    for (String fault : new String[] {"lost", "duplicated", "misordered", "corrupt"}) {
      assertThat(json.path(fault).asLong(-1)).as(fault).isZero();
    }
  }
}
