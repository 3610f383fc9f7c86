package org.pmhxb.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.pmhxb.cli.rehearsal.Rehearsal;

class RehearseCommandTest {
  private static boolean isGood(long messages, long faulty, String... failures) {
    return RehearseCommand.isGood(
        new Rehearsal.Act("relays", 1.0, messages, faulty, Map.of(), List.of(failures)));
  }

  /** An archive of a rehearsal in which nothing was played would be of little use. */
  @Test
  void anActIsGoodWhenMessagesCameAndAllAsTheyWereSent() {
    assertThat(isGood(1, 0)).isTrue();
    assertThat(isGood(0, 0)).isFalse();
    assertThat(isGood(1, 1)).isFalse();
    assertThat(isGood(1, 0, "a peer went down")).isFalse();
  }
}
