package org.pmhxb.cli.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

class StateHashTest {
  /** A field that moved to another class would be watched again, or another be left out unseen. */
  @ParameterizedTest
  @FieldSource("org.pmhxb.cli.fuzz.StateHash#SKIPPED_FIELDS")
  void whatIsLeftOutIsThere(String field) throws Exception {
    String[] words = field.split("\\.");
    Class<?> type = Class.forName("org.pmhxb.pm." + words[0]);
    assertThat(type.getDeclaredField(words[1])).isNotNull();
  }
}
