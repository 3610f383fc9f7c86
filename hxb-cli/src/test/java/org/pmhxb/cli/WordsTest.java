package org.pmhxb.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WordsTest {
  @Test
  void wordsThatAShellWouldTakeApartAreQuoted() {
    assertThat(Words.forShell("/run/hxb-1_a.b:c,d@e%f+g=h"))
        .isEqualTo("/run/hxb-1_a.b:c,d@e%f+g=h");
    assertThat(Words.forShell("a b;c")).isEqualTo("'a b;c'");
    assertThat(Words.forShell("")).isEqualTo("''");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"it's", "a  b", "$HOME", "`id`", "a\nb", "\\", "*", "~", "''", "#x", "!!"})
  void aShellReadsThemAsTheyWere(String word) throws Exception {
    Process shell = new ProcessBuilder("sh", "-c", "printf %s " + Words.forShell(word)).start();
    assertThat(new String(shell.getInputStream().readAllBytes())).isEqualTo(word);
    assertThat(shell.waitFor()).isZero();
  }

  @Test
  void numbersHaveNoMoreDigitsThanTheyNeed() {
    assertThat(Words.number(2)).isEqualTo("2");
    assertThat(Words.number(-0.5)).isEqualTo("-0.5");
    assertThat(Words.number(1e300)).isEqualTo("1.0E300");
    assertThat(Words.number(Double.POSITIVE_INFINITY)).isEqualTo("Infinity");
  }
}
