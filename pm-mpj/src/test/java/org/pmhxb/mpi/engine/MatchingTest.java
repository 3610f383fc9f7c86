package org.pmhxb.mpi.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

/** Matching against the naive model: two lists, searched from the front. */
class MatchingTest {
  /** A receive is posted or a message arrives; few values, so that most steps match something. */
  record Step(boolean receive, int epoch, int context, int source, int tag) {}

  @Provide
  Arbitrary<List<Step>> steps() {
    Arbitrary<Integer> any = Arbitraries.of(Engine.ANY_SOURCE, 0, 1, 2);
    Arbitrary<Integer> tag = Arbitraries.of(Engine.ANY_TAG, 0, 5, Integer.MAX_VALUE);
    return Combinators.combine(
            Arbitraries.of(true, false), Arbitraries.of(0, 1), Arbitraries.of(-7, 3), any, tag)
        .as(Step::new)
        .list()
        .ofMaxSize(200);
  }

  @Property(tries = 500)
  void everyStepMatchesWhatTheModelMatches(@ForAll("steps") List<Step> steps) {
    PostedReceives posted = new PostedReceives();
    UnexpectedMessages unexpected = new UnexpectedMessages();
    List<Entry<ReceiveOperation>> modelPosted = new ArrayList<>();
    List<Entry<Incoming>> modelUnexpected = new ArrayList<>();
    PeerChannel[] channels = {channel(0), channel(1), channel(2)};
    for (Step step : steps) {
      if (step.receive) {
        Incoming found = unexpected.find(step.epoch, step.context, step.source, step.tag);
        Entry<Incoming> expected = first(modelUnexpected, e -> accepts(step, e.step));
        assertThat(found).isSameAs(expected == null ? null : expected.value);
        if (found != null) {
          unexpected.remove(found);
          modelUnexpected.remove(expected);
        } else {
          ReceiveOperation op = receive(step);
          posted.add(step.epoch, op);
          modelPosted.add(new Entry<>(step, op));
        }
      } else {
        Step m =
            new Step(
                false, step.epoch, step.context, Math.max(0, step.source), Math.max(0, step.tag));
        ReceiveOperation found = posted.match(m.epoch, m.context, m.source, m.tag);
        Entry<ReceiveOperation> expected = first(modelPosted, e -> accepts(e.step, m));
        assertThat(found).isSameAs(expected == null ? null : expected.value);
        if (found != null) {
          modelPosted.remove(expected);
        } else {
          Incoming in = message(channels[m.source], m);
          unexpected.add(in);
          modelUnexpected.add(new Entry<>(m, in));
        }
      }
      assertThat(posted.size()).isEqualTo(modelPosted.size());
      assertThat(unexpected.size()).isEqualTo(modelUnexpected.size());
    }
    assertThat(unexpected.all())
        .containsExactlyInAnyOrderElementsOf(modelUnexpected.stream().map(e -> e.value).toList());
    modelUnexpected.forEach(e -> unexpected.remove(e.value));
    assertThat(unexpected.lists()).isZero();
  }

  private record Entry<T>(Step step, T value) {}

  private static <T> Entry<T> first(
      List<Entry<T>> list, java.util.function.Predicate<Entry<T>> condition) {
    return list.stream().filter(condition).findFirst().orElse(null);
  }

  private static boolean accepts(Step receive, Step message) {
    return receive.epoch == message.epoch
        && receive.context == message.context
        && (receive.source == Engine.ANY_SOURCE || receive.source == message.source)
        && (receive.tag == Engine.ANY_TAG || receive.tag == message.tag);
  }

  private static PeerChannel channel(int rank) {
    return new PeerChannel(rank, rank);
  }

  private static ReceiveOperation receive(Step s) {
    return new ReceiveOperation(MemorySegment.NULL, 0, 0, s.source, s.tag, s.context, false);
  }

  private static Incoming message(PeerChannel from, Step s) {
    Arrival arrival = new Arrival(s.source, s.tag, 0, 0, 0, 0);
    return new Incoming(from, arrival, s.epoch, s.context, 0, 0, false, false);
  }

  @Test
  void removedReceivesAreNotMatched() {
    PostedReceives posted = new PostedReceives();
    Step any = new Step(true, 0, 1, Engine.ANY_SOURCE, Engine.ANY_TAG);
    Step exact = new Step(true, 0, 1, 2, 5);
    ReceiveOperation first = receive(any);
    ReceiveOperation second = receive(exact);
    posted.add(0, first);
    posted.add(0, second);
    assertThat(posted.removeIf(op -> op.source == Engine.ANY_SOURCE)).containsExactly(first);
    assertThat(posted.match(0, 1, 2, 5)).isSameAs(second);
    assertThat(posted.match(0, 1, 2, 5)).isNull();
    assertThat(posted.size()).isZero();
  }

  @Test
  void aHandleOfThePastFindsNothing() {
    HandleTable<String> table = new HandleTable<>();
    int first = table.add("a");
    assertThat(table.get(first)).isEqualTo("a");
    table.remove(first);
    int second = table.add("b");
    assertThat(second).isNotEqualTo(first);
    assertThat(table.get(first)).isNull();
    assertThat(table.get(second)).isEqualTo("b");
    assertThat(table.get(0)).isNull();
    assertThat(table.get(-1)).isNull();
    for (int i = 0; i < 100; i++) {
      assertThat(table.get(table.add("x" + i))).isEqualTo("x" + i);
    }
  }

  /** A rank chooses its contexts and tags: of one hash code, each look-up would search them all. */
  @Test
  void keysOfOneHashCodeAreNotSearched() {
    UnexpectedMessages unexpected = new UnexpectedMessages();
    PeerChannel channel = new PeerChannel(0, 0);
    assertTimeoutPreemptively(
        Duration.ofSeconds(10),
        () -> {
          for (int context = 0; unexpected.size() < 100_000; context++) {
            int tag = -(context * 0x9E3779B1) * 0x85EBCA6B;
            if (tag >= 0) {
              Arrival arrival = new Arrival(0, tag, 0, 0, 0, 0);
              unexpected.add(new Incoming(channel, arrival, 0, context, 0, 0, true, false));
            }
          }
        });
  }
}
