package org.pmhxb.router;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.CharRange;
import net.jqwik.api.constraints.Chars;
import net.jqwik.api.constraints.StringLength;
import org.junit.jupiter.api.Test;

class TomlLinesTest {
  /** Lines of as many keys as a text of a megabyte may have would fill a node's heap. */
  @Test
  void ofVeryManyKeysTheLastHaveTheLineOfTheirTable() {
    StringBuilder text = new StringBuilder("[t]\n");
    for (int i = 0; i < 150_000; i++) {
      text.append('k').append(i).append("=1\n");
    }
    TomlLines lines = TomlLines.of(text.toString());
    assertThat(lines.line("t.k10")).isEqualTo(12);
    assertThat(lines.line("t.k90000")).isEqualTo(90_002);
    assertThat(lines.line("t.k149999")).isEqualTo(1);
  }

  @Test
  void findsKeysInTablesArraysAndInlineTables() {
    String text =
        """
        # comment with a = 1
        a = "x # no comment"
        "quoted key" = 1   # c
        b.c = [ 1,
          2, # two ]
          3 ]

        [t]
        d = \"""
        e = "not a key"
        \"""
        f = '''
        g = 1'''

        [t.u]
        h = { i = 1, j = { k = "}" } }

        [[r]]
        x = 1
        [[r]]
        x = 2
        [r.sub]
        y = 3
        """;
    TomlLines lines = TomlLines.of(text);
    assertThat(lines.line("a")).isEqualTo(2);
    assertThat(lines.line("quoted key")).isEqualTo(3);
    assertThat(lines.line("b.c")).isEqualTo(4);
    assertThat(lines.line("b.c[1]")).isEqualTo(5);
    assertThat(lines.line("b.c[2]")).isEqualTo(6);
    assertThat(lines.line("t")).isEqualTo(8);
    assertThat(lines.line("t.d")).isEqualTo(9);
    assertThat(lines.line("t.e")).isEqualTo(8); // not there: its table's line
    assertThat(lines.line("t.f")).isEqualTo(12);
    assertThat(lines.line("t.u.h.j.k")).isEqualTo(16);
    assertThat(lines.line("r[0].x")).isEqualTo(19);
    assertThat(lines.line("r[1]")).isEqualTo(20);
    assertThat(lines.line("r[1].x")).isEqualTo(21);
    assertThat(lines.line("r[1].sub.y")).isEqualTo(23);
    assertThat(lines.line("nothing")).isZero();
    assertThat(lines.duplicate()).isEmpty();
  }

  @Test
  void countsLinesWithCarriageReturns() {
    assertThat(TomlLines.of("a = 1\r\n\r\nb = 2\r\n").line("b")).isEqualTo(3);
  }

  @Test
  void findsTheSecondOfTwo() {
    TomlLines lines = TomlLines.of("a = 1\n\na = 2\n");
    assertThat(lines.duplicate()).isEqualTo("a");
    assertThat(lines.line("a")).isEqualTo(1);
    assertThat(lines.duplicateLine()).isEqualTo(3);
  }

  @Property(tries = 5000, seed = "20")
  void anyTextComesToAnEnd(
      @ForAll
          @StringLength(max = 60)
          @CharRange(from = ' ', to = '~')
          @Chars({'\n', '\r', '"', '\'', '[', ']', '{', '}', '=', '\\'})
          String text) {
    int lineCount = text.split("\n", -1).length;
    assertThat(TomlLines.of(text).line("a")).isBetween(0, lineCount);
  }
}
