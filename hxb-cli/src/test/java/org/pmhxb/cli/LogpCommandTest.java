package org.pmhxb.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import org.junit.jupiter.api.Test;

/** {@code hxb logp} on the ring: what its one object says. */
class LogpCommandTest {
  @Test
  void measuresPredictsAndExplainsItsChoice() {
    CommandRun run =
        CommandRun.of("logp", "--shape", "2x2x2", "--rails", "2", "--seconds", "0.05", "--json");

    assertThat(run.code()).as(run.err()).isZero();
    JsonNode json = run.json();
    assertThat(json.path("ok").asBoolean()).isTrue();
    assertThat(json.path("fabric").asText()).isEqualTo("ring");
    JsonNode measured = json.path("measured");
    assertThat(measured.path("ways")).hasSize(6); // 0, 1 and 2 relays by two rails
    assertThat(measured.path("ways").path(5).path("relays").asInt()).isEqualTo(2);
    assertThat(measured.path("gaps")).hasSize(2);
    assertThat(measured.path("logp").path("latencyNs")).hasSize(3);
    assertThat(measured.path("logp").path("osNs").asDouble()).isPositive();
    assertThat(measured.path("lost").asLong()).isZero();
    assertThat(json.path("results").size()).isGreaterThan(8);
    for (JsonNode line : json.path("results")) {
      double p50 = line.path("latencyNs").path("p50").asDouble();
      double predicted = line.path("predictedNs").asDouble();
      assertThat(predicted).as("%s", line).isPositive();
      assertThat(line.path("error").asDouble()).as("%s", line).isEqualTo((predicted - p50) / p50);
    }
    assertThat(json.path("choice").asText()).contains(" for all of 2x2x2: ", "by the model");
    assertThat(json.path("best").asText()).endsWith(" us");
  }

  @Test
  void refusesTwoShapes() {
    CommandRun run = CommandRun.of("logp", "--shape", "2x2", "--nodes", "4", "--json");

    assertThat(run.code()).isEqualTo(Main.USAGE);
    assertThat(run.json().path("error").asText()).contains("give it or --shape 2x2");
  }
}
