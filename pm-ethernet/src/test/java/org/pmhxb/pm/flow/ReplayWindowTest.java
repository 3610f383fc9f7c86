package org.pmhxb.pm.flow;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

class ReplayWindowTest {
  /** Against a set of all that was seen. */
  @Property(tries = 200, seed = "31")
  void acceptsEachStampOnce(@ForAll long seed) {
    Random random = new Random(seed);
    ReplayWindow window = new ReplayWindow();
    Set<Long> seen = new HashSet<>();
    long highest = random.nextLong();
    boolean started = false;
    for (int i = 0; i < 2_000; i++) {
      long stamp =
          switch (random.nextInt(10)) {
            case 0 -> highest + random.nextInt(20_000);
            case 1 -> highest - random.nextInt(20_000);
            default -> highest + random.nextInt(40) - 30;
          };
      boolean old = started && stamp - highest <= 0;
      boolean expected = !old || highest - stamp < ReplayWindow.SIZE && !seen.contains(stamp);
      assertThat(window.accept(stamp)).as("stamp %d of %d", stamp, highest).isEqualTo(expected);
      seen.add(stamp);
      highest = started && stamp - highest <= 0 ? highest : stamp;
      started = true;
    }
  }
}
