package org.pmhxb.mpi.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The engine at two and three ranks over ring. */
class EngineTest {
  private static EngineRig rig;

  @BeforeAll
  static void start() {
    rig = new EngineRig("3", 2, 3, EngineRig.limits());
  }

  @AfterAll
  static void end() {
    rig.close();
  }

  /** Nothing, one frame, its edges, eager of several frames, rendezvous with and without rest. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 8_000, 8_880, 8_900, 16_384, 16_385, 262_144, 262_145, 1_000_003})
  void aMessageArrivesWhetherItIsExpectedOrNot(int length) {
    MemorySegment into = rig.room(length);
    ReceiveOperation expected = rig.receive(1, 0, 3, into);
    rig.rounds(10);
    SendOperation first = rig.send(0, 1, 3, length, 1);
    rig.untilDone(first, expected);
    assertThat(EngineRig.firstWrong(into, length, 1)).isEqualTo(-1);
    SendOperation second = rig.send(0, 1, 4, length, 2);
    rig.rounds(2_000);
    // A quarter of the room for unexpected messages may go at once.
    assertThat(second.isDone()).isEqualTo(length <= EngineRig.limits().unexpectedBytes() / 4);
    MemorySegment late = rig.room(length);
    ReceiveOperation unexpected = rig.receive(1, Engine.ANY_SOURCE, Engine.ANY_TAG, late);
    rig.untilDone(second, unexpected);
    assertThat(EngineRig.firstWrong(late, length, 2)).isEqualTo(-1);
    assertThat(unexpected.failure()).isNull();
    assertThat(unexpected.arrival()).isEqualTo(new Arrival(0, 4, 4, length / 4, length, 0));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 100, 12_000, 300_000})
  void aSynchronousSendCompletesOnlyWhenItIsMatched(int length) {
    SendOperation op = rig.send(2, 0, 9, length, 3, true);
    rig.rounds(2_000);
    assertThat(op.isDone()).isFalse();
    MemorySegment into = rig.room(length);
    ReceiveOperation receive = rig.receive(0, 2, 9, into);
    rig.untilDone(op, receive);
    assertThat(EngineRig.firstWrong(into, length, 3)).isEqualTo(-1);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 5, 20_000, 200_000})
  void aRankSendsToItself(int length) {
    MemorySegment into = rig.room(length);
    SendOperation send = rig.send(1, 1, 0, length, 4);
    rig.rounds(500);
    ReceiveOperation receive = rig.receive(1, 1, 0, into);
    rig.untilDone(send, receive);
    assertThat(EngineRig.firstWrong(into, length, 4)).isEqualTo(-1);
  }

  @Test
  void aSecondPartFollowsTheFirst() {
    byte[] objects = new byte[50_000];
    new Random(5).nextBytes(objects);
    for (int first : new int[] {0, 24, 9_001, 40_000}) {
      Payload payload = new Payload(rig.bytes(first, 6), 0, first, MemorySegment.ofArray(objects));
      SendOperation send = new SendOperation(payload, 2, 1, 7, 8, 1, false);
      rig.engine(0).post(send);
      MemorySegment into = rig.room(first);
      ReceiveOperation receive = rig.receive(2, 0, 7, into);
      rig.untilDone(send, receive);
      assertThat(receive.dynamic()).isEqualTo(objects);
      assertThat(EngineRig.firstWrong(into, first, 6)).isEqualTo(-1);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {200, 15_000, 90_000})
  void aMessageTooLongForItsReceiveIsAnErrorThereAndNowhereElse(int length) {
    for (boolean early : new boolean[] {true, false}) {
      MemorySegment into = rig.room(100);
      ReceiveOperation receive = early ? rig.receive(1, 0, 11, into) : null;
      rig.rounds(100);
      SendOperation send = rig.send(0, 1, 11, length, 1);
      rig.rounds(1_000);
      receive = early ? receive : rig.receive(1, 0, 11, into);
      rig.untilDone(send, receive);
      assertThat(send.failure()).isNull();
      assertThat(receive.failure())
          .hasMessageContaining("truncated")
          .hasMessageContaining(Integer.toString(length))
          .hasMessageContaining("100");
      assertThat(EngineRig.firstWrong(into, 100, 0)).isNotEqualTo(-1);
    }
    // The way between the two is as it was.
    MemorySegment into = rig.room(length);
    ReceiveOperation receive = rig.receive(1, 0, 11, into);
    rig.untilDone(rig.send(0, 1, 11, length, 8), receive);
    assertThat(EngineRig.firstWrong(into, length, 8)).isEqualTo(-1);
  }

  @Test
  void messagesOfOneTagDoNotOvertakeEachOtherWhateverTheirLengths() {
    Random random = new Random(12);
    List<Integer> lengths = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      lengths.add(random.nextInt(4) == 0 ? random.nextInt(60_000) : random.nextInt(300));
    }
    List<ReceiveOperation> receives = new ArrayList<>();
    List<MemorySegment> rooms = new ArrayList<>();
    for (int i = 0; i < lengths.size(); i++) {
      rig.send(0, 1, 5, lengths.get(i), i);
      if (random.nextBoolean()) {
        rig.rounds(random.nextInt(50));
      }
      rooms.add(rig.room(60_000));
      int source = random.nextBoolean() ? 0 : Engine.ANY_SOURCE;
      int tag = random.nextBoolean() ? 5 : Engine.ANY_TAG;
      receives.add(rig.receive(1, source, tag, rooms.get(i)));
    }
    for (int i = 0; i < lengths.size(); i++) {
      rig.untilDone(receives.get(i));
      assertThat(receives.get(i).arrival().staticBytes()).isEqualTo(lengths.get(i));
      assertThat(EngineRig.firstWrong(rooms.get(i), lengths.get(i), i)).isEqualTo(-1);
    }
  }

  @Test
  void aProbeFindsAndLeavesTheMessage() {
    ProbeOperation none = new ProbeOperation(0, 20, 1, false);
    ProbeOperation waits = new ProbeOperation(Engine.ANY_SOURCE, 20, 1, true);
    rig.engine(2).post(none);
    rig.engine(2).post(waits);
    rig.untilDone(none);
    assertThat(none.arrival()).isNull();
    rig.rounds(100);
    assertThat(waits.isDone()).isFalse();
    SendOperation send = rig.send(0, 2, 20, 64, 1);
    rig.untilDone(send, waits);
    assertThat(waits.arrival()).isEqualTo(new Arrival(0, 20, 4, 16, 64, 0));
    ReceiveOperation immediate = new ReceiveOperation(rig.room(64), 0, 64, 0, 20, 1, true);
    rig.engine(2).post(immediate);
    rig.untilDone(immediate);
    assertThat(immediate.arrival()).isEqualTo(waits.arrival());
    ReceiveOperation nothing = new ReceiveOperation(rig.room(64), 0, 64, 0, 20, 1, true);
    rig.engine(2).post(nothing);
    rig.untilDone(nothing);
    assertThat(nothing.arrival()).isNull();
  }

  @Test
  void contextsAreApart() {
    MemorySegment into = rig.room(8);
    ReceiveOperation other = new ReceiveOperation(into, 0, 8, 0, 3, 77, false);
    rig.engine(1).post(other);
    ReceiveOperation ours = rig.receive(1, 0, 3, rig.room(8));
    rig.untilDone(rig.send(0, 1, 3, 8, 1), ours);
    assertThat(other.isDone()).isFalse();
    SendOperation send =
        new SendOperation(
            new Payload(rig.bytes(8, 9), 0, 8, MemorySegment.NULL), 1, 77, 3, 0, 0, false);
    rig.engine(0).post(send);
    rig.untilDone(send, other);
    assertThat(EngineRig.firstWrong(into, 8, 9)).isEqualTo(-1);
  }

  /** What a receiver has not asked for is bounded; the rest waits at the sender. */
  @Test
  void tenThousandUnexpectedMessagesAreBoundedAndAllArrive() {
    int count = 10_000;
    int length = 256;
    List<SendOperation> sends = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      sends.add(rig.send(0, 1, i, length, i));
    }
    rig.rounds(20_000);
    long done = sends.stream().filter(Operation::isDone).count();
    assertThat(done).isBetween(2_000L, (1L << 20) / length);
    MemorySegment into = rig.room(length);
    for (int i = count - 1; i >= 0; i--) {
      ReceiveOperation receive = rig.receive(1, 0, i, into);
      rig.untilDone(receive);
      assertThat(EngineRig.firstWrong(into, length, i)).isEqualTo(-1);
    }
    rig.untilDone(sends.toArray(Operation[]::new));
  }

  @Test
  void theNextEpochForgetsWhatNobodyReceived() {
    SendOperation left = rig.send(0, 1, 40, 5_000, 1);
    ReceiveOperation waiting = rig.receive(1, 2, 41, rig.room(8));
    rig.untilDone(left);
    List<FlushOperation> flushes = new ArrayList<>();
    for (int rank = 0; rank < 3; rank++) {
      FlushOperation flush = new FlushOperation(true);
      flushes.add(flush);
      rig.engine(rank).post(flush);
    }
    // Rank 0 is early: it sends in its next epoch while rank 1 may still be in the last.
    rig.untilDone(flushes.get(0));
    SendOperation next = rig.send(0, 1, 40, 16, 2);
    rig.untilDone(flushes.get(1), flushes.get(2), next, waiting);
    assertThat(waiting.failure()).hasMessageContaining("finalized");
    MemorySegment into = rig.room(16);
    ReceiveOperation receive = rig.receive(1, 0, 40, into);
    rig.untilDone(receive);
    assertThat(EngineRig.firstWrong(into, 16, 2)).isEqualTo(-1);
  }

  @Test
  void lengthsOfMoreThanTwoGigabytesAreCountedRight() {
    Payload two =
        new Payload(
            MemorySegment.NULL.reinterpret(1L << 40), 0, Integer.MAX_VALUE, rig.bytes(100, 1));
    assertThat(two.bytes()).isEqualTo(Integer.MAX_VALUE + 100L);
    assertThatThrownBy(() -> new Payload(rig.room(8), 0, 16, MemorySegment.NULL))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }
}
