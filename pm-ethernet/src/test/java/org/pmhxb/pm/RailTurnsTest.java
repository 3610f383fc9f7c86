package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/** Frames are numbers of one flow here; an early one is a number that is not the next. */
class RailTurnsTest {
  private static final int RAILS = 9;
  private final RailTurns turns = new RailTurns(RAILS);

  /** How often a frame was looked at and passed over. */
  private int passed;

  /** Takes all frames as the receiver does; the order in which they came. */
  private List<Integer> take(int first, List<List<Integer>> rails) {
    return takeAll(first, add(rails));
  }

  /** What the rails brought, one rail's frames behind the other's. */
  private List<Integer> add(List<List<Integer>> rails) {
    List<Integer> frames = new ArrayList<>();
    turns.clear();
    for (List<Integer> rail : rails) {
      if (!rail.isEmpty()) {
        turns.add(frames.size(), frames.size() + rail.size());
        frames.addAll(rail);
      }
    }
    return frames;
  }

  private List<Integer> takeAll(int first, List<Integer> frames) {
    List<Integer> order = new ArrayList<>();
    int expected = first;
    passed = 0;
    while (turns.hasMore()) {
      int frame = frames.get(turns.head());
      if (frame > expected && turns.pass()) {
        passed++;
        continue;
      }
      // Early on all rails: the one that was tried first.
      frame = frames.get(turns.head());
      turns.taken();
      order.add(frame);
      expected = frame == expected ? frame + 1 : expected;
    }
    return order;
  }

  /** Frames {@code [from, to)} in stripes of so many. */
  private static List<List<Integer>> spread(int from, int to, int rails, int stripe) {
    List<List<Integer>> spread = new ArrayList<>();
    for (int r = 0; r < rails; r++) {
      int rail = r;
      spread.add(
          IntStream.range(from, to).filter(i -> i / stripe % rails == rail).boxed().toList());
    }
    return spread;
  }

  private static List<Integer> inOrder(int from, int to) {
    return IntStream.range(from, to).boxed().toList();
  }

  @Test
  void framesSpreadOneByOneAreTakenAsTheyWereSent() {
    assertThat(take(0, spread(0, 64, 4, 1))).isEqualTo(inOrder(0, 64));
    assertThat(passed).isZero();
    // The next burst begins in the middle of the rails.
    assertThat(take(64, spread(64, 93, 4, 1))).isEqualTo(inOrder(64, 93));
    assertThat(take(93, spread(93, 128, 4, 1))).isEqualTo(inOrder(93, 128));
    assertThat(passed).isLessThan(4);
  }

  @Test
  void afterOneStripeItsLengthIsKnown() {
    assertThat(take(0, spread(0, 120, 3, 8))).isEqualTo(inOrder(0, 120));
    assertThat(take(120, spread(120, 240, 3, 8))).isEqualTo(inOrder(120, 240));
    assertThat(passed).isLessThan(6);
  }

  @Test
  void whatIsMissingStopsNobody() {
    List<List<Integer>> rails = List.of(List.of(1, 3, 5), List.of(2, 4, 6));
    List<Integer> order = take(0, rails);
    assertThat(order).hasSize(6).containsAll(inOrder(1, 7));
    assertThat(order.stream().filter(i -> i % 2 == 1).toList()).isEqualTo(rails.get(0));
    assertThat(order.stream().filter(i -> i % 2 == 0).toList()).isEqualTo(rails.get(1));
  }

  @Test
  void anyNumberMayBeTakenAtOnce() {
    assertThat(take(5, List.of(List.of(5)))).containsExactly(5);
    assertThat(take(6, List.of(inOrder(6, 40)))).isEqualTo(inOrder(6, 40));
  }

  @Property
  void spreadAnyhowFramesAreTakenInOrder(
      @ForAll @IntRange(min = 1, max = RAILS) int rails,
      @ForAll List<@IntRange(max = 63) Integer> sent) {
    List<List<Integer>> spread = new ArrayList<>(Collections.nCopies(rails, null));
    spread.replaceAll(none -> new ArrayList<>());
    for (int i = 0; i < sent.size(); i++) {
      spread.get(sent.get(i) % rails).add(i);
    }
    assertThat(take(0, spread)).isEqualTo(inOrder(0, sent.size()));
  }

  /** A machine of one node has no links. */
  @Test
  void aNodeMayHaveNoRails() {
    RailTurns none = new RailTurns(0);
    none.clear();
    assertThat(none.hasMore()).isFalse();
  }

  /** Frames that are taken out, from the first on, are as if they had not come. */
  @Property(tries = 500)
  void takenOutFramesAreAsIfTheyHadNotCome(
      @ForAll @IntRange(min = 1, max = RAILS) int rails,
      @ForAll @IntRange(min = 1, max = 4) int stripe,
      @ForAll @IntRange(max = 60) int count,
      @ForAll long chosen) {
    List<List<Integer>> brought = spread(0, count, rails, stripe);
    List<List<Integer>> left =
        brought.stream().map(r -> r.stream().filter(f -> stays(chosen, f)).toList()).toList();
    // What a stripe is was learnt by neither.
    RailTurnsTest without = new RailTurnsTest();
    List<Integer> asIf = without.take(0, left);
    RailTurnsTest other = new RailTurnsTest();
    List<Integer> frames = other.add(brought);
    int i = 0;
    while (i < frames.size()) {
      if (stays(chosen, frames.get(i))) {
        i++;
      } else {
        frames.remove(i);
        other.turns.takeOut(i);
      }
    }
    assertThat(other.takeAll(0, frames)).isEqualTo(asIf);
    assertThat(other.passed).isEqualTo(without.passed);
  }

  private static boolean stays(long chosen, int frame) {
    return (chosen >>> frame & 1) == 0;
  }
}
