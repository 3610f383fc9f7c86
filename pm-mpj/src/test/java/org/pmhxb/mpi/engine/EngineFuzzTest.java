package org.pmhxb.mpi.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.pmhxb.pm.Message;
import org.pmhxb.pm.MessageHandler;
import org.pmhxb.pm.PmEndpoint;
import org.pmhxb.pm.SendBuffer;

/** Frames of a rank that has lost its mind: none may break the engine or its other ranks' work. */
class EngineFuzzTest {
  private static final int FRAMES = 30_000;
  private static final MessageHandler IGNORE = Message::source;

  @Test
  void noFrameBreaksTheEngine() {
    // Rank 1's place is taken by the test: rank 0 and rank 2 are real.
    try (EngineRig rig = new EngineRig("3", 1, 3, EngineRig.limits())) {
      rig.engines.remove(1);
      Engine victim = rig.engines.get(0);
      long seed = 20_260_101;
      Random random = new Random(seed);
      PmEndpoint evil = rig.reopen(1);
      ReceiveOperation bait = new ReceiveOperation(rig.room(64), 0, 64, 1, 5, 1, false);
      victim.post(bait);
      for (int i = 0; i < FRAMES; i++) {
        sendOne(rig, evil, random);
        if (i % 16 == 0) {
          rig.round();
          evil.poll(IGNORE, 64);
        }
      }
      rig.rounds(1_000);
      assertThat(victim.counters().malformed()).as("seed " + seed).isGreaterThan(FRAMES / 4);
      assertThat(victim.counters().unexpected()).as("some were well formed").isPositive();

      MemorySegment into = rig.room(50_000);
      ReceiveOperation receive = new ReceiveOperation(into, 0, 50_000, 2, 6, 1, false);
      victim.post(receive);
      Payload payload = new Payload(rig.bytes(50_000, 1), 0, 50_000, MemorySegment.NULL);
      rig.engines.get(1).post(new SendOperation(payload, 0, 1, 6, 0, 0, false));
      rig.untilDone(receive);
      assertThat(receive.failure()).isNull();
      assertThat(EngineRig.firstWrong(into, 50_000, 1)).isEqualTo(-1);
      // Loans of messages that nobody will ask for come home: closing the rig counts them.
      victim.end("the test is over");
    }
  }

  private static void sendOne(EngineRig rig, PmEndpoint evil, Random random) {
    int length = random.nextInt(8) == 0 ? random.nextInt(8_000) : random.nextInt(120);
    SendBuffer b = null;
    for (int i = 0; b == null && i < 100_000; i++) {
      b = evil.claim(0, Engine.ENDPOINT, length);
      if (b == null) {
        rig.round();
        evil.poll(IGNORE, 64);
      }
    }
    assertThat(b).as("credit comes back").isNotNull();
    MemorySegment m = b.memory();
    long at = b.offset();
    for (int i = 0; i < length; i++) {
      // Mostly small numbers, so that fields make sense now and then.
      int value = random.nextInt(3) == 0 ? random.nextInt(256) : 0;
      m.set(ValueLayout.JAVA_BYTE, at + i, (byte) value);
    }
    if (length > 48) {
      Envelope.common(
          m, at, random.nextInt(9), random.nextInt(4), random.nextInt(3), small(random));
      if (random.nextInt(3) > 0) {
        plausible(m, at, random, length - 48);
      }
    }
    evil.send(b);
  }

  private static int small(Random random) {
    return random.nextInt(4) == 0 ? random.nextInt() : random.nextInt(40);
  }

  /** An envelope with at most one lie in it. */
  private static void plausible(MemorySegment m, long at, Random random, int part) {
    int rest = random.nextInt(20_000);
    SendOperation op =
        new SendOperation(
            new Payload(
                MemorySegment.NULL.reinterpret(1L << 33), 0, part + rest, MemorySegment.NULL),
            0,
            1,
            random.nextInt(8),
            0,
            0,
            false);
    op.headBytes = random.nextBoolean() ? part : part + rest;
    Envelope.first(m, at, op, random.nextInt(50) == 0 ? random.nextLong() : 0);
    if (random.nextInt(3) == 0) {
      m.set(ValueLayout.JAVA_BYTE, at + 8 + random.nextInt(40), (byte) random.nextInt(256));
    }
  }
}
