package org.pmhxb.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import org.junit.jupiter.api.Test;

/**
 * Measures as users do: the JVM's last compiler begins when it begins for them. What it has not
 * compiled yet allocates (views of memory, for one), and a run that allocates is refused. Alone,
 * not beside others.
 */
class PacketCostIT {
  /** Times are not judged here; what makes a run valid is. */
  @Test
  void printsOneObjectWithALineForEachScenario() {
    CommandRun run =
        CommandRun.of(
            ("bench packet-cost --path relay,send --burst 32 --peers 1,3 --rounds 5"
                    + " --round-ms 20 --warm-up-ms 600 --json")
                .split(" "));

    JsonNode report = run.json();
    assertThat(report.path("ok").asBoolean()).as(run.out() + run.err()).isTrue();
    assertThat(run.code()).isEqualTo(Main.OK);
    assertThat(report.path("machine").asText()).contains("DPDK");
    assertThat(report.path("results").findValuesAsText("path"))
        .containsExactly("relay", "send", "send+acks", "send", "send+acks");
    assertThat(report.path("results").findValuesAsText("peers"))
        .containsExactly("1", "1", "1", "3", "3");
    for (JsonNode line : report.path("results")) {
      assertThat(line.path("javaNs").asDouble()).isPositive();
      assertThat(line.path("cNs").asDouble()).isPositive();
      assertThat(line.path("ratio").asDouble()).isPositive();
      assertThat(line.path("bytesAllocatedPerPacket").asDouble()).isLessThan(0.01);
      assertThat(line.path("digest").asText()).matches("[0-9a-f]{16}-[0-9a-f]{16}");
      assertThat(line.has("budgetNs")).isTrue();
      assertThat(line.has("met")).isTrue();
    }
    assertThatAcknowledgementsCostSomething(
        report.path("results").get(3), report.path("results").get(4));
  }

  /** Both are of the same rounds; the budget is for sending alone. */
  private static void assertThatAcknowledgementsCostSomething(JsonNode send, JsonNode withAcks) {
    assertThat(send.path("budgetNs").asDouble()).isEqualTo(40);
    assertThat(withAcks.path("budgetNs").isNull()).isTrue();
    assertThat(withAcks.path("met").isNull()).isTrue();
    assertThat(withAcks.path("digest")).isEqualTo(send.path("digest"));
    assertThat(withAcks.path("packets")).isEqualTo(send.path("packets"));
    assertThat(withAcks.path("javaNs").asDouble()).isGreaterThan(send.path("javaNs").asDouble());
    assertThat(withAcks.path("cNs").asDouble()).isGreaterThan(send.path("cNs").asDouble());
  }
}
