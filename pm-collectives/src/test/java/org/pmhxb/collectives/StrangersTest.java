package org.pmhxb.collectives;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.pmhxb.collectives.algorithm.StandardAlgorithms;

/**
 * What comes of a group that a node has not joined yet holds up none that it has joined, nor what
 * it is told of its peers (PROTOCOL.md section 12).
 */
class StrangersTest {
  private static final int ROUNDS = 200_000;

  private static MemorySegment bytes(int length) {
    return MemorySegment.ofArray(new byte[length]);
  }

  private static RingMembers members(int nodes, CollectiveLimits limits) {
    return new RingMembers(nodes, StandardAlgorithms.registry(), limits);
  }

  private static void rounds(RingMembers members, CollectiveCall until) {
    for (int i = 0; i < ROUNDS && (until == null || !until.isDone()); i++) {
      members.round();
    }
  }

  /** The root's call of a gather that only the last member has not come to yet. */
  private static CollectiveCall allButTheLastGather(RingMembers members, List<Communicator> group) {
    group.forEach(c -> c.use(Collective.GATHER, "linear"));
    CollectiveCall atRoot = group.get(0).gather(bytes(8), bytes(8 * group.size()), 0);
    List<CollectiveCall> early = new ArrayList<>();
    for (int rank = 1; rank < group.size() - 1; rank++) {
      early.add(group.get(rank).gather(bytes(8), MemorySegment.NULL, 0));
    }
    members.untilDone(early);
    return atRoot;
  }

  @Test
  void aGroupGoesOnWhileMembersAreInTheNextOne() {
    int nodes = 8;
    int[] all = {0, 1, 2, 3, 4, 5, 6, 7};
    try (RingMembers members = members(nodes, CollectiveLimits.defaults())) {
      List<Communicator> first = members.join(1, all);
      CollectiveCall atRoot = allButTheLastGather(members, first);
      List<CollectiveCall> ahead = new ArrayList<>();
      List<Communicator> second = new ArrayList<>();
      for (int rank = 1; rank < nodes; rank++) {
        Communicator c = members.at(rank).join(Group.of(2, rank, all), Topology.flat());
        c.use(Collective.GATHER, "linear");
        second.add(c);
        if (rank < nodes - 1) {
          ahead.add(c.gather(bytes(1 << 20), MemorySegment.NULL, 0));
        }
      }
      rounds(members, null);
      assertThat(ahead).as("no more than the root keeps").noneMatch(CollectiveCall::isDone);

      CollectiveCall late = first.get(7).gather(bytes(8), MemorySegment.NULL, 0);
      members.untilDone(List.of(late, atRoot));

      Communicator root = members.at(0).join(Group.of(2, 0, all), Topology.flat());
      root.use(Collective.GATHER, "linear");
      ahead.add(second.get(6).gather(bytes(1 << 20), MemorySegment.NULL, 0));
      ahead.add(root.gather(bytes(1 << 20), bytes(nodes << 20), 0));
      members.untilDone(ahead);
      assertThat(ahead).allMatch(call -> call.failure() == null);
    }
  }

  /** The number itself is left and joined again by those who are done. */
  @Test
  void aGroupGoesOnWhileMembersAreInItsNextUse() {
    int nodes = 8;
    int[] all = {0, 1, 2, 3, 4, 5, 6, 7};
    try (RingMembers members = members(nodes, CollectiveLimits.defaults())) {
      List<Communicator> use = members.join(1, all);
      CollectiveCall atRoot = allButTheLastGather(members, use);
      for (int rank = 1; rank < nodes - 1; rank++) {
        use.get(rank).close();
        Communicator next = members.at(rank).join(Group.of(1, rank, all), Topology.flat());
        next.use(Collective.GATHER, "linear");
        next.gather(bytes(1 << 20), MemorySegment.NULL, 0);
      }
      rounds(members, null);
      CollectiveCall late = use.get(7).gather(bytes(8), MemorySegment.NULL, 0);
      members.untilDone(List.of(late, atRoot));
      assertThat(atRoot.failure()).isNull();
    }
  }

  @Test
  void aDeathIsHeardOfBesideThem() {
    try (RingMembers members = members(4, new CollectiveLimits(1 << 16, 4_096))) {
      List<Communicator> first = members.join(1, 0, 3);
      members.untilDone(
          List.of(first.get(0).broadcast(bytes(8), 1), first.get(1).broadcast(bytes(8), 1)));
      CollectiveCall waits = first.get(0).broadcast(bytes(8), 1);
      Communicator ahead = members.at(1).join(Group.of(2, 1, 0, 1), Topology.flat());
      ahead.broadcast(bytes(30_000), 1);
      rounds(members, null);
      members.stop(3);
      rounds(members, waits);
      assertThat(waits.isDone()).isTrue();
      assertThat(waits.failure()).hasMessageContaining("down");
    }
  }

  /** A part of the window may be used there without a word of it. */
  @Test
  void longMessagesFollowShortOnesThroughTheSmallestWindow() {
    try (RingMembers members = members(2, new CollectiveLimits(4_096, 4_096))) {
      List<Communicator> group = members.join(1, 0, 1);
      for (int length : new int[] {500, 4_000, 8_000, 100, 3_000, 60_000}) {
        members.untilDone(
            List.of(
                group.get(0).broadcast(bytes(length), 0),
                group.get(1).broadcast(bytes(length), 0)));
      }
    }
  }
}
