package org.pmhxb.mpi.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.pmhxb.pm.Message;
import org.pmhxb.pm.PmEndpoint;
import org.pmhxb.pm.SendBuffer;

/** Rank 1's place is taken by the test, which breaks one rule at a time; rank 0 keeps them. */
class HostileRankTest {
  private static final int ROUNDS_MAX = 100_000;

  /** The epoch before the first. */
  private static final int PAST = 0xFFFF;

  private EngineRig rig;
  private Engine victim;
  private PmEndpoint evil;

  @BeforeEach
  void start() {
    rig = new EngineRig("2", 1, 2, EngineRig.limits());
    rig.engines.remove(1);
    victim = rig.engine(0);
    evil = rig.reopen(1);
  }

  @AfterEach
  void end() {
    rig.close();
  }

  /** Each waits for a receive: no rank has more handles for such sends. */
  @Test
  void announcesNoMoreThanItHasHandlesFor() {
    for (int i = 0; i < HandleTable.MOST + 1_000; i++) {
      envelope(Envelope.RENDEZVOUS, 0, 0, i, operation(100, 4, 25), 0);
    }
    rig.rounds(2_000);
    assertThat(victim.queues()).contains(" " + HandleTable.MOST + " messages unexpected");
    assertThat(victim.counters().malformed()).isEqualTo(1_000);
    // What a receive has been granted is no longer counted.
    victim.post(new ReceiveOperation(rig.room(100), 0, 100, 1, 7, 1, false));
    rig.rounds(2_000);
    envelope(Envelope.RENDEZVOUS, 0, 0, 1, operation(100, 4, 25), 0);
    rig.rounds(2_000);
    assertThat(victim.queues()).contains(" " + HandleTable.MOST + " messages unexpected");
    assertThat(victim.counters().malformed()).isEqualTo(1_000);
  }

  /** Messages of a job that is over are answered at once; it gives no credit for the answers. */
  @Test
  void hasNoMoreAnswersWaitForItThanItHasHandlesFor() {
    int more = 100_000;
    for (int i = 0; i < HandleTable.MOST + more; i++) {
      envelope(Envelope.EAGER, Envelope.FLAG_SYNCHRONOUS, PAST, i, operation(0, 4, 0), 0);
    }
    rig.rounds(2_000);
    assertThat(victim.counters().malformed()).isBetween(more / 2L, (long) more);
  }

  @Test
  void emptyMessagesHaveTheBoundOfOthers() {
    EngineLimits limits = EngineRig.limits();
    long most =
        (limits.unexpectedBytes() + EngineLimits.HEAD_BYTES_MAX) / EngineLimits.ENVELOPE_COST_BYTES;
    for (int i = 0; i < most + 1_000; i++) {
      envelope(Envelope.EAGER, 0, 0, 0, operation(0, 4, 0), 0);
    }
    rig.rounds(2_000);
    assertThat(victim.queues()).contains(" " + most + " messages unexpected");
    assertThat(victim.counters().malformed()).isEqualTo(1_000);
  }

  /** It gives no credit for what would tell it of room that is free. */
  @Test
  void isToldOfAllFreeRoomAtOnceWhenItListensAgain() {
    int head = 4_096;
    int freedEach = (int) (EngineRig.limits().unexpectedBytes() / 4 / head);
    for (int i = 0; i < 5_000 * freedEach; i++) {
      SendOperation op = operation(head, 4, head / 4);
      op.headBytes = head;
      envelope(Envelope.EAGER, 0, PAST, 0, op, head);
    }
    int[] told = new int[1];
    for (int i = 0; i < 10_000; i++) {
      rig.round();
      told[0] += evil.poll(Message::source, 64);
    }
    assertThat(told[0]).isBetween(1, 1_000);
  }

  /** Else the program's memory was written to after its receive had completed. */
  @Test
  void theRestOfAMessageDoesNotOvertakeItsHead() {
    MemorySegment room = rig.room(100);
    ReceiveOperation receive = new ReceiveOperation(room, 0, 100, 1, 7, 1, false);
    victim.post(receive);
    SendOperation op = operation(100, 4, 25);
    op.headBytes = 50;
    int[] handle = new int[1];
    envelope(Envelope.RENDEZVOUS, 0, 0, 1, op, 10);
    rig.rounds(2_000);
    evil.poll(m -> handle[0] = Envelope.toHandle(m.memory(), m.offset()), 1);
    assertThat(handle[0]).as("a GRANT came").isNotZero();
    more(Envelope.DATA, handle[0], 10, 90, 1);
    rig.rounds(2_000);
    assertThat(receive.isDone()).isFalse();
    assertThat(victim.counters().malformed()).isEqualTo(1);
    // In the right order it is the message that was announced.
    more(Envelope.HEAD, 0, 10, 40, 2);
    more(Envelope.DATA, handle[0], 50, 50, 3);
    rig.untilDone(receive);
    assertThat(receive.failure()).isNull();
    assertThat(room.get(ValueLayout.JAVA_BYTE, 49)).isEqualTo((byte) 2);
    assertThat(room.get(ValueLayout.JAVA_BYTE, 50)).isEqualTo((byte) 3);
  }

  @ParameterizedTest
  @CsvSource({"-1, 1", "18, 1", "127, 1", "4, -1", "4, -2147483648"})
  void typesAndCountsThatNoMessageHasAreRefused(int type, int elements) {
    envelope(Envelope.EAGER, 0, 0, 0, operation(0, type, elements), 0);
    rig.rounds(2_000);
    assertThat(victim.counters().unexpected()).isZero();
    assertThat(victim.counters().malformed()).isEqualTo(1);
  }

  private static SendOperation operation(int bytes, int type, int elements) {
    MemorySegment nothing = MemorySegment.NULL.reinterpret(bytes);
    Payload payload = new Payload(nothing, 0, bytes, MemorySegment.NULL);
    return new SendOperation(payload, 0, 1, 7, type, elements, false);
  }

  /** Sends an envelope with so many bytes of its head. */
  private void envelope(int kind, int flags, int epoch, int handle, SendOperation op, int part) {
    SendBuffer b = claim(Envelope.FIRST_BYTES + part);
    Envelope.common(b.memory(), b.offset(), kind, flags, epoch, handle);
    Envelope.first(b.memory(), b.offset(), op, 0);
    evil.send(b);
  }

  /** Sends further bytes of a message, all of one value. */
  private void more(int kind, int handle, long offset, int length, int value) {
    SendBuffer b = claim(Envelope.NEXT_BYTES + length);
    Envelope.common(b.memory(), b.offset(), kind, 0, 0, handle);
    Envelope.next(b.memory(), b.offset(), offset);
    b.memory().asSlice(b.offset() + Envelope.NEXT_BYTES, length).fill((byte) value);
    evil.send(b);
  }

  private SendBuffer claim(int length) {
    SendBuffer b = evil.claim(0, Engine.ENDPOINT, length);
    for (int i = 0; b == null && i < ROUNDS_MAX; i++) {
      rig.round();
      b = evil.claim(0, Engine.ENDPOINT, length);
    }
    assertThat(b).as("credit comes back").isNotNull();
    return b;
  }
}
