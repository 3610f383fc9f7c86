package org.pmhxb.collectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.collectives.algorithm.StandardAlgorithms;
import org.pmhxb.pm.PeerDownException;
import org.pmhxb.router.Shape;
import org.pmhxb.router.fabric.RingCluster;

/** Calls as a program makes them: matching, bounds, refusals, the end of a group. */
class CommunicatorTest {
  private static final int NODES = 4;
  private static final Shape SIX = Shape.of(3, 2);
  private static final long ALLOCATION_CALLS = 50;

  private RingMembers members;

  @BeforeEach
  void up() {
    members =
        new RingMembers(NODES, StandardAlgorithms.registry(), new CollectiveLimits(1 << 16, 4_096));
  }

  @AfterEach
  void down() {
    members.close();
  }

  private static MemorySegment ints(int... values) {
    return MemorySegment.ofArray(values);
  }

  private static int intAt(MemorySegment memory, int i) {
    return memory.getAtIndex(ValueLayout.JAVA_INT, i);
  }

  @Test
  void groupsInAnyOrderSideBySideOnOneEndpoint() {
    List<Communicator> all = members.join(1, 0, 1, 2, 3);
    List<Communicator> some = members.join(2, 3, 1);
    List<CollectiveCall> calls = new ArrayList<>();
    List<MemorySegment> sums = new ArrayList<>();
    for (int r = 0; r < NODES; r++) {
      sums.add(ints(0));
      calls.add(all.get(r).allreduce(ints(1 << r), sums.get(r), ElementType.INT, ReduceOp.SUM));
    }
    MemorySegment gathered = ints(0, 0);
    calls.add(some.get(0).gather(ints(33), gathered, 0));
    calls.add(some.get(1).gather(ints(11), MemorySegment.NULL, 0));

    members.untilDone(calls);

    calls.forEach(CollectiveCall::check);
    assertThat(sums).allSatisfy(s -> assertThat(intAt(s, 0)).isEqualTo(15));
    assertThat(gathered.toArray(ValueLayout.JAVA_INT)).containsExactly(33, 11);
  }

  @Test
  void aMemberThatIsLateFindsWhatCameBeforeIt() {
    List<Communicator> three = new ArrayList<>();
    for (int node : new int[] {0, 1, 2}) {
      three.add(members.at(node).join(Group.of(1, node, 0, 1, 2, 3), Topology.flat()));
    }
    three.forEach(c -> c.use(Collective.BROADCAST, "chain"));
    for (int call = 0; call < 5; call++) {
      // The chain's last member is not there yet: the others go on without it.
      List<CollectiveCall> calls = new ArrayList<>();
      for (int r = 0; r < 3; r++) {
        calls.add(three.get(r).broadcast(ints(r == 0 ? 70 + call : 0, 5), 0));
      }
      members.untilDone(calls);
    }

    Communicator late = members.at(3).join(Group.of(1, 3, 0, 1, 2, 3), Topology.flat());
    late.use(Collective.BROADCAST, "chain");
    for (int call = 0; call < 5; call++) {
      MemorySegment got = ints(0, 0);
      late.broadcast(got, 0).await(members.others());
      assertThat(intAt(got, 0)).isEqualTo(70 + call);
    }
  }

  @Test
  void whatASenderMaySendUnaskedIsBounded() {
    List<Communicator> both = members.join(1, 0, 1);
    members.untilDone(
        List.of(both.get(0).broadcast(ints(1), 1), both.get(1).broadcast(ints(1), 1)));
    Unasked unasked = sendUnasked(both.get(0), call -> MemorySegment.ofArray(new byte[8_192]));
    int sent = unasked.sent();

    // 64 KB of window, since the other was heard of, and 64 B more a message.
    assertThat(sent).isBetween(6, 8);
    assertThat(members.at(1).earlyCopies() + members.at(1).earlyLoans()).isPositive();
    for (int i = 0; i <= sent; i++) {
      both.get(1).broadcast(MemorySegment.ofArray(new byte[8_192]), 0).await(members.others());
    }
    members.until(unasked.waits()::isDone);
    unasked.waits().check();
  }

  /**
   * Broadcasts in which nobody else takes part yet.
   *
   * @param sent that were done
   * @param waits the next
   */
  private record Unasked(int sent, CollectiveCall waits) {}

  private Unasked sendUnasked(Communicator root, IntFunction<MemorySegment> messages) {
    for (int sent = 0; ; sent++) {
      CollectiveCall call = root.broadcast(messages.apply(sent), 0);
      for (int i = 0; i < 20_000 && !call.isDone(); i++) {
        members.round();
      }
      if (!call.isDone()) {
        return new Unasked(sent, call);
      }
    }
  }

  /** Short ones too: each counts for 64 bytes more than it has, and takes no frame's length. */
  @Test
  void whatComesBeforeItsTurnIsKeptInTwiceTheWindow() {
    List<Communicator> both = members.join(1, 0, 1);
    members.untilDone(
        List.of(both.get(0).broadcast(ints(1), 1), both.get(1).broadcast(ints(1), 1)));
    Unasked unasked = sendUnasked(both.get(0), call -> ints(call));
    int sent = unasked.sent();

    assertThat(sent).as("64 KB of 4 B each").isBetween(900, 1_000);
    assertThat(members.at(1).earlyCopies()).isEqualTo(sent);
    assertThat(members.at(1).store().slotBytes()).isLessThanOrEqualTo(2 << 16);
    MemorySegment got = ints(0);
    for (int i = 0; i <= sent; i++) {
      both.get(1).broadcast(got, 0).await(members.others());
      assertThat(intAt(got, 0)).isEqualTo(i);
    }
    members.until(unasked.waits()::isDone);
    both.get(1).close();
    assertThat(members.at(1).store().slotBytes())
        .as("64 slots, behind the group that needed more")
        .isEqualTo(64 * 64);
  }

  @Test
  void messagesOfAGroupNotJoinedYetWaitEvenBeyondTheirBound() {
    Communicator first = members.at(0).join(Group.of(1, 0, 0, 1), Topology.flat());
    CollectiveCall call = first.broadcast(MemorySegment.ofArray(new byte[30_000]), 0);
    members.rounds(20_000);
    MemorySegment got = MemorySegment.ofArray(new byte[30_000]);

    Communicator second = members.at(1).join(Group.of(1, 1, 0, 1), Topology.flat());
    second.broadcast(got, 0).await(members.others());

    members.until(call::isDone);
    call.check();
  }

  @Test
  void membersThatMakeDifferentCallsHearOfItAllOfThem() {
    List<Communicator> all = members.join(1, 0, 1, 2, 3);
    List<CollectiveCall> calls = new ArrayList<>();
    for (int r = 0; r < NODES; r++) {
      MemorySegment memory = ints(1, 2, 3);
      calls.add(
          r == 2
              ? all.get(r).allreduce(memory, memory, ElementType.INT, ReduceOp.MAX)
              : all.get(r).allreduce(memory, memory, ElementType.INT, ReduceOp.SUM));
    }

    members.until(
        () -> {
          // Those who are done hear of it in their next call.
          for (int r = 0; r < NODES; r++) {
            if (calls.get(r).isDone() && calls.get(r).failure() == null) {
              MemorySegment memory = ints(1, 2, 3);
              all.get(r).allreduce(memory, memory, ElementType.INT, ReduceOp.SUM);
            }
          }
          return calls.stream().allMatch(c -> c.isDone() && c.failure() != null);
        });

    assertThat(calls)
        .allSatisfy(c -> assertThat(c.failure()).isInstanceOf(CollectiveException.class));
    assertThatThrownBy(() -> all.get(0).broadcast(ints(1), 0).check())
        .isInstanceOf(CollectiveException.class)
        .hasMessageContaining("makes");
  }

  @Test
  void theOthersHearOfAMemberThatIsGone() {
    List<Communicator> all = members.join(1, 0, 1, 2, 3);
    List<CollectiveCall> calls = new ArrayList<>();
    for (int r = 0; r < 3; r++) {
      all.get(r).use(Collective.BROADCAST, "chain");
      calls.add(all.get(r).broadcast(ints(r), 0));
    }
    members.untilDone(calls.subList(0, 3));
    members.stop(3);
    calls.clear();
    for (int r = 0; r < 3; r++) {
      calls.add(all.get(r).allreduce(ints(r), ints(0), ElementType.INT, ReduceOp.SUM));
    }

    members.untilDone(calls);

    assertThat(calls)
        .allSatisfy(
            c ->
                assertThatThrownBy(c::check)
                    .isInstanceOf(PeerDownException.class)
                    .hasMessageContaining("node 3"));
    List<Communicator> without = members.join(2, 0, 1, 2);
    calls.clear();
    List<MemorySegment> sums = List.of(ints(0), ints(0), ints(0));
    for (int r = 0; r < 3; r++) {
      calls.add(without.get(r).allreduce(ints(r), sums.get(r), ElementType.INT, ReduceOp.SUM));
    }
    members.untilDone(calls);
    assertThat(sums).allSatisfy(s -> assertThat(intAt(s, 0)).isEqualTo(3));
  }

  @Test
  void plansAreBoundedWhateverLengthsCallsHave() {
    List<Communicator> both = members.join(1, 0, 1);
    for (int length = 1; length <= 2_000; length++) {
      byte[] sent = new byte[length];
      byte[] got = new byte[length];
      sent[length - 1] = (byte) length;
      List<CollectiveCall> calls =
          List.of(
              both.get(0).broadcast(MemorySegment.ofArray(sent), 0),
              both.get(1).broadcast(MemorySegment.ofArray(got), 0));
      members.untilDone(calls);
      calls.forEach(CollectiveCall::check);
      assertThat(got[length - 1]).isEqualTo((byte) length);
    }
    assertThat(both).allSatisfy(c -> assertThat(c.planCount()).isEqualTo(256 + 2 * 2));
  }

  @Test
  void groupsThatAreLeftCostNothingAnyMore() {
    for (int i = 0; i < 10_000; i++) {
      List<Communicator> both = members.join(i % 2_500, 0, 1);
      MemorySegment got = ints(0);
      CollectiveCall sent = both.get(0).broadcast(ints(i), 0);
      members.until(sent::isDone);
      both.get(0).close();
      both.get(1).broadcast(got, 0).await(members.others());
      sent.check();
      both.get(1).close();
      assertThat(intAt(got, 0)).isEqualTo(i);
    }
    members.until(() -> members.at(0).isSettled() && members.at(1).isSettled());
    for (int node = 0; node < 2; node++) {
      assertThat(members.at(node).groups()).isZero();
      assertThat(members.at(node).store().heldBytes()).isZero();
      assertThat(members.at(node).malformed()).isZero();
    }
  }

  @Test
  void whoStaysInAGroupHearsThatAnotherHasLeftAndSendsItNoData() {
    List<Communicator> before = members.join(1, 0, 1);
    before.get(0).close();
    Communicator again = members.at(0).join(Group.of(1, 0, 0, 1), Topology.flat());
    MemorySegment got = ints(0);
    CollectiveCall waits = again.broadcast(got, 1);

    CollectiveCall astray = before.get(1).broadcast(ints(111), 1);
    MemorySegment memory = ints(0);
    members.until(() -> members.at(0).late() == 1);
    members.untilDone(List.of(astray));
    // It has sent all, so it hears of it in its next call.
    CollectiveCall next = before.get(1).broadcast(memory, 0);
    members.untilDone(List.of(next));

    assertThatThrownBy(next::check)
        .isInstanceOf(CollectiveException.class)
        .hasMessageContaining("node 0 has left it");
    assertThat(waits.isDone()).as("what was sent before is not for this").isFalse();
    before.get(1).close();
    Communicator other = members.at(1).join(Group.of(1, 1, 0, 1), Topology.flat());
    other.broadcast(ints(222), 1).await(members.others());
    members.untilDone(List.of(waits));
    waits.check();
    assertThat(intAt(got, 0)).isEqualTo(222);
    members.until(() -> members.at(0).isSettled() && members.at(1).isSettled());
    assertThat(members.at(0).late()).as("its data, and that its group is broken").isEqualTo(2);
  }

  @Test
  void whoIsLateInLeavingFindsWhatTheOthersSentSince() {
    List<Communicator> before = members.join(1, 0, 1);
    MemorySegment got = ints(0);
    CollectiveCall waits = before.get(1).broadcast(got, 0);
    before.get(0).close();
    Communicator again = members.at(0).join(Group.of(1, 0, 0, 1), Topology.flat());
    CollectiveCall sent = again.broadcast(ints(222), 0);

    members.untilDone(List.of(waits));

    assertThatThrownBy(waits::check)
        .isInstanceOf(CollectiveException.class)
        .hasMessageContaining("node 0 has left it");
    assertThat(intAt(got, 0)).as("of the next use").isZero();
    assertThatThrownBy(() -> before.get(0).broadcast(ints(1), 0))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("is closed");
    before.get(1).close();
    before.get(1).close();
    Communicator other = members.at(1).join(Group.of(1, 1, 0, 1), Topology.flat());
    other.broadcast(got, 0).await(members.others());
    assertThat(intAt(got, 0)).isEqualTo(222);
    sent.check();
  }

  @Test
  void aCallThatIsGivenUpEndsAtTheOthers() {
    List<Communicator> all = members.join(1, 0, 1, 2, 3);
    List<CollectiveCall> calls = new ArrayList<>();
    for (int r = 0; r < 3; r++) {
      calls.add(all.get(r).allreduce(ints(r), ints(0), ElementType.INT, ReduceOp.SUM));
    }

    all.get(0).close();
    members.untilDone(calls);

    assertThatThrownBy(calls.get(0)::check).hasMessageContaining("was given up");
    assertThat(calls.subList(1, 3))
        .allSatisfy(
            c ->
                assertThatThrownBy(c::check)
                    .isInstanceOf(CollectiveException.class)
                    .hasMessageContaining("node 0 has left it"));
    CollectiveCall late = all.get(3).allreduce(ints(3), ints(0), ElementType.INT, ReduceOp.SUM);
    members.untilDone(List.of(late));
    assertThatThrownBy(late::check).hasMessageContaining("node 0 has left it");
  }

  @Test
  void whoClosesABrokenGroupHasToldTheOthers() {
    List<Communicator> all = members.join(1, 0, 1, 2, 3);
    List<CollectiveCall> calls = new ArrayList<>();
    all.forEach(c -> calls.add(c.allgather(ints(1), ints(0, 0, 0, 0))));
    members.untilDone(calls);
    calls.clear();
    for (int r = 0; r < 3; r++) {
      calls.add(all.get(r).allreduce(ints(r), ints(0), ElementType.INT, ReduceOp.SUM));
    }
    members.stop(3);
    members.until(
        () -> {
          for (int r = 0; r < 3; r++) {
            if (calls.get(r).isDone()) {
              all.get(r).close();
            }
          }
          return calls.stream().allMatch(CollectiveCall::isDone);
        });

    assertThat(calls)
        .allSatisfy(
            c ->
                assertThatThrownBy(c::check)
                    .isInstanceOf(PeerDownException.class)
                    .hasMessageContaining("node 3"));
    members.until(() -> IntStream.range(0, 3).allMatch(n -> members.at(n).isSettled()));
    assertThatThrownBy(() -> members.at(0).join(Group.of(1, 0, 0, 1, 2, 3), Topology.flat()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("node 3 was down")
        .hasMessageContaining("another number");
  }

  /** From rank 7 to 0 to 5: those between them in the circle have nothing to do. */
  private static final class Through implements Algorithm {
    @Override
    public Collective collective() {
      return Collective.BROADCAST;
    }

    @Override
    public String name() {
      return "through";
    }

    @Override
    public double predictNs(Problem p, CostModel model) {
      return 0;
    }

    @Override
    public void plan(Problem p, PlanBuilder plan) {
      switch (p.rank()) {
        case 7 -> plan.send(0, Area.OUTPUT, 0, p.blockBytes());
        case 0 -> {
          plan.receive(7, Area.OUTPUT, 0, p.blockBytes());
          plan.send(5, Area.OUTPUT, 0, p.blockBytes());
        }
        case 5 -> plan.receive(0, Area.OUTPUT, 0, p.blockBytes());
        default -> {
          // Done at once.
        }
      }
    }
  }

  /** Those who have left pass on nothing: who waits for a member is told by that member. */
  @Test
  void aDeathIsToldPastThoseWhoHaveLeft() {
    members.close();
    members =
        new RingMembers(
            RingCluster.Options.of(Shape.of(8), 1).withPeerTimeoutNs(50_000_000L),
            StandardAlgorithms.registry().with(new Through()),
            CollectiveLimits.defaults());
    List<Communicator> all = members.join(1, 0, 1, 2, 3, 4, 5, 6, 7);
    List<CollectiveCall> calls = new ArrayList<>();
    for (int r = 0; r < 7; r++) {
      all.get(r).use(Collective.BROADCAST, "through");
      calls.add(all.get(r).broadcast(ints(0), 7));
      if (r != 0 && r != 5) {
        calls.get(r).check();
        all.get(r).close();
      }
    }
    members.stop(7);

    members.untilDone(calls);

    assertThatThrownBy(calls.get(5)::check)
        .isInstanceOf(PeerDownException.class)
        .hasMessageContaining("node 7");
  }

  /** All of a 3x2 crossbar, by these algorithms. */
  private List<Communicator> sixWith(Collective first, String algorithm) {
    beSix();
    List<Communicator> all = new ArrayList<>();
    for (int r = 0; r < 6; r++) {
      all.add(oneOfSix(r, first, algorithm));
    }
    return all;
  }

  private void beSix() {
    members.close();
    members =
        new RingMembers(
            RingCluster.Options.of(SIX, 1).withPeerTimeoutNs(50_000_000L),
            StandardAlgorithms.registry(),
            CollectiveLimits.defaults());
  }

  private Communicator oneOfSix(int rank, Collective first, String algorithm) {
    Group group = Group.of(1, rank, 0, 1, 2, 3, 4, 5);
    Communicator joined = members.at(rank).join(group, Topology.crossbar(SIX));
    joined.use(first, algorithm);
    joined.use(Collective.BROADCAST, "crossbar");
    return joined;
  }

  /** It has nothing to send to who broke the group, and no other partner. */
  @Test
  void whoWaitsInALaterCallIsToldOfADeathToo() {
    List<Communicator> all = sixWith(Collective.GATHER, "linear");
    MemorySegment six = ints(0, 0, 0, 0, 0, 0);
    CollectiveCall gathers = all.get(0).gather(ints(0), six, 0);
    List<CollectiveCall> early = new ArrayList<>();
    for (int r : new int[] {1, 2, 3, 5}) {
      early.add(all.get(r).gather(ints(r), MemorySegment.NULL, 0));
    }
    members.untilDone(early);
    List<CollectiveCall> later = new ArrayList<>();
    for (int r : new int[] {1, 2, 5}) {
      later.add(all.get(r).broadcast(ints(7, 7), 2));
    }
    CollectiveCall waits = all.get(3).broadcast(ints(0, 0), 2);
    members.untilDone(later);
    members.until(() -> all.get(1).isSettled() && all.get(2).isSettled() && all.get(5).isSettled());
    for (int r : new int[] {1, 2, 5}) {
      all.get(r).close();
    }
    assertThat(waits.isDone()).isFalse();

    members.stop(4);
    members.untilDone(List.of(gathers, waits));

    for (CollectiveCall call : List.of(gathers, waits)) {
      assertThatThrownBy(call::check)
          .isInstanceOf(PeerDownException.class)
          .hasMessageContaining("node 4");
    }
  }

  /** When who breaks the group is asked. */
  private enum Asks {
    BEFORE_IT_JOINS,
    BEFORE_IT_BREAKS,
    WHEN_IT_HAS_LEFT
  }

  /** Nothing was exchanged with who breaks the group. */
  @ParameterizedTest
  @EnumSource
  void whoHasAskedInALaterCallIsToldOfADeathToo(Asks asks) {
    beSix();
    List<Communicator> all = new ArrayList<>();
    all.add(null);
    for (int r = 1; r < 6; r++) {
      all.add(oneOfSix(r, Collective.REDUCE, "binomial"));
    }
    if (asks != Asks.BEFORE_IT_JOINS) {
      all.set(0, oneOfSix(0, Collective.REDUCE, "binomial"));
    }
    List<CollectiveCall> early = new ArrayList<>();
    for (int r : new int[] {1, 2, 3, 5}) {
      early.add(all.get(r).reduce(ints(r), MemorySegment.NULL, ElementType.INT, ReduceOp.SUM, 0));
    }
    members.untilDone(early);
    List<CollectiveCall> later = new ArrayList<>();
    for (int r : new int[] {1, 2, 5}) {
      later.add(all.get(r).broadcast(ints(7, 7), 2));
    }
    members.untilDone(later);
    members.until(() -> all.get(1).isSettled() && all.get(2).isSettled() && all.get(5).isSettled());
    for (int r : new int[] {1, 2, 5}) {
      all.get(r).close();
    }
    CollectiveCall waits = null;
    if (asks != Asks.WHEN_IT_HAS_LEFT) {
      waits = all.get(3).broadcast(ints(0, 0), 2);
      members.rounds(1_000);
    }
    if (asks == Asks.BEFORE_IT_JOINS) {
      all.set(0, oneOfSix(0, Collective.REDUCE, "binomial"));
    }
    CollectiveCall reduces = all.get(0).reduce(ints(0), ints(0), ElementType.INT, ReduceOp.SUM, 0);
    members.stop(4);
    members.untilDone(List.of(reduces));
    if (asks == Asks.WHEN_IT_HAS_LEFT) {
      all.get(0).close();
      waits = all.get(3).broadcast(ints(0, 0), 2);
    }
    members.untilDone(List.of(waits));
    for (CollectiveCall call : List.of(reduces, waits)) {
      assertThatThrownBy(call::check)
          .isInstanceOf(PeerDownException.class)
          .hasMessageContaining("node 4");
    }
  }

  /** Had it come a moment later, it had been answered. */
  @Test
  void whoseMessageWaitsWhenAMemberLeavesIsTold() {
    List<Communicator> both = members.join(1, 0, 1);
    CollectiveCall call = both.get(1).allreduce(ints(1), ints(0), ElementType.INT, ReduceOp.SUM);
    members.until(() -> members.at(0).earlyCopies() == 1);
    both.get(0).close();

    members.untilDone(List.of(call));
    assertThatThrownBy(call::check)
        .isInstanceOf(CollectiveException.class)
        .hasMessageContaining("node 0 has left it");
  }

  /** It waits for what that member makes no call to send, and asks before it leaves or behind. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whoHasAskedAMemberThatLeavesIsTold(boolean asksBefore) {
    List<Communicator> both = members.join(1, 0, 1);
    CollectiveCall call = null;
    if (asksBefore) {
      call = both.get(1).broadcast(ints(0), 0);
      members.rounds(1_000);
      assertThat(call.isDone()).isFalse();
    }
    both.get(0).close();
    if (!asksBefore) {
      call = both.get(1).broadcast(ints(0), 0);
    }

    members.untilDone(List.of(call));
    assertThatThrownBy(call::check)
        .isInstanceOf(CollectiveException.class)
        .hasMessageContaining("node 0 has left it");
  }

  /** It waits for credit that nobody gives any more. */
  @Test
  void whoseLongMessageWaitsWhenAMemberLeavesIsTold() {
    List<Communicator> both = members.join(1, 0, 1);
    CollectiveCall call = both.get(1).broadcast(MemorySegment.ofArray(new byte[1 << 20]), 1);
    members.until(() -> members.at(0).earlyCopies() + members.at(0).earlyLoans() > 0);
    members.rounds(10_000);
    assertThat(call.isDone()).isFalse();
    both.get(0).close();

    members.untilDone(List.of(call));
    assertThatThrownBy(call::check).hasMessageContaining("node 0 has left it");
  }

  /** Before the call began or in it: nobody takes it. */
  @Test
  void whatCameBeforeACallThatHasNoUseForItBreaksTheGroup() {
    List<Communicator> all = members.join(1, 0, 1, 2);
    all.forEach(c -> c.use(Collective.BROADCAST, "binomial"));
    CollectiveCall sends = all.get(2).broadcast(ints(7), 2);
    members.until(() -> members.at(0).earlyCopies() == 1);
    CollectiveCall other = all.get(0).broadcast(ints(0), 1);
    CollectiveCall receives = all.get(1).broadcast(ints(0), 2);
    members.untilDone(List.of(sends, other, receives));
    assertThatThrownBy(other::check)
        .isInstanceOf(CollectiveException.class)
        .hasMessageContainingAll("node 2", "has no use for");
  }

  /** Its node goes on, so that no end of a session tells. */
  @Test
  void whoWaitsWhenAMemberClosesItsCollectivesIsTold() {
    List<Communicator> both = members.join(1, NODES - 2, NODES - 1);
    List<CollectiveCall> calls = new ArrayList<>();
    for (Communicator c : both) {
      MemorySegment much = ints(new int[1 << 18]);
      calls.add(c.allreduce(much, much, ElementType.INT, ReduceOp.SUM));
    }
    members.rounds(20);
    assertThat(calls).noneMatch(CollectiveCall::isDone);
    members.closeLast();

    members.untilDone(calls);
    assertThatThrownBy(calls.getFirst()::check)
        .isInstanceOf(CollectiveException.class)
        .hasMessageContaining("node " + (NODES - 1) + " has left it");
  }

  /** Nobody can be told yet, for there is no session. */
  @Test
  void collectivesAreClosedOnceHoweverOften() {
    Communicator first = members.join(1, 0, 1, 2, 3).getFirst();
    CollectiveCall call = first.allreduce(ints(1), ints(0), ElementType.INT, ReduceOp.SUM);
    members.at(0).close();
    assertThatThrownBy(call::check).hasMessageContaining("was given up");
    assertThatCode(members.at(0)::close).doesNotThrowAnyException();
  }

  /** Of the two that it divides, one waits for the other. */
  @Test
  void whatNoCallTookIsFoundAtTheEndOfItsCall() {
    List<Communicator> all = members.join(1, 0, 1, 2);
    all.forEach(c -> c.use(Collective.GATHER, "linear"));
    CollectiveCall astray = all.get(2).gather(ints(2), MemorySegment.NULL, 0);
    members.until(() -> members.at(0).earlyCopies() == 1);
    CollectiveCall sends = all.get(0).gather(ints(0), MemorySegment.NULL, 1);
    CollectiveCall waits = all.get(1).gather(ints(1), ints(0, 0, 0), 1);
    members.untilDone(List.of(astray, sends, waits));
    assertThatThrownBy(waits::check)
        .isInstanceOf(CollectiveException.class)
        .hasMessageContaining("node 2");
  }

  @Test
  void aNumberIsJoinedAgainByTheSameMembersSoOften() {
    for (int i = 0; i < 256; i++) {
      members.join(1, 0, 1).forEach(Communicator::close);
    }
    assertThatThrownBy(() -> members.join(1, 0, 1)).hasMessageContaining("it was joined 256 times");
    members.join(2, 0, 1).forEach(Communicator::close);
    assertThatThrownBy(() -> members.join(2, 0, 2)).hasMessageContaining("other members had it");
    assertThatThrownBy(() -> members.join(2, 1, 0)).hasMessageContaining("other members had it");
    assertThatThrownBy(() -> members.join(3, 0, 4)).hasMessageContaining("nodes are 0..3");
    members.join(3, 0, 1);
  }

  private void nodeThreeCannotBeReached() {
    members.close();
    members =
        new RingMembers(
            RingCluster.Options.of(Shape.of(NODES), 1).withPeerTimeoutNs(50_000_000L),
            StandardAlgorithms.registry(),
            CollectiveLimits.defaults());
    members.stop(3);
  }

  /** That a node cannot be reached is told once: a group that is joined later hears of it too. */
  @Test
  void aGroupWithANodeThatCannotBeReachedEnds() {
    nodeThreeCannotBeReached();
    for (int number = 1; number <= 3; number++) {
      Communicator c = members.at(0).join(Group.of(number, 0, 0, 3), Topology.flat());
      CollectiveCall call = c.broadcast(ints(0), 1);
      members.untilDone(List.of(call));
      assertThatThrownBy(call::check)
          .as("group %d", number)
          .isInstanceOf(PeerDownException.class)
          .hasMessageContaining("node 3");
    }
  }

  /** Nobody says again that a node cannot be reached: who has nothing to do with it settles too. */
  @Test
  void aBrokenGroupWithANodeThatCannotBeReachedSettles() {
    nodeThreeCannotBeReached();
    for (int n = 0; n < 3; n++) {
      try (Communicator c = members.at(n).join(Group.of(n + 1, n, n, 3), Topology.flat())) {
        CollectiveCall call = c.broadcast(ints(0), 1);
        members.untilDone(List.of(call));
        assertThat(call.failure()).isInstanceOf(PeerDownException.class);
      }
    }
    List<CollectiveCall> calls = new ArrayList<>();
    for (int n = 0; n < 3; n++) {
      Communicator c = members.at(n).join(Group.of(9, n, 0, 1, 2, 3), Topology.flat());
      c.use(Collective.ALLREDUCE, "ring");
      calls.add(c.allreduce(ints(1), ints(0), ElementType.INT, ReduceOp.SUM));
    }

    members.untilDone(calls);

    assertThat(calls)
        .allSatisfy(c -> assertThat(c.failure()).isInstanceOf(PeerDownException.class));
    members.until(() -> IntStream.range(0, 3).allMatch(n -> members.at(n).isSettled()));
  }

  /** Others may break the group between its end and its check. */
  @Test
  void aCallThatSucceededStaysSo() {
    List<Communicator> all = members.join(1, 0, 1, 2);
    MemorySegment sum = ints(0);
    List<CollectiveCall> calls = new ArrayList<>();
    for (int r = 0; r < 3; r++) {
      MemorySegment out = r == 0 ? sum : ints(0);
      calls.add(all.get(r).allreduce(ints(r + 1), out, ElementType.INT, ReduceOp.SUM));
    }
    members.untilDone(calls);

    all.get(1).abandon();
    members.until(() -> members.at(1).isSettled());
    members.rounds(100);

    calls.forEach(CollectiveCall::check);
    assertThat(intAt(sum, 0)).isEqualTo(6);
    assertThatThrownBy(() -> all.get(0).broadcast(ints(1), 0).check())
        .isInstanceOf(PeerDownException.class);
  }

  /** Of {0, 31} and {1, 0} a plain hash of the list is the same, of {5, 0, 40}, {5, 1, 9} too. */
  @Test
  void otherMembersAreNeverTakenForTheSame() {
    members.close();
    members = new RingMembers(32, StandardAlgorithms.registry(), CollectiveLimits.defaults());
    members.join(1, 0, 31).forEach(Communicator::close);
    assertThatThrownBy(() -> members.at(0).join(Group.of(1, 0, 1, 0), Topology.flat()))
        .hasMessageContaining("other members had it");
  }

  /** Two members that are wrong in two ways at once must not seem to agree. */
  @Test
  void callsOfOtherLengthsAndRootsHaveOtherSignatures() {
    Set<Integer> seen = new HashSet<>();
    for (int bytes = 1; bytes <= 128; bytes++) {
      for (int root = 0; root < 64; root++) {
        seen.add(Communicator.signature(Collective.BROADCAST, "binomial", bytes, root, 0));
      }
    }
    assertThat(seen).hasSize(128 * 64);
  }

  /** A message that no call took is found when the next is expected, and does not stop it. */
  @Test
  void whatNoCallTookEndsTheNext() {
    List<Communicator> both = members.join(1, 0, 1);
    CollectiveCall sent = both.get(1).broadcast(ints(111), 1);
    members.until(() -> members.at(0).earlyCopies() == 1);
    both.get(0).broadcast(MemorySegment.ofArray(new byte[0]), 1).check();

    CollectiveCall next = both.get(0).broadcast(ints(0), 1);
    members.untilDone(List.of(sent, next));

    assertThatThrownBy(next::check)
        .isInstanceOf(CollectiveException.class)
        .hasMessageContaining("no call of this node took");
  }

  @Test
  void messagesCostNoGarbage() {
    List<Communicator> both = members.join(1, 0, 1);
    var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    long messages = ALLOCATION_CALLS * 2 * (800_000 / 8_900);
    double leastBytes = Double.MAX_VALUE;
    for (int round = 0; round < 50 && leastBytes >= 0.5; round++) {
      long shortBytes = allocated(threads, both, 8_000);
      long longBytes = allocated(threads, both, 800_000);
      // From the third on everything is made that is used again; of those, what was compiled
      // counts.
      double bytes = (double) (longBytes - shortBytes) / messages;
      leastBytes = round < 2 ? leastBytes : Math.min(leastBytes, bytes);
    }

    assertThat(leastBytes).as("bytes per message").isLessThan(0.5);
  }

  /** Bytes that this thread allocates in some allreduces of that length. */
  private long allocated(
      com.sun.management.ThreadMXBean threads, List<Communicator> both, int bytes) {
    MemorySegment a = MemorySegment.ofArray(new byte[bytes]);
    MemorySegment b = MemorySegment.ofArray(new byte[bytes]);
    long before = threads.getCurrentThreadAllocatedBytes();
    for (int i = 0; i < ALLOCATION_CALLS; i++) {
      CollectiveCall first = both.get(0).allreduce(a, a, ElementType.LONG, ReduceOp.XOR);
      CollectiveCall second = both.get(1).allreduce(b, b, ElementType.LONG, ReduceOp.XOR);
      while (!first.isDone() || !second.isDone()) {
        members.round();
      }
      first.check();
    }
    return threads.getCurrentThreadAllocatedBytes() - before;
  }

  /** Found out when data come, it would be an exception of a poll, and data lost. */
  @Test
  void memoryThatCannotBeWrittenIsRefusedAtOnce() {
    List<Communicator> both = members.join(1, 0, 1);
    MemorySegment constant = ints(5).asReadOnly();
    assertThatThrownBy(() -> both.get(1).broadcast(constant, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("read-only");
    assertThatThrownBy(
            () -> both.get(0).allreduce(ints(1), constant, ElementType.INT, ReduceOp.SUM))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("read-only");

    MemorySegment got = ints(0);
    members.untilDone(List.of(both.get(0).broadcast(constant, 0), both.get(1).broadcast(got, 0)));
    assertThat(intAt(got, 0)).as("the root's is only read").isEqualTo(5);
    MemorySegment sum = ints(0);
    members.untilDone(
        List.of(
            both.get(0).reduce(constant, MemorySegment.NULL, ElementType.INT, ReduceOp.SUM, 1),
            both.get(1).reduce(constant, sum, ElementType.INT, ReduceOp.SUM, 1)));
    assertThat(intAt(sum, 0)).isEqualTo(10);
  }

  /** A poll says so each time, and takes no buffer for it: other groups need them. */
  @Test
  void memoryThatWasFreedUnderACallCostsNoBuffers() {
    Communicator first = members.at(0).join(Group.of(1, 0, 0, 1), Topology.flat());
    members.at(1).join(Group.of(1, 1, 0, 1), Topology.flat());
    List<Communicator> second = members.join(2, 0, 1);
    CollectiveCall call;
    try (Arena arena = Arena.ofConfined()) {
      call = first.broadcast(arena.allocate(8), 0);
      assertThat(call.isDone()).as("there is no session yet").isFalse();
    }
    assertThat(roundsThatSaySo()).isGreaterThan(1_000);
    assertThat(call.isDone()).isFalse();
    first.close();

    MemorySegment got = ints(0);
    members.untilDone(
        List.of(second.get(0).broadcast(ints(7), 0), second.get(1).broadcast(got, 0)));
    assertThat(intAt(got, 0)).isEqualTo(7);
  }

  /** Of 20,000 those in which a poll told that memory was freed under its call. */
  private int roundsThatSaySo() {
    int told = 0;
    for (int i = 0; i < 20_000; i++) {
      try {
        members.round();
      } catch (IllegalStateException e) {
        told++;
      }
    }
    return told;
  }

  /** What comes for it is kept: lost, the next of the sender would be what nobody sends. */
  @Test
  void memoryThatWasFreedUnderACallIsNotTheFaultOfWhoSends() {
    List<Communicator> both = members.join(1, 0, 1);
    CollectiveCall sends = both.get(0).broadcast(MemorySegment.ofArray(new byte[40_000]), 0);
    CollectiveCall takes;
    try (Arena arena = Arena.ofConfined()) {
      takes = both.get(1).broadcast(arena.allocate(40_000), 0);
    }
    assertThat(roundsThatSaySo()).isGreaterThan(1_000);
    assertThat(takes.isDone()).isFalse();
    assertThat(sends.failure()).isNull();

    both.get(1).close();
    members.untilDone(List.of(sends));

    assertThat(takes.failure()).hasMessageContaining("was given up");
    assertThat(sends.failure()).hasMessageContaining("node 1 has left it");
    assertThat(members.at(1).store().heldBytes()).isZero();
  }

  /** Nothing of what was refused goes on when the owner polls. */
  @Test
  void aCallByAnotherThreadIsRefusedBeforeItBegins() {
    List<Communicator> both = members.join(1, 0, 1);
    members.untilDone(
        List.of(both.get(0).broadcast(ints(1), 0), both.get(1).broadcast(ints(0), 0)));
    assertThat(CompletableFuture.runAsync(() -> both.get(0).broadcast(ints(2), 0)))
        .failsWithin(Duration.ofSeconds(10))
        .withThrowableOfType(ExecutionException.class)
        .withMessageContaining("belongs to thread");

    MemorySegment got = ints(0);
    members.untilDone(List.of(both.get(0).broadcast(ints(3), 0), both.get(1).broadcast(got, 0)));
    assertThat(intAt(got, 0)).isEqualTo(3);
  }

  @Test
  void aTopologyThatKnowsNotAllMembersIsRefused() {
    Group four = Group.of(1, 0, 0, 1, 2, 3);
    Communicator c = members.at(0).join(four, Topology.clusters(new int[] {0, 1}, 1));
    assertThatThrownBy(() -> c.broadcast(ints(1), 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("node 2")
        .hasMessageContaining("0..1");
  }

  @Test
  void wrongCallsAreRefusedWithWhatWouldBeRight() {
    Communicator c = members.join(1, 0, 1).getFirst();
    MemorySegment memory = ints(1, 2, 3, 4);
    assertThatThrownBy(() -> c.broadcast(memory, 2)).hasMessageContaining("0..1");
    assertThatThrownBy(() -> c.allreduce(memory, ints(1), ElementType.INT, ReduceOp.SUM))
        .hasMessageContaining("16 are needed");
    assertThatThrownBy(() -> c.allgather(memory, memory)).hasMessageContaining("32 are needed");
    assertThatThrownBy(() -> c.allreduce(memory, memory, ElementType.DOUBLE, ReduceOp.XOR))
        .hasMessageContaining("int and long");
    assertThatThrownBy(
            () ->
                c.allreduce(
                    memory.asSlice(0, 8), memory.asSlice(4, 8), ElementType.INT, ReduceOp.SUM))
        .hasMessageContaining("overlap");
    MemorySegment odd = MemorySegment.ofArray(new byte[3]);
    MemorySegment odder = MemorySegment.ofArray(new byte[3]);
    assertThatThrownBy(() -> c.alltoall(odd, odder)).hasMessageContaining("each of 2 ranks");
    assertThatThrownBy(() -> c.reduce(ints(1), ints(1), ElementType.LONG, ReduceOp.SUM, 0))
        .hasMessageContaining("whole number of elements");
    members.until(c.broadcast(memory, 0)::isDone);
    CollectiveCall waiting = c.allgather(ints(1), ints(0, 0));
    assertThat(waiting.isDone()).isFalse();
    assertThatThrownBy(() -> c.broadcast(memory, 0)).hasMessageContaining("one call at a time");
    assertThatThrownBy(waiting::check).hasMessageContaining("under way");
    assertThatThrownBy(() -> Group.of(1, 5, 1, 2)).hasMessageContaining("none of group");
    assertThatThrownBy(() -> Group.of(1, 1, 1, 2, 1)).hasMessageContaining("too");
    assertThatThrownBy(() -> members.join(1, 0)).hasMessageContaining("joined already");
    Group another = Group.of(2, 1, 0, 1);
    assertThatThrownBy(() -> members.at(0).join(another, Topology.flat()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("rank 1 is node 1, and this is node 0");
  }
}
