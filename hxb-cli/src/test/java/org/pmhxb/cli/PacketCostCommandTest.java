package org.pmhxb.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PacketCostCommandTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--burst 65 | burst is 65; must be in 1..64",
        "--rails 10 | rails is 10; must be in 1..9",
        "--peers 2561 | peers is 2561; must be in 1..2560",
        "--rounds 4 | --rounds is 4; must be in 5..1000",
        "--path up | up"
      })
  void refusesWhatItCannotMeasure(String options, String reason) {
    CommandRun run = CommandRun.of(("bench packet-cost --json " + options).split(" "));

    assertThat(run.code()).as(run.err()).isEqualTo(Main.USAGE);
    assertThat(run.json().path("error").asText()).contains(reason);
  }
}
