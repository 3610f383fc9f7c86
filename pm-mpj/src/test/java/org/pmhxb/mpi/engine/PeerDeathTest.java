package org.pmhxb.mpi.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** A rank goes away in the middle of everything. */
class PeerDeathTest {
  @Test
  void everythingThatNeedsTheDeadRankFailsAndNothingElse() {
    try (EngineRig rig = new EngineRig("3", 1, 3, EngineRig.limits())) {
      // Sessions of all with all.
      for (int rank = 0; rank < 3; rank++) {
        for (int to = 0; to < 3; to++) {
          rig.untilDone(rig.send(rank, to, 0, 8, 1), rig.receive(to, rank, 0, rig.room(8)));
        }
      }
      SendOperation arrived = rig.send(1, 0, 1, 100, 2);
      rig.untilDone(arrived);
      rig.rounds(1_000);
      SendOperation announced = rig.send(1, 0, 2, 500_000, 2);
      SendOperation waiting = rig.send(0, 1, 3, 500_000, 3);
      SendOperation matched = rig.send(0, 1, 4, 10, 3, true);
      rig.rounds(1_000);
      ReceiveOperation receive = rig.receive(0, 1, 9, rig.room(8));
      ReceiveOperation any = rig.receive(0, Engine.ANY_SOURCE, 9, rig.room(8));
      ReceiveOperation other = rig.receive(0, 2, 9, rig.room(8));
      ProbeOperation probe = new ProbeOperation(1, 9, 1, true);
      rig.engine(0).post(probe);
      rig.rounds(100);
      assertThat(announced.isDone()).isFalse();

      rig.cluster.node(1).quit();

      rig.untilDone(waiting, matched, receive, any, probe);
      for (Operation op : new Operation[] {waiting, matched, receive, any, probe}) {
        assertThat(op.failure()).hasMessageContaining("rank 1");
      }
      assertThat(receive.failure()).hasMessageContaining("the peer closed the session");
      assertThat(other.isDone()).isFalse();
      // Later ones fail at once; what had arrived whole can still be received.
      SendOperation late = rig.send(0, 1, 5, 8, 1);
      ReceiveOperation lateReceive = rig.receive(0, 1, 2, rig.room(500_000));
      ReceiveOperation whole = rig.receive(0, 1, 1, rig.room(100));
      rig.untilDone(late, lateReceive, whole);
      assertThat(late.failure()).hasMessageContaining("send to rank 1");
      assertThat(lateReceive.failure()).hasMessageContaining("receive from rank 1");
      assertThat(whole.failure()).isNull();
      // Also one that does not wait: its program asks again and again.
      ProbeOperation asksOnce = new ProbeOperation(1, 9, 1, false);
      rig.engine(0).post(asksOnce);
      ReceiveOperation fetches = new ReceiveOperation(rig.room(8), 0, 8, 1, 9, 1, true);
      rig.engine(0).post(fetches);
      rig.untilDone(asksOnce, fetches);
      assertThat(asksOnce.failure()).hasMessageContaining("rank 1");
      assertThat(fetches.failure()).hasMessageContaining("receive from rank 1");
      // The others go on.
      rig.untilDone(rig.send(2, 0, 9, 8, 1), other);
      assertThat(other.failure()).isNull();
      FlushOperation flush = new FlushOperation(false);
      rig.engine(0).post(flush);
      rig.untilDone(flush);
      assertThat(flush.failure()).isNull();
    }
  }

  /** Its end is heard of by a session, which nothing that was sent has opened. */
  @Test
  void whoOnlyWaitsForARankHearsOfItsEndToo() {
    try (EngineRig rig = new EngineRig("4", 1, 4, EngineRig.limits())) {
      ReceiveOperation receive = rig.receive(0, 1, 9, rig.room(8));
      ReceiveOperation any = rig.receive(2, Engine.ANY_SOURCE, 9, rig.room(8));
      ProbeOperation probe = new ProbeOperation(1, 9, 1, true);
      rig.engine(3).post(probe);
      rig.rounds(1_000);

      rig.cluster.node(1).quit();

      rig.rounds(1_000);
      for (Operation op : new Operation[] {receive, any, probe}) {
        assertThat(op.isDone()).isTrue();
        assertThat(op.failure()).hasMessageContaining("rank 1");
      }
    }
  }

  /** Its engine sends on, in another session, until it hears of the end too. */
  @Test
  void whatComesAfterTheEndIsNotTakenForWhatWasLost() {
    try (EngineRig rig = new EngineRig("2", 1, 2, EngineRig.limits())) {
      rig.untilDone(rig.send(1, 0, 0, 8, 1), rig.receive(0, 1, 0, rig.room(8)));
      rig.engine(0).onPeerDown(1, 77);
      rig.untilDone(rig.send(1, 0, 0, 8, 2));
      rig.rounds(1_000);
      ReceiveOperation receive = rig.receive(0, 1, 0, rig.room(8));
      rig.untilDone(receive);
      assertThat(receive.failure()).hasMessageContaining("receive from rank 1");
      assertThat(rig.engine(0).counters().malformed()).isEqualTo(1);
    }
  }

  /** Processes begin one after the other: until all have, nothing is lost by an early send. */
  @Test
  void aRankThatIsLateIsTriedOnAndOneThatWasThereIsGone() {
    try (EngineRig rig = new EngineRig("2", 1, 2, EngineRig.limits())) {
      SendOperation early = rig.send(0, 1, 0, 8, 1);
      ReceiveOperation receive = rig.receive(0, 1, 0, rig.room(8));
      rig.engine(0).onPeerDown(1, 0);
      rig.untilDone(early, rig.receive(1, 0, 0, rig.room(8)), rig.send(1, 0, 0, 8, 2), receive);
      assertThat(early.failure()).isNull();
      assertThat(receive.failure()).isNull();

      ReceiveOperation later = rig.receive(0, 1, 0, rig.room(8));
      rig.rounds(10);
      rig.engine(0).started();
      rig.engine(0).onPeerDown(1, 0);
      assertThat(later.failure()).hasMessageContaining("receive from rank 1");
    }
  }

  @Test
  void afterTheEndEverythingFailsAtOnce() {
    try (EngineRig rig = new EngineRig("2", 1, 2, EngineRig.limits())) {
      ReceiveOperation before = rig.receive(0, 1, 9, rig.room(8));
      rig.rounds(10);
      rig.engine(0).end("the end of the test");
      ReceiveOperation after = rig.receive(0, 1, 9, rig.room(8));
      assertThat(before.failure()).hasMessage("the end of the test");
      assertThat(after.failure()).hasMessage("the end of the test");
    }
  }
}
