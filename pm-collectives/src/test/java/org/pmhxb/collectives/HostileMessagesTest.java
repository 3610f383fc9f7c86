package org.pmhxb.collectives;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.pmhxb.collectives.algorithm.StandardAlgorithms;
import org.pmhxb.pm.PmEndpoint;
import org.pmhxb.pm.SendBuffer;
import org.pmhxb.router.Shape;
import org.pmhxb.router.fabric.RingCluster;

/** Messages that no member sends: counted, or the end of the group; never an exception of poll. */
class HostileMessagesTest {
  private static final int ENDPOINT = 5;
  private static final int MESSAGES = 20_000;
  private static final int GROUPS = 400;
  private static final int BYTES = 4_096;

  private long nowNs = 1_000_000_000L;

  @Test
  void arbitraryMessagesBreakGroupsAtMost() {
    SplittableRandom random = new SplittableRandom(1);
    try (RingCluster cluster = RingCluster.create(RingCluster.Options.of(Shape.of(2), 1))) {
      Collectives victim = victim(cluster, new CollectiveLimits(8_192, 1 << 20));
      PmEndpoint hostile = cluster.node(1).open(ENDPOINT);
      MemorySegment memory = MemorySegment.ofArray(new byte[3 * BYTES]);
      MemorySegment output = memory.asSlice(BYTES, BYTES);
      int sent = 0;
      int broken = 0;
      int done = 0;
      for (int group = 0; group < GROUPS && sent < MESSAGES; group++) {
        Communicator c = victim.join(Group.of(group, 0, 0, 1), Topology.flat());
        CollectiveCall call = c.broadcast(output, 1);
        for (int rounds = 0; !call.isDone() && rounds < 2_000; rounds++) {
          SendBuffer b = hostile.claim(0, random.nextInt(120));
          if (b != null) {
            fill(b, group, random);
            hostile.send(b);
            sent++;
          }
          cluster.doWork(System.nanoTime());
          victim.poll();
          hostile.poll(m -> {}, 64);
        }
        if (call.isDone()) {
          broken += call.failure() == null ? 0 : 1;
          done += call.failure() == null ? 1 : 0;
        } else {
          c.abandon();
        }
      }

      assertThat(sent).isGreaterThan(1_000);
      assertThat(broken).as("groups that found it out").isGreaterThan(GROUPS / 10);
      assertThat(done).as("nobody made what looks like the whole message").isZero();
      assertThat(victim.malformed()).isPositive();
      for (int i = 0; i < BYTES; i++) {
        assertThat(memory.get(ValueLayout.JAVA_BYTE, i)).isZero();
        assertThat(memory.get(ValueLayout.JAVA_BYTE, 2L * BYTES + i)).isZero();
      }
      closeAll(cluster, victim, hostile);
    }
  }

  private static void closeAll(RingCluster cluster, Collectives victim, PmEndpoint hostile) {
    victim.close();
    hostile.close();
    cluster.closeTraffic();
    assertThat(cluster.leakedBuffers()).isZero();
  }

  /** Elements stay together: half a number can be combined with nothing. */
  @Test
  void aMessageThatCutsAnElementBreaksTheGroup() {
    try (RingCluster cluster = RingCluster.create(RingCluster.Options.of(Shape.of(2), 1))) {
      Collectives victim = victim(cluster, CollectiveLimits.defaults());
      PmEndpoint hostile = cluster.node(1).open(ENDPOINT);
      Communicator c = victim.join(Group.of(1, 0, 0, 1), Topology.flat());
      c.use(Collective.REDUCE, "binomial");
      MemorySegment vector = MemorySegment.ofArray(new double[2]);
      CollectiveCall call = c.reduce(vector, vector, ElementType.DOUBLE, ReduceOp.SUM, 0);
      int reduces = 1 + ElementType.DOUBLE.ordinal() * 8 + ReduceOp.SUM.ordinal();
      int signature =
          Communicator.signature(Collective.REDUCE, "binomial", vector.byteSize(), 0, reduces);
      int[] lengths = {9, 7};
      int sent = 0;
      for (int rounds = 1; !call.isDone() && rounds < 20_000; rounds++) {
        SendBuffer b =
            sent < lengths.length ? hostile.claim(0, Wire.DATA_BYTES + lengths[sent]) : null;
        if (b != null) {
          Wire.common(b.memory(), b.offset(), Wire.DATA, 0, 1, 0, 0);
          Wire.data(b.memory(), b.offset(), signature, 0, sent == 0 ? 0 : lengths[0]);
          hostile.send(b);
          sent++;
        }
        cluster.doWork(1_000_000_000L + 2_000L * rounds);
        victim.poll();
      }

      assertThat(call.isDone()).isTrue();
      assertThat(call.failure())
          .isInstanceOf(CollectiveException.class)
          .hasMessageContaining("does not send");
      closeAll(cluster, victim, hostile);
    }
  }

  /** Any member may break a group, but by a member. */
  @Test
  void anAbortThatNamesNoMemberIsNone() {
    try (RingCluster cluster = RingCluster.create(RingCluster.Options.of(Shape.of(3), 1))) {
      Collectives victim = victim(cluster, CollectiveLimits.defaults());
      PmEndpoint hostile = cluster.node(1).open(ENDPOINT);
      abort(cluster, victim, hostile, 77); // before the group is joined, too
      Communicator c = victim.join(Group.of(1, 0, 0, 1), Topology.flat());
      CollectiveCall call = c.broadcast(MemorySegment.ofArray(new byte[8]), 1);
      abort(cluster, victim, hostile, -1);
      abort(cluster, victim, hostile, 2);
      assertThat(call.isDone()).isFalse();
      assertThat(victim.malformed()).isEqualTo(3);

      abort(cluster, victim, hostile, 1);

      assertThat(call.isDone()).isTrue();
      assertThat(call.failure()).hasMessageContaining("node 1 has left it");
      closeAll(cluster, victim, hostile);
    }
  }

  /** Those without data, too, take a slot each. */
  @Test
  void shortMessagesOfGroupsNotJoinedAreKeptInTwiceTheirBound() {
    try (RingCluster cluster = RingCluster.create(RingCluster.Options.of(Shape.of(2), 1))) {
      Collectives victim = victim(cluster, new CollectiveLimits(4_096, 4_096));
      PmEndpoint hostile = cluster.node(1).open(ENDPOINT);
      int sent = 0;
      for (int rounds = 0; rounds < 20_000; rounds++) {
        SendBuffer b = hostile.claim(0, Wire.COMMON_BYTES);
        if (b != null) {
          Wire.common(b.memory(), b.offset(), Wire.CREDIT, 0, 1, 0, 0);
          hostile.send(b);
          sent++;
        }
        cluster.doWork(nowNs += 2_000);
        victim.poll();
        hostile.poll(m -> {}, 64);
      }

      assertThat(sent).isGreaterThan(8 * 4_096 / Wire.COST_BYTES);
      assertThat(victim.store().slotBytes()).isBetween(1L, 2L * 8 * 4_096);
      closeAll(cluster, victim, hostile);
    }
  }

  private void abort(RingCluster cluster, Collectives victim, PmEndpoint hostile, int node) {
    boolean sent = false;
    for (int rounds = 0; rounds < 3_000; rounds++) {
      SendBuffer b = sent ? null : hostile.claim(0, Wire.ABORT_BYTES);
      if (b != null) {
        Wire.common(b.memory(), b.offset(), Wire.ABORT, 0, 1, 0, 0);
        Wire.abort(b.memory(), b.offset(), node, Wire.REASON_LEFT);
        hostile.send(b);
        sent = true;
      }
      cluster.doWork(nowNs += 2_000);
      victim.poll();
    }
    assertThat(sent).isTrue();
  }

  private static Collectives victim(RingCluster cluster, CollectiveLimits limits) {
    return new Collectives(
        cluster.node(0), ENDPOINT, StandardAlgorithms.registry(), CostModel.gigabit(), limits);
  }

  /** Anything, or something that looks like a message of the group. */
  private static void fill(SendBuffer b, int group, SplittableRandom random) {
    MemorySegment m = b.memory();
    long at = b.offset();
    for (int i = 0; i < b.lengthBytes(); i++) {
      m.set(ValueLayout.JAVA_BYTE, at + i, (byte) random.nextInt());
    }
    if (b.lengthBytes() >= Wire.COMMON_BYTES) {
      // Of groups that are not joined only few: they wait, as they should.
      int of = random.nextInt(50) == 0 ? GROUPS + random.nextInt(10) : group;
      int call = random.nextInt(4) == 0 ? random.nextInt() : random.nextInt(2);
      long consumed = random.nextInt(4) == 0 ? random.nextLong() : 0;
      int kind = random.nextInt(30) == 0 ? random.nextInt(256) : Wire.DATA;
      int use = random.nextInt(50) == 0 ? random.nextInt(256) : 0;
      Wire.common(m, at, kind, use, of, call, consumed);
    }
    if (b.lengthBytes() >= Wire.DATA_BYTES && random.nextBoolean()) {
      Wire.data(m, at, random.nextInt(), random.nextInt(2), random.nextInt(2));
    }
  }
}
