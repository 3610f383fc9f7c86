package org.pmhxb.collectives.logp;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Against a queue that sorts every event. */
class AgendaTest {
  private record Event(double atNs, int number) {}

  @Test
  void whatWasAddedFirstOfOneTimeComesFirst() {
    for (int seed = 0; seed < 50; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      Agenda agenda = new Agenda();
      PriorityQueue<Event> sorted =
          new PriorityQueue<>(
              Comparator.comparingDouble(Event::atNs).thenComparingInt(Event::number));
      for (int i = 0; i < 2_000; i++) {
        boolean add = random.nextInt(i < 1_000 ? 3 : 4) > (i < 1_000 ? 0 : 2);
        if (add) {
          double atNs = agenda.nowNs() + random.nextInt(8) * 0.3;
          agenda.add(atNs, i);
          sorted.add(new Event(atNs, i));
        } else if (!sorted.isEmpty()) {
          assertThat(agenda.take()).isEqualTo(sorted.peek().number());
          assertThat(agenda.nowNs()).isEqualTo(sorted.poll().atNs());
        }
        assertThat(agenda.isEmpty()).isEqualTo(sorted.isEmpty());
      }
    }
  }

  @Test
  void aQueueGrowsAroundItsEnd() {
    IntQueue queue = new IntQueue();
    int added = 0;
    for (int taken = 0; taken < 1_000; taken++) {
      queue.add(added++);
      queue.add(added++);
      assertThat(queue.take()).isEqualTo(taken);
      assertThat(queue.size()).isEqualTo(added - taken - 1);
    }
  }
}
