package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.pm.wire.FrameHeader;

/** How much a node asks whether paths live (PROTOCOL.md sections 4.3 and 5.5). */
class ProbePaceTest {
  private static final long MS = 1_000_000L;
  private static final long FIFTH_NS = 100 * MS;
  private static final NodeConfig CONFIG =
      NodeConfig.defaults(0x1234, 1, 1_024).withPeerTimeoutNs(5 * FIFTH_NS);

  /** Probes that node 0 sent, by rail. */
  private long[] asked;

  private TestNet net(int nodes, int rails) {
    return net(nodes, rails, CONFIG);
  }

  private TestNet net(int nodes, int rails, NodeConfig config) {
    asked = new long[rails];
    TestNet net = new TestNet(nodes, rails, 3, 1_000, config);
    net.wireTap =
        bytes -> {
          MemorySegment frame = MemorySegment.ofArray(bytes);
          if (FrameHeader.kind(frame, 0) == FrameHeader.PROBE && FrameHeader.src(frame, 0) == 0) {
            asked[bytes[11]]++;
          }
        };
    return net;
  }

  /** All sessions of node 0 are open, and all that belongs to that has been sent. */
  private static void openAll(TestNet net) {
    for (int i = 1; i < net.nodes.size(); i++) {
      net.nodes.get(0).connect(i);
    }
    net.run(20 * MS);
    for (int i = 1; i < net.nodes.size(); i++) {
      assertThat(net.nodes.get(0).core.peer(i).state).isEqualTo(PeerState.UP);
    }
  }

  /** Node 0 comes to its work each 4 ms only. */
  private static void runWhileItComputes(TestNet net, long ns) {
    runWhileItComputes(net, 4 * MS, ns);
  }

  private static void runWhileItComputes(TestNet net, long eachNs, long ns) {
    PmNode node = net.nodes.get(0);
    for (long until = net.nowNs + ns; net.nowNs < until; ) {
      net.nodes.set(0, null);
      net.run(eachNs);
      net.nodes.set(0, node);
      node.doWork(net.nowNs);
    }
  }

  private static int evicted(TestNet net) {
    return net.nodes.get(0).peerStatus().stream().mapToInt(PeerStatus::pathsEvicted).sum();
  }

  @Test
  void takesSixteenAtOnceAndThenOneInItsTime() {
    ProbePace pace = new ProbePace();
    long each = ProbePace.eachNs(1_000, 0);
    for (int i = 0; i < 16; i++) {
      assertThat(pace.hasRoom(5_000, each)).as("question %d", i).isTrue();
      pace.asked(5_000, each);
    }
    assertThat(pace.hasRoom(5_999, each)).isFalse();
    assertThat(pace.hasRoom(6_000, each)).isTrue();
    pace.asked(6_000, each);
    assertThat(pace.hasRoom(6_999, each)).isFalse();
    // A long rest saves up no more than at first.
    for (int i = 0; i < 16; i++) {
      assertThat(pace.hasRoom(1_000_000, each)).as("question %d later", i).isTrue();
      pace.asked(1_000_000, each);
    }
    assertThat(pace.hasRoom(1_000_000, each)).isFalse();
  }

  /** The owner stood still for a second, and polls as fast as ever since. */
  @Test
  void whatWasDearIsAsCheapAsTodayLater() {
    ProbePace pace = new ProbePace();
    for (int i = 0; i < 20; i++) {
      pace.asked(0, 500 * MS);
    }
    assertThat(pace.hasRoom(400 * MS, 500 * MS)).isFalse();
    assertThat(pace.hasRoom(500 * MS, 500 * MS)).as("sixteen count, not twenty").isTrue();
    assertThat(pace.hasRoom(510 * MS, 1_000)).as("at the first look").isFalse();
    assertThat(pace.roomAtNs(510 * MS, 1_000)).isEqualTo(510 * MS + 1_000);
    assertThat(pace.hasRoom(510 * MS + 1_000, 1_000)).isTrue();
  }

  @Test
  void thoseOfALinkOrAnOwnerThatIsSlowAreFartherApart() {
    assertThat(ProbePace.eachNs(123_000, 20_000)).isEqualTo(123_000);
    assertThat(ProbePace.eachNs(123_000, 20_000_000)).isEqualTo(10_000_000);
    assertThat(ProbePace.eachNs(0, 0)).isZero();
    ProbePace unlimited = new ProbePace();
    for (int i = 0; i < 100; i++) {
      unlimited.asked(7, 0);
    }
    assertThat(unlimited.hasRoom(7, 0)).isTrue();
  }

  @Test
  void evictedPathsShareHalfOfIt() {
    ProbePace pace = new ProbePace();
    assertThat(pace.evictedIntervalNs(1_000)).isZero();
    for (int i = 0; i < 500; i++) {
      pace.evicted();
    }
    assertThat(pace.evictedIntervalNs(1_000)).isEqualTo(1_000_000);
    pace.ended();
    assertThat(pace.evictedIntervalNs(1_000)).isEqualTo(998_000);
  }

  /** It answers, so one question in each fifth of the time-out is all. */
  @Test
  void anIdlePeerIsAskedOverOnePathAtATime() {
    try (TestNet net = net(2, 4)) {
      openAll(net);
      Arrays.fill(asked, 0);
      net.run(40 * FIFTH_NS);
      long mine = Arrays.stream(asked).sum();
      assertThat(mine).as("questions in forty fifths").isBetween(15L, 44L);
      assertThat(asked).as("by rail").doesNotContain(0);
      assertThat(Arrays.stream(asked).max().orElseThrow())
          .as("by rail: %s", Arrays.toString(asked))
          .isLessThanOrEqualTo(mine / 2);
    }
  }

  /** The rail that was to be asked is dead: the others are, long before the peer is given up. */
  @Test
  void anIdlePeerIsHeardByTheRailThatLives() {
    try (TestNet net = net(2, 4)) {
      openAll(net);
      net.deadRail[0] = true;
      net.deadRail[1] = true;
      net.deadRail[3] = true;
      net.run(50 * FIFTH_NS);
      assertThat(net.nodes.get(0).core.peer(1).state).isEqualTo(PeerState.UP);
      assertThat(net.nodes.get(0).counters().get(Counter.PEERS_DOWN)).isZero();
      assertThat(net.nodes.get(1).counters().get(Counter.PEERS_DOWN)).isZero();
    }
  }

  /** Else each of the 31 would be asked nearly whenever the node comes to its work. */
  @Test
  void theEvictedPathsOfANodeThatPollsSeldomAreNoStorm() {
    try (TestNet net = net(32, 2, CONFIG.withPeerTimeoutNs(2_000 * MS))) {
      openAll(net);
      net.deadRail[1] = true;
      for (int i = 0; i < 500 && evicted(net) < 31; i++) {
        runWhileItComputes(net, 20 * MS);
      }
      assertThat(evicted(net)).isEqualTo(31);
      net.deadRail[1] = false;
      for (int i = 0; i < 500 && evicted(net) > 0; i++) {
        runWhileItComputes(net, 20 * MS);
      }
      assertThat(evicted(net)).as("evicted after the rail healed").isZero();
      // Evicted anew, so that they are asked as often as ever.
      net.deadRail[1] = true;
      for (int i = 0; i < 500 && evicted(net) < 31; i++) {
        runWhileItComputes(net, 20 * MS);
      }
      assertThat(evicted(net)).isEqualTo(31);
      Arrays.fill(asked, 0);
      runWhileItComputes(net, 400 * MS);
      // One in 2 ms would be 200: half is the evicted paths'.
      assertThat(asked[1]).as("questions by the dead rail in 400 ms").isBetween(20L, 116L);
    }
  }

  /** Each answer is to a question that was repeated meanwhile, and there is no data. */
  @Test
  void answersThatAreLateTeachHowLongTheyTake() {
    try (TestNet net = net(2, 2)) {
      openAll(net);
      PathState path = net.nodes.get(0).core.peer(1).paths[1];
      assertThat(path.smoothedRttNs).isLessThan(MS);
      net.longerNs[1] = 20 * MS;
      net.run(60 * FIFTH_NS);
      assertThat(path.smoothedRttNs).as("smoothed round trip").isGreaterThan(10 * MS);
      Arrays.fill(asked, 0);
      net.run(20 * FIFTH_NS);
      assertThat(asked[1]).as("questions by the longer rail").isLessThanOrEqualTo(30);
      assertThat(path.evicted).isFalse();
    }
  }

  /** What a node asked when it came back from a stall was dear; it pays no debt of seconds. */
  @Test
  void aRailThatHealsAfterAStallIsFoundAsFastAsBefore() {
    try (TestNet net = net(32, 2, CONFIG.withPeerTimeoutNs(2_000 * MS))) {
      openAll(net);
      net.deadRail[1] = true;
      for (int i = 0; i < 200 && evicted(net) < 31; i++) {
        net.run(20 * MS);
      }
      assertThat(evicted(net)).isEqualTo(31);
      PmNode node = net.nodes.get(0);
      net.nodes.set(0, null);
      net.run(1_000 * MS);
      net.nodes.set(0, node);
      net.run(50 * MS);
      net.deadRail[1] = false;
      net.deadRail[0] = true;
      net.run(300 * MS);
      for (int i = 1; i < 32; i++) {
        boolean evicted = node.core.peer(i).paths[1].evicted;
        assertThat(evicted).as("path to %d by the rail that lives", i).isFalse();
      }
      net.run(2_500 * MS);
      for (PmNode each : net.nodes) {
        assertThat(each.counters().get(Counter.PEERS_DOWN)).isZero();
      }
    }
  }

  /** More evicted paths than the pace has room for: those that are looked at last get turns too. */
  @ParameterizedTest
  @ValueSource(ints = {0, 30})
  void anEvictedPathThatHealsAmongManyIsFound(int place) {
    try (TestNet net = net(32, 2, CONFIG.withPeerTimeoutNs(1_000 * MS))) {
      openAll(net);
      net.deadRail[1] = true;
      for (int i = 0; i < 100 && evicted(net) < 31; i++) {
        runWhileItComputes(net, 20 * MS, 20 * MS);
      }
      assertThat(evicted(net)).isEqualTo(31);
      runWhileItComputes(net, 20 * MS, 600 * MS);
      net.deadRail[1] = false;
      net.onlyNode[1] = net.nodes.get(0).core.active[place].node;
      runWhileItComputes(net, 20 * MS, 800 * MS);
      assertThat(evicted(net)).as("evicted, one of them healed").isEqualTo(30);
    }
  }
}
