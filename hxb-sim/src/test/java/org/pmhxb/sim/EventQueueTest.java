package org.pmhxb.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class EventQueueTest {
  private record Fired(long atNs, int number) {}

  @Property(tries = 50)
  void firesByTimeAndThenInTheOrderOfAdding(@ForAll long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    EventQueue queue = new EventQueue();
    List<Fired> added = new ArrayList<>();
    List<Fired> fired = new ArrayList<>();
    for (int i = 0; i < 3_000; i++) {
      Fired event = new Fired(random.nextLong(200), i);
      added.add(event);
      queue.add(event.atNs(), now -> fired.add(new Fired(now, event.number())));
    }

    while (!queue.isEmpty()) {
      queue.fireNext();
    }

    added.sort(Comparator.comparingLong(Fired::atNs).thenComparingInt(Fired::number));
    assertThat(fired).isEqualTo(added);
    assertThat(queue.fired()).isEqualTo(3_000);
  }

  @Test
  void whatLiesInThePastHappensNow() {
    EventQueue queue = new EventQueue();
    List<Long> times = new ArrayList<>();
    queue.add(10, now -> queue.add(3, times::add));

    queue.fireNext();
    queue.fireNext();

    assertThat(times).containsExactly(10L);
  }
}
