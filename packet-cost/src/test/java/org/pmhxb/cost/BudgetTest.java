package org.pmhxb.cost;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The budgets' table in docs/PERFORMANCE.md. */
class BudgetTest {
  @ParameterizedTest
  @CsvSource({
    "RECEIVE, 32, 1, 1, 40, 20",
    "RECEIVE, 64, 1, 100, 40, 20",
    "RECEIVE, 32, 1, 101, 120, 60",
    "RECEIVE, 32, 1, 2560, 120, 60",
    "RECEIVE, 1, 1, 100, 80, 50",
    "RECEIVE, 32, 2, 1, 42, 20.5",
    "RECEIVE, 32, 9, 100, 56, 24",
    "SEND, 32, 1, 100, 40, 20",
    "SEND, 32, 9, 1, 56, 24",
    "RELAY, 32, 1, 1, 25, 12",
    "RELAY, 32, 9, 1, 41, 16",
  })
  void whatAPacketMayCost(Path path, int burst, int rails, int peers, double must, double aim) {
    assertThat(Budget.of(new Scenario(path, burst, rails, peers))).contains(new Budget(must, aim));
  }

  @ParameterizedTest
  @CsvSource({
    "RECEIVE, 31, 1, 1, 64",
    "RECEIVE, 1, 1, 101, 64",
    "SEND, 1, 1, 1, 64",
    "SEND, 32, 1, 101, 64",
    "RELAY, 1, 1, 1, 64",
    "ACK, 32, 1, 1, 64",
    "RECEIVE, 32, 1, 1, 8192",
  })
  void whatHasNoBudget(Path path, int burst, int rails, int peers, int payloadBytes) {
    assertThat(Budget.of(new Scenario(path, burst, rails, peers, payloadBytes))).isEmpty();
  }
}
