package org.pmhxb.router;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SpellingTest {
  private static final List<String> KNOWN =
      List.of("test", "format", "status", "down", "node", "up", "--rails", "--rate", "--shape");

  @ParameterizedTest
  @CsvSource({
    "tset, test",
    "dwon, down",
    "Statsu, status",
    "stat, status",
    "upp, up",
    "nod, node",
    "--rials, --rails",
    "--hsape=2, --shape",
    "--rat, --rate"
  })
  void aWordThatIsNearlyKnownIsFound(String word, String meant) {
    assertThat(Spelling.nearest(word, KNOWN)).contains(meant);
  }

  @Test
  void whatIsLikeNoneIsNot() {
    for (String word : List.of("frobnicate", "foo", "xyz", "", "--nonsense")) {
      assertThat(Spelling.nearest(word, KNOWN)).as(word).isEmpty();
    }
    assertThat(Spelling.nearest("x", List.of("-V", "--version", "-h"))).isEmpty();
    assertThat(Spelling.nearest("-v", List.of("-V", "--version", "-h"))).contains("-V");
    assertThat(Spelling.nearest("up", List.of())).isEmpty();
  }
}
