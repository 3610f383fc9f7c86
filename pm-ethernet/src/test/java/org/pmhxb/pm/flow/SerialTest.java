package org.pmhxb.pm.flow;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;

/** Serial arithmetic against 64-bit numbers that never wrap (PROTOCOL.md section 5.1). */
class SerialTest {
  /** Numbers in the whole range, half of them within a window of 2^32 or 2^31. */
  @Provide
  Arbitrary<Long> numbers() {
    return Arbitraries.oneOf(
        Arbitraries.longs().between(0, 1L << 34),
        Arbitraries.longs().between((1L << 32) - 70_000, (1L << 32) + 70_000),
        Arbitraries.longs().between((1L << 31) - 70_000, (1L << 31) + 70_000));
  }

  @Property(seed = "32")
  void ordersAsNumbersThatDoNotWrap(
      @ForAll("numbers") long base, @ForAll @IntRange(min = -65_536, max = 65_536) int distance) {
    long other = base + distance;
    int a = (int) base;
    int b = (int) other;
    assertThat(Serial.before(a, b)).isEqualTo(base < other);
    assertThat(Serial.after(a, b)).isEqualTo(base > other);
    assertThat(Serial.max(a, b)).isEqualTo((int) Math.max(base, other));
    assertThat(Serial.max(b, a)).isEqualTo((int) Math.max(base, other));
  }

  @Property(seed = "33")
  void isAntisymmetricUpToHalfTheRange(
      @ForAll int a, @ForAll @IntRange(min = 1, max = Integer.MAX_VALUE) int distance) {
    assertThat(Serial.before(a, a + distance)).isTrue();
    assertThat(Serial.after(a, a + distance)).isFalse();
    assertThat(Serial.after(a + distance, a)).isTrue();
    assertThat(Serial.before(a, a)).isFalse();
    assertThat(Serial.after(a, a)).isFalse();
  }
}
