package org.pmhxb.router;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashSet;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ShapeTest {
  @ParameterizedTest
  @CsvSource({"2x2x2,8,3", "4,4,1", "3x3,9,2", "1x1x1,1,3", "16x16x10,2560,3", "65535,65535,1"})
  void readsAndWritesWhatPeopleWrite(String text, int nodes, int dimensions) {
    Shape shape = Shape.parse(text);
    assertThat(shape.nodes()).isEqualTo(nodes);
    assertThat(shape.dimensions()).isEqualTo(dimensions);
    assertThat(shape).hasToString(text);
    assertThat(Shape.parse(shape.toString())).isEqualTo(shape);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "x",
        "2x",
        "2x2x2x2",
        "0x2",
        "-1",
        "65536",
        "256x256",
        "99999x99999x99999",
        "a",
        "2 2"
      })
  void refusesAndNamesWhatIsNoShape(String text) {
    assertThatThrownBy(() -> Shape.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("shape \"");
  }

  @Test
  void numbersNodesWithXFastest() {
    Shape shape = Shape.of(3, 2, 2);
    assertThat(shape.coordinates(0)).isEqualTo(new Coordinates(0, 0, 0));
    assertThat(shape.coordinates(1)).isEqualTo(new Coordinates(1, 0, 0));
    assertThat(shape.coordinates(3)).isEqualTo(new Coordinates(0, 1, 0));
    assertThat(shape.coordinates(6)).isEqualTo(new Coordinates(0, 0, 1));
    assertThat(shape.node(new Coordinates(2, 1, 1))).isEqualTo(11);
  }

  @Test
  void equalityIsByExtents() {
    assertThat(Shape.of(4)).isEqualTo(Shape.of(4, 1, 1)).hasSameHashCodeAs(Shape.of(4, 1));
    assertThat(Shape.of(4)).isNotEqualTo(Shape.of(1, 4));
  }

  @Property(tries = 200, seed = "7")
  void numberAndCoordinatesAreOneToOne(
      @ForAll @IntRange(min = 1, max = 40) int x,
      @ForAll @IntRange(min = 1, max = 40) int y,
      @ForAll @IntRange(min = 1, max = 40) int z) {
    Shape shape = Shape.of(x, y, z);
    Set<Coordinates> seen = new HashSet<>();
    for (int node = 0; node < shape.nodes(); node++) {
      Coordinates c = shape.coordinates(node);
      assertThat(shape.contains(c)).isTrue();
      assertThat(shape.node(c)).isEqualTo(node);
      seen.add(c);
    }
    assertThat(seen).hasSize(x * y * z);
  }

  @Property(tries = 200, seed = "8")
  void hopsCountTheDifferingDimensions(
      @ForAll @IntRange(min = 1, max = 300) int x,
      @ForAll @IntRange(min = 1, max = 20) int y,
      @ForAll @IntRange(min = 1, max = 10) int z,
      @ForAll @IntRange(min = 0, max = 59_999) int first,
      @ForAll @IntRange(min = 0, max = 59_999) int second) {
    Shape shape = Shape.of(x, y, z);
    int a = first % shape.nodes();
    int b = second % shape.nodes();
    Coordinates ca = shape.coordinates(a);
    Coordinates cb = shape.coordinates(b);
    int expected =
        (ca.x() != cb.x() ? 1 : 0) + (ca.y() != cb.y() ? 1 : 0) + (ca.z() != cb.z() ? 1 : 0);
    assertThat(shape.hops(a, b)).isEqualTo(expected);
  }

  @Test
  void refusesNodesAndCoordinatesOutside() {
    Shape shape = Shape.of(2, 2);
    assertThatThrownBy(() -> shape.coordinates(4)).hasMessageContaining("node 4 is not in 0..3");
    assertThatThrownBy(() -> shape.coordinates(-1)).hasMessageContaining("node -1");
    assertThatThrownBy(() -> shape.node(new Coordinates(0, 2, 0))).hasMessageContaining("(0,2,0)");
    assertThatThrownBy(() -> new Coordinates(0, 0, 65_535)).hasMessageContaining("65535");
  }

  @Test
  void readsCoordinates() {
    assertThat(Coordinates.parse("1,0,2")).isEqualTo(new Coordinates(1, 0, 2));
    assertThat(Coordinates.parse(" (3, 4) ")).isEqualTo(new Coordinates(3, 4, 0));
    assertThat(Coordinates.parse("7")).isEqualTo(new Coordinates(7, 0, 0));
    assertThat(Coordinates.parse(new Coordinates(1, 2, 3).toString()))
        .isEqualTo(new Coordinates(1, 2, 3));
    for (String bad : new String[] {"", "a", "1,2,3,4", "-1", "1;2", "65535", "(1", "()"}) {
      assertThatThrownBy(() -> Coordinates.parse(bad))
          .as(bad)
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void railsAreNumberedByDimensionThenIndex() {
    RailLayout all = new RailLayout(Shape.of(2, 2, 2), 2);
    assertThat(all.count()).isEqualTo(6);
    assertThat(all.rail(2, 1)).isEqualTo(5);
    assertThat(all.name(3)).isEqualTo("y1");
    // A dimension with a single node takes no numbers.
    RailLayout gap = new RailLayout(Shape.of(3, 1, 2), 3);
    assertThat(gap.count()).isEqualTo(6);
    assertThat(gap.rail(2, 0)).isEqualTo(3);
    assertThat(gap.dimension(3)).isEqualTo(2);
    assertThatThrownBy(() -> gap.rail(1, 0)).isInstanceOf(IllegalArgumentException.class);
    assertThat(new RailLayout(Shape.of(1), 9).count()).isZero();
    assertThatThrownBy(() -> new RailLayout(Shape.of(2), 10)).hasMessageContaining("10");
    assertThatThrownBy(() -> new RailLayout(Shape.of(2), 0)).hasMessageContaining("0");
  }
}
