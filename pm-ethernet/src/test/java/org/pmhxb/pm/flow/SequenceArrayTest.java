package org.pmhxb.pm.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** The sequence array against a model with 64-bit numbers (PROTOCOL.md section 5.2). */
class SequenceArrayTest {
  /**
   * @param kind below 7 insert, below 9 take, else clear
   */
  private record Step(int kind, int distance, boolean owned) {}

  @Provide
  Arbitrary<List<Step>> steps() {
    Arbitrary<Integer> distances =
        Arbitraries.frequencyOf(
            net.jqwik.api.Tuple.of(8, Arbitraries.integers().between(-2, 10)),
            net.jqwik.api.Tuple.of(2, Arbitraries.integers().between(-40, 40)),
            net.jqwik.api.Tuple.of(1, Arbitraries.integers().between(-1_000_000, 1_000_000)));
    return Combinators.combine(
            Arbitraries.integers().between(0, 12), distances, Arbitraries.of(true, false))
        .as(Step::new)
        .list()
        .ofMaxSize(400);
  }

  @Provide
  Arbitrary<Integer> firsts() {
    return Arbitraries.of(0, 1, -1, -5, -20, Integer.MAX_VALUE - 3, Integer.MIN_VALUE, 12_345);
  }

  @Property(tries = 50, seed = "63")
  void passesOnlyTheFrameWhoseTurnItIs(@ForAll("firsts") int first) {
    SequenceArray array = new SequenceArray(4, first);
    assertThat(array.passOwned(first + 1)).isFalse();
    assertThat(array.passOwned(first + 4)).isFalse();
    assertThat(array.insertOwned(first + 1, 9)).isEqualTo(SequenceArray.INSERTED);
    assertThat(array.passOwned(first)).isTrue();
    assertThat(array.passOwned(first)).isFalse();
    assertThat(array.insertOwned(first, 7)).isEqualTo(SequenceArray.DUPLICATE);
    // Its own turn, but it waits already: a second copy must not pass.
    assertThat(array.passOwned(first + 1)).isFalse();
    assertThat(array.take()).isEqualTo(9);
    assertThat(array.next()).isEqualTo(first + 2);
    assertThat(array.insertOwned(first + 4, 5)).isEqualTo(SequenceArray.INSERTED);
  }

  @Property(tries = 50, seed = "64")
  void whatPassesAsExpectedLeavesTheArrayAsIfItHadBeenTaken(@ForAll("firsts") int first) {
    SequenceArray array = new SequenceArray(4, first);
    for (int i = 0; i < 11; i++) {
      array.passTo(array.next() + 1);
      int next = first + i + 1;
      assertThat(array.next()).isEqualTo(next);
      assertThat(array.insertOwned(next - 1, 7)).isEqualTo(SequenceArray.DUPLICATE);
      assertThat(array.insertOwned(next + 4, 7)).isEqualTo(SequenceArray.OUT_OF_WINDOW);
      assertThat(array.holds(next)).isFalse();
      assertThat(array.take()).isZero();
    }
    int seq = first + 11;
    assertThat(array.insertOwned(seq + 3, 8)).isEqualTo(SequenceArray.INSERTED);
    assertThat(array.insertOwned(seq + 3, 9)).isEqualTo(SequenceArray.DUPLICATE);
    assertThat(array.holds(seq + 3)).isTrue();
    assertThat(array.passOwned(seq)).isTrue();
    assertThat(array.insertOwned(seq + 1, 9)).isEqualTo(SequenceArray.INSERTED);
    assertThat(array.passOwned(seq + 1)).as("it waits already").isFalse();
    assertThat(array.take()).isEqualTo(9);
    assertThat(array.passOwned(seq + 2)).isTrue();
    assertThat(array.insertOwned(seq + 6, 6)).isEqualTo(SequenceArray.INSERTED);
    assertThat(array.take()).isEqualTo(8);
    assertThat(array.clear((seq + 6) & 3)).isEqualTo(6);
    for (int slot = 0; slot < array.size(); slot++) {
      assertThat(array.clear(slot)).isZero();
    }
  }

  @Property(tries = 400, seed = "34")
  void behavesAsItsModel(
      @ForAll("steps") List<Step> steps, @ForAll("firsts") int first, @ForAll("sizes") int size) {
    SequenceArray array = new SequenceArray(size, first);
    Map<Long, Integer> held = new HashMap<>();
    long next = 0;
    int nextId = 1;
    for (Step step : steps) {
      if (step.kind < 9) {
        long at = next + step.distance;
        int seq = first + (int) at;
        int id = nextId++;
        int got = step.owned ? array.insertOwned(seq, id) : array.insert(seq, id);
        int expected =
            at >= next + size
                ? SequenceArray.OUT_OF_WINDOW
                : at < next || held.containsKey(at)
                    ? SequenceArray.DUPLICATE
                    : SequenceArray.INSERTED;
        assertThat(got).as("insert %d at next %d", at, next).isEqualTo(expected);
        if (got == SequenceArray.INSERTED) {
          held.put(at, id);
        }
      } else {
        Integer expected = held.remove(next);
        assertThat(array.take()).isEqualTo(expected == null ? 0 : expected);
        next += expected == null ? 0 : 1;
      }
      assertThat(array.next()).isEqualTo(first + (int) next);
      assertThat(array.waiting()).isEqualTo(held.size());
      for (long at = next; at < next + size; at++) {
        assertThat(array.holds(first + (int) at)).isEqualTo(held.containsKey(at));
      }
    }
    for (int slot = 0; slot < size; slot++) {
      int id = array.clear(slot);
      assertThat(id == 0 || held.values().remove(id)).as("buffer %d was held", id).isTrue();
    }
    assertThat(held).isEmpty();
  }

  @Provide
  Arbitrary<Integer> sizes() {
    return Arbitraries.of(2, 4, 8, 32);
  }

  @Example
  void refusesALateInsertAfterTakeAndAfterClear() {
    SequenceArray array = new SequenceArray(4, -1);
    assertThat(array.insert(-1, 5)).isEqualTo(SequenceArray.INSERTED);
    assertThat(array.take()).isEqualTo(5);
    assertThat(array.insert(-1, 6)).isEqualTo(SequenceArray.DUPLICATE);
    assertThat(array.insert(3, 7)).isEqualTo(SequenceArray.INSERTED);
    assertThat(array.insert(4, 8)).isEqualTo(SequenceArray.OUT_OF_WINDOW);
    assertThat(array.clear(3 & 3)).isEqualTo(7);
    assertThat(array.insert(3, 9)).as("late insert of the cleared session").isNotZero();
  }

  @Example
  void refusesSizesByName() {
    for (int size : new int[] {0, 1, 3, 65_535, 131_072, -2}) {
      assertThatThrownBy(() -> new SequenceArray(size, 0)).hasMessageContaining(size + " slots");
    }
  }
}
