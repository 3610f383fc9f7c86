package org.pmhxb.pm.flow;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;

/** The send window against lists of the library (PROTOCOL.md section 5.3). */
class SendWindowTest {
  private static final int PATHS = 3;
  private static final int LANE = 0x8000_0009;
  private static final int OWNER = 0x300_0001;

  /** Where a frame is: on a path, lost, or acknowledged. */
  private static final class Frame {
    final int id;
    final int bytes;
    final int messages;
    final int lane;
    int copies;
    int index = -1;

    Frame(int id, int bytes) {
      this.id = id;
      this.bytes = bytes;
      this.messages = 1 + bytes % 100;
      this.lane = bytes % 8 == 0 ? LANE + 1 : LANE;
    }
  }

  @Provide
  Arbitrary<Integer> firsts() {
    return Arbitraries.of(0, -1, -7, -40, Integer.MAX_VALUE - 9, 77);
  }

  @Example
  void aChoiceOfPathIsDueOnceItsBytesWereSent() {
    SendWindow window = new SendWindow(8, 1, 0, OWNER);
    assertThat(window.isChoiceDue()).as("of a new session").isTrue();

    window.turn(SendWindow.way(0, 0), LANE);
    window.choose(300, 77);
    assertThat(window.chosenNs()).isEqualTo(77);
    for (int sent = 0; sent < 3; sent++) {
      assertThat(window.isChoiceDue()).as("after %d of 300 bytes", 128 * sent).isFalse();
      assertThat(window.notDue()).isNotNegative();
      window.send(sent + 1, 128, 1, sent, sent, SendWindow.stamp(77, 1));
    }
    assertThat(window.isChoiceDue()).isTrue();
    assertThat(window.notDue()).isNegative();

    window.lose(0);
    window.choose(1, 78);
    window.resend(0, 3, 0, 3, 78);
    assertThat(window.isChoiceDue()).as("what goes again is chosen for itself").isFalse();
    window.endChoice();
    assertThat(window.isChoiceDue()).isTrue();
  }

  @Example
  void ofFramesInTheirTurnNonePrecedesThePathsFirst() {
    SendWindow window = new SendWindow(8, 2, 5, OWNER);
    assertThat(window.mayPrecede(0, 100)).isFalse();
    window.turn(SendWindow.way(0, 3), 1);
    window.send(9, 100, 1, 7, 0, SendWindow.stamp(0, 1));
    window.send(10, 100, 1, 8, 1, SendWindow.stamp(0, 1));
    assertThat(window.mayPrecede(0, 7)).isFalse();
    assertThat(window.mayPrecede(0, 8)).isTrue();
    assertThat(window.mayPrecede(1, 0)).isTrue();
    window.lose(5);
    assertThat(window.mayPrecede(0, 7)).isTrue();
  }

  @Property(tries = 300, seed = "35")
  void listsStayConsistent(
      @ForAll("firsts") int first, @ForAll @IntRange(min = 1, max = 6) int log, @ForAll long seed) {
    Random random = new Random(seed);
    int size = 1 << log;
    SendWindow window = new SendWindow(size, PATHS, first, OWNER);
    TreeMap<Long, Frame> held = new TreeMap<>();
    List<List<Long>> lists = new ArrayList<>();
    for (int i = 0; i <= PATHS; i++) {
      lists.add(new ArrayList<>());
    }
    int[] nextIndex = new int[PATHS];
    long unacknowledged = 0;
    long next = 0;
    int grown = 0;
    for (int step = 0; step < 300; step++) {
      int path = random.nextInt(PATHS);
      // For some time next to nothing is acknowledged, so that many slots are needed at once.
      switch (random.nextInt(step % 100 < 40 ? 6 : 10)) {
        case 0, 1, 2 -> {
          int n = Math.min(1 + random.nextInt(4), size - (int) (next - unacknowledged));
          if (n > 0) {
            for (int i = 0; i < n; i++) {
              assertThat(window.next()).isEqualTo(first + (int) next + i);
              Frame frame = new Frame((int) next + i + 1, 64 + random.nextInt(1_000));
              frame.copies = 1;
              frame.index = nextIndex[path] + i;
              held.put(next + i, frame);
              lists.get(path).add(next + i);
              long way = SendWindow.way(path, path + 1);
              if (!window.continues(way, frame.lane)) {
                window.turn(way, frame.lane);
              }
              if (window.isFull()) {
                assertThat(window.grow()).isTrue();
                grown++;
              }
              assertThat(window.nothingOnWay()).isEqualTo(lists.get(path).size() == 1);
              long stamp = SendWindow.stamp(step * 10L, frame.messages);
              window.send(frame.id, frame.bytes, frame.messages, frame.index, 10 * step + i, stamp);
            }
            nextIndex[path] += n;
            for (int i = 0; i < n; i++) {
              checkSent(window, first, next + i, path, 10 * step + i, step * 10L);
            }
            next += n;
          }
        }
        case 3 -> {
          if (!lists.get(PATHS).isEmpty()) {
            long lost = lists.get(PATHS).removeFirst();
            assertThat(window.firstLost()).isEqualTo(first + (int) lost);
            Frame frame = held.get(lost);
            frame.copies++;
            frame.index = nextIndex[path]++;
            window.resend(path, frame.index, path + 1, 10 * step, step * 10L);
            lists.get(path).add(lost);
            checkSent(window, first, lost, path, 10 * step, step * 10L);
            window.restamp(first + (int) lost, step * 10L + 3);
            checkSent(window, first, lost, path, 10 * step, step * 10L + 3);
          }
        }
        case 4 -> {
          if (!lists.get(path).isEmpty()) {
            long at = lists.get(path).removeFirst();
            window.lose(first + (int) at);
            lists.get(PATHS).add(at);
          }
        }
        case 5, 6 -> {
          if (next > unacknowledged) {
            long at = unacknowledged + random.nextInt((int) (next - unacknowledged));
            Frame frame = held.remove(at);
            int expected = frame == null ? 0 : frame.id;
            assertThat(window.acknowledge(first + (int) at)).isEqualTo(expected);
            lists.forEach(list -> list.remove(at));
          }
        }
        case 7 -> {
          if (next > unacknowledged) {
            long to = unacknowledged + 1 + random.nextInt((int) (next - unacknowledged));
            int on = window.pathOf(first + (int) unacknowledged);
            long end = on < 0 ? unacknowledged : endOfRun(unacknowledged, to, held, lists.get(on));
            FrameRun run = new FrameRun();
            do {
              int last = window.acknowledgeRun(first + (int) to, run);
              assertThat(last).isEqualTo(first + (int) unacknowledged + run.size() - 1);
              assertThat((long) run.size())
                  .isBetween(end > unacknowledged ? 1L : 0L, end - unacknowledged);
              int bytes = 0;
              int messages = 0;
              for (int i = 0; i < run.size(); unacknowledged++, i++) {
                Frame frame = held.remove(unacknowledged);
                lists.get(on).remove(unacknowledged);
                assertThat(run.path()).isEqualTo(on);
                assertThat(run.ids()[i]).isEqualTo(frame.id);
                assertThat(run.lane()).isEqualTo(frame.lane);
                bytes += frame.bytes;
                messages += frame.messages;
              }
              assertThat(run.bytes()).isEqualTo(bytes);
              assertThat(run.messages()).isEqualTo(messages);
            } while (unacknowledged < end);
          }
        }
        case 8 -> {
          Frame frame = held.get(unacknowledged);
          int on = frame == null ? -1 : window.pathOf(first + (int) unacknowledged);
          boolean usual =
              on >= 0 && frame.copies == 1 && lists.get(on).getFirst() == unacknowledged;
          if (frame != null) {
            assertThat(window.acknowledgeFirst()).isEqualTo(usual ? frame.id : 0);
          }
          if (usual) {
            int seq = first + (int) unacknowledged;
            assertThat(window.lane(seq)).isEqualTo(frame.lane);
            assertThat(window.lengthBytes(seq)).isEqualTo(frame.bytes);
            assertThat(window.messages(seq)).isEqualTo(frame.messages);
            held.remove(unacknowledged);
            lists.get(on).remove(unacknowledged++);
          }
        }
        default -> {
          while (unacknowledged < next && !held.containsKey(unacknowledged)) {
            window.advance();
            unacknowledged++;
          }
        }
      }
      checkCounts(window, first, unacknowledged, next, size, held, lists);
      // To look at each frame links those that are loose.
      if (random.nextInt(4) == 0) {
        checkFrames(window, first, held, lists);
      }
    }
    // Eight slots at first.
    assertThat(grown).isBetween(size > 8 ? 1 : 0, Math.max(0, log - 3));
  }

  private static void checkSent(
      SendWindow window, int first, long at, int path, int ticket, long nowNs) {
    int seq = first + (int) at;
    assertThat(window.rail(seq)).isEqualTo(path + 1);
    assertThat(window.railTicket(seq)).isEqualTo(ticket);
    assertThat(window.sinceSentNs(seq, nowNs + 7)).isEqualTo(7);
  }

  /**
   * Where a run of acknowledged frames must end, by the lists: the longest there is, up to a limit.
   * It comes in two when its first frames are linked and its last are not.
   */
  private static long endOfRun(long from, long to, TreeMap<Long, Frame> held, List<Long> list) {
    long end = from;
    while (end < to
        && end - from < FrameRun.CAPACITY
        && end - from < list.size()
        && list.get((int) (end - from)) == end
        && held.get(end).copies == 1
        && held.get(end).lane == held.get(from).lane) {
      end++;
    }
    return end;
  }

  private static void checkCounts(
      SendWindow window,
      int first,
      long unacknowledged,
      long next,
      int size,
      TreeMap<Long, Frame> held,
      List<List<Long>> lists) {
    assertThat(window.unacknowledged()).isEqualTo(first + (int) unacknowledged);
    assertThat(window.next()).isEqualTo(first + (int) next);
    assertThat(window.inFlight()).isEqualTo((int) (next - unacknowledged));
    if (next - unacknowledged == size) {
      assertThat(window.isFull()).isTrue();
      assertThat(window.grow()).isFalse();
    }
    assertThat(window.nothingLost()).isEqualTo(lists.get(PATHS).isEmpty());
    for (int path = 0; path < PATHS; path++) {
      List<Long> list = lists.get(path);
      assertThat(window.isEmpty(path)).isEqualTo(list.isEmpty());
      assertThat(window.bytesOn(path))
          .isEqualTo(list.stream().mapToLong(at -> held.get(at).bytes).sum());
      if (!list.isEmpty()) {
        assertThat(window.firstOf(path)).isEqualTo(first + (int) (long) list.getFirst());
        int index = window.pathIndex(window.firstOf(path));
        assertThat(window.mayPrecede(path, index + 1)).isTrue();
      }
    }
  }

  private static void checkFrames(
      SendWindow window, int first, TreeMap<Long, Frame> held, List<List<Long>> lists) {
    held.forEach(
        (at, frame) -> {
          int seq = first + (int) (long) at;
          assertThat(window.bufferId(seq)).isEqualTo(frame.id);
          assertThat(window.lengthBytes(seq)).isEqualTo(frame.bytes);
          assertThat(window.lane(seq)).isEqualTo(frame.lane);
          assertThat(window.messages(seq)).isEqualTo(frame.messages);
          assertThat(window.copies(seq)).isEqualTo(frame.copies);
          int on = -1;
          for (int path = 0; path < PATHS; path++) {
            on = lists.get(path).contains(at) ? path : on;
          }
          assertThat(window.pathOf(seq)).isEqualTo(on);
          if (on >= 0) {
            assertThat(window.pathIndex(seq)).isEqualTo(frame.index);
          }
        });
  }
}
