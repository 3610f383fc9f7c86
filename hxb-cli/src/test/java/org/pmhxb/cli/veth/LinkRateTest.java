package org.pmhxb.cli.veth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LinkRateTest {
  @ParameterizedTest
  @CsvSource({
    "200mbit, 200000000",
    "1gbit, 1000000000",
    "1500KBIT, 1500000",
    "2000000bit, 2000000"
  })
  void readsTheUnitsOfTc(String text, long bitsPerSecond) {
    assertThat(LinkRate.parse(text)).isEqualTo(new LinkRate(bitsPerSecond));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "fast", "200", "200mb", "1.5gbit", "-1gbit", "1gbit "})
  void refusesOtherTextsAndSaysWhatItExpects(String text) {
    assertThatThrownBy(() -> LinkRate.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining('"' + text + '"')
        .hasMessageContaining("as in 200mbit");
  }

  @Test
  void refusesRatesThatNoLinkHas() {
    assertThatThrownBy(() -> LinkRate.parse("999kbit"))
        .hasMessage("rate of 999kbit is outside 1mbit to 100gbit");
    assertThatThrownBy(() -> LinkRate.parse("101gbit")).hasMessageContaining("rate of 101gbit is");
    assertThatThrownBy(() -> LinkRate.parse("99999999999gbit"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("rate of 99999999999gbit is outside 1mbit to 100gbit");
    assertThatThrownBy(() -> LinkRate.parse("0mbit")).hasMessageContaining("rate of 0bit is");
  }

  @Property
  void printsWhatItReads(@ForAll @LongRange(min = 1_000_000, max = 100_000_000_000L) long rate) {
    assertThat(LinkRate.parse(new LinkRate(rate).toString())).isEqualTo(new LinkRate(rate));
  }
}
