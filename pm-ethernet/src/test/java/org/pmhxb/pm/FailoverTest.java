package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rails that die, half die, lose or flap under load (PROTOCOL.md section 5.5). */
@Tag("without-assertions")
class FailoverTest {
  private static final int ENDPOINT = 7;
  private static final int MESSAGE_BYTES = 1_024;
  private static final int RAILS = 6;
  private static final double GIGABIT = 0.125;
  private static final long MS = 1_000_000L;

  private final List<PmEndpoint> endpoints = new ArrayList<>();
  private final long[] sent = new long[2];
  private final long[] received = new long[2];
  private boolean both;

  private TestNet net(long seed) {
    NodeConfig config = NodeConfig.defaults(0x1234, 1, 1_024).withWindow(256);
    TestNet net = new TestNet(2, RAILS, seed, 4_000, config);
    net.jitterNs = 3_000;
    net.switchQueueBytes = 512 * 1_024;
    Arrays.fill(net.bytesPerNs, GIGABIT);
    net.nodes.forEach(node -> endpoints.add(node.open(ENDPOINT)));
    return net;
  }

  /** Links on which a frame takes 350 us, as one of 8 KB does at 200 Mbit/s. */
  private TestNet slowNet(long seed) {
    TestNet net = net(seed);
    Arrays.fill(net.bytesPerNs, GIGABIT / 40);
    return net;
  }

  /** Node 1 sends to node 0, and back if {@link #both}, as much as it may. */
  private void flood(TestNet net, long ns) {
    for (long until = net.nowNs + ns; net.nowNs < until; ) {
      send(1);
      if (both) {
        send(0);
      }
      net.step();
      poll(0);
      poll(1);
    }
  }

  /** Node 1 sends while the other stands still. */
  private void floodStill(TestNet net, long ns) {
    for (long until = net.nowNs + ns; net.nowNs < until; ) {
      send(1);
      net.step();
      poll(1);
    }
  }

  /** As {@link #flood}, both on poll threads that sleep: some ten duty cycles in a millisecond. */
  private void floodBetweenSleeps(TestNet net, long ns) {
    net.run(ns, true, 50_000, List.of(() -> poll(0), () -> send(1) + poll(1)));
  }

  private int send(int from) {
    int before = (int) sent[from];
    for (int i = 0; i < 4; i++) {
      SendBuffer b = endpoints.get(from).claim(1 - from, MESSAGE_BYTES);
      if (b == null) {
        break;
      }
      b.memory().set(ValueLayout.JAVA_LONG_UNALIGNED, b.offset(), sent[from]++);
      endpoints.get(from).send(b);
    }
    return (int) sent[from] - before;
  }

  private int poll(int at) {
    return endpoints
        .get(at)
        .poll(
            m -> {
              long v = m.memory().get(ValueLayout.JAVA_LONG_UNALIGNED, m.offset());
              assertThat(v).as("message at node %d", at).isEqualTo(received[at]++);
            },
            256);
  }

  /** Messages in a time, both ways together. */
  private long deliveredIn(TestNet net, long ns) {
    long before = received[0] + received[1];
    flood(net, ns);
    return received[0] + received[1] - before;
  }

  /**
   * End of the last half millisecond of the next twenty that delivers less than {@code least}. Both
   * ways such short times scatter by a tenth.
   */
  private long shortUntilNs(TestNet net, double least) {
    long from = net.nowNs;
    long shortUntil = from;
    while (net.nowNs - from < 20 * MS) {
      if (deliveredIn(net, MS / 2) < least) {
        shortUntil = net.nowNs;
      }
    }
    return shortUntil - from;
  }

  private void drain(TestNet net) {
    for (int i = 0; i < 200_000 && received[0] + received[1] < sent[0] + sent[1]; i++) {
      net.step();
      poll(0);
      poll(1);
    }
    assertThat(received).as("nothing is lost").isEqualTo(new long[] {sent[1], sent[0]});
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aRailThatDiesSilentlyCostsItsShareAndNoMore(boolean bothWays) {
    both = bothWays;
    try (TestNet net = net(1)) {
      flood(net, 20 * MS);
      double before = deliveredIn(net, 20 * MS) / 20.0;
      net.deadRail[3] = true;
      long failoverNs = shortUntilNs(net, 0.8 * before / 2 * (RAILS - 1) / RAILS);
      assertThat(failoverNs).as("ns from the cut to full delivery").isLessThan(5 * MS);
      double after = deliveredIn(net, 20 * MS) / 20.0;
      assertThat(after).isGreaterThan(0.97 * before * (RAILS - 1) / RAILS);
      assertThat(net.nodes.get(1).counters().get(Counter.PATHS_EVICTED)).isEqualTo(1);
      net.deadRail[3] = false;
      flood(net, 300 * MS);
      assertThat(deliveredIn(net, 20 * MS) / 20.0).isGreaterThan(0.97 * before);
      assertThat(net.nodes.get(1).counters().get(Counter.PATHS_RESTORED)).isEqualTo(1);
      drain(net);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {11, 12, 13, 14, 15})
  void whatIsLateGoesByOthersBeforeItsPathIsGivenUp(long seed) {
    try (TestNet net = slowNet(seed)) {
      flood(net, 200 * MS);
      Map<Counter, Long> counted = counters(net.nodes.get(1));
      net.deadRail[3] = true;

      long lateNs = untilCounted(net, Counter.PATHS_LATE, counted);
      long stopNs = longestStopNs(net, 20 * MS);

      assertThat(lateNs).as("from the cut until its frames are late").isLessThan(4 * MS);
      assertThat(lateNs + stopNs).as("the others' stop").isLessThan(6 * MS);
      assertThat(countedSince(net, Counter.PATHS_LATE, counted)).isEqualTo(1);
      assertThat(countedSince(net, Counter.PATHS_EVICTED, counted)).isEqualTo(1);
      drain(net);
    }
  }

  /** Its gap delayed all paths alike, so it is no reason to wait for one of them. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void aHostThatStoodStillBeforeTheCutHidesItNot(int host) {
    try (TestNet net = slowNet(16)) {
      flood(net, 200 * MS);
      PmNode node = net.nodes.get(1);
      PmNode still = net.nodes.set(host, null);
      net.run(8 * MS);
      net.nodes.set(host, still);
      floodBetweenSleeps(net, 12 * MS);
      assertThat(node.core.pollGapNs + node.core.peers[0].peerPollGapNs)
          .as("is remembered")
          .isGreaterThan(6 * MS);
      assertThat(node.counters().get(Counter.PATHS_LATE)).isZero();
      net.deadRail[3] = true;

      floodBetweenSleeps(net, 6 * MS);

      assertThat(node.counters().get(Counter.PATHS_LATE)).as("6 ms behind the cut").isEqualTo(1);
      drain(net);
    }
  }

  /** Late once, it is no dead path: new frames take it again when it has answered. */
  @ParameterizedTest
  @ValueSource(longs = {2, 5})
  void aPathThatBecameLongerIsNotGivenUp(long longerMs) {
    try (TestNet net = slowNet(6)) {
      flood(net, 200 * MS);
      PmNode node = net.nodes.get(1);
      Map<Counter, Long> counted = counters(node);
      PathState path = node.core.peers[0].paths[3];
      net.longerNs[3] = longerMs * MS;

      untilCounted(net, Counter.PATHS_LATE, counted);
      assertThat(path.takesNew()).isFalse();
      assertThat(path.isTrusted()).isFalse();
      assertThat(path.probesUnanswered).as("it owes an answer").isPositive();
      assertThat(node.core.peers[0].window.isEmpty(3)).as("nothing is on it").isTrue();
      long resent = countedSince(net, Counter.RESENT, counted);
      flood(net, 10 * MS);

      assertThat(path.takesNew()).isTrue();
      assertThat(node.core.peers[0].window.isEmpty(3)).as("it has frames again").isFalse();
      flood(net, 90 * MS);
      assertThat(countedSince(net, Counter.PATHS_EVICTED, counted)).isZero();
      assertThat(countedSince(net, Counter.PATHS_LATE, counted)).as("spared").isEqualTo(1);
      assertThat(countedSince(net, Counter.RESENT, counted)).isBetween(resent, 16L);
      drain(net);
    }
  }

  /** As where there was no buffer for the question: it is asked later, or it would be forgotten. */
  @Test
  void aLatePathThatWasNotAskedIsAsked() {
    try (TestNet net = net(8)) {
      flood(net, 20 * MS);
      drain(net);
      net.run(20 * MS);
      Peer peer = net.nodes.get(1).core.peers[0];
      PathState path = peer.paths[3];
      assertThat(path.probesUnanswered).isZero();
      path.late = true;
      peer.watchedPaths |= 1L << path.path;

      assertThat(net.nodes.get(1).nextDeadlineNs(net.nowNs) - net.nowNs).isLessThan(MS);
      net.run(5 * MS);

      assertThat(path.takesNew()).isTrue();
    }
  }

  /** Where all stand still, none of them is late. */
  @Test
  void pathsOfAPeerThatStandsStillAreNotLate() {
    try (TestNet net = slowNet(7)) {
      flood(net, 200 * MS);
      Map<Counter, Long> counted = counters(net.nodes.get(1));
      for (int i = 0; i < 20; i++) {
        PmNode still = net.nodes.set(0, null);
        floodStill(net, 5 * MS);
        net.nodes.set(0, still);
        flood(net, 15 * MS);
      }
      assertThat(countedSince(net, Counter.PATHS_LATE, counted)).isZero();
      assertThat(countedSince(net, Counter.RESENT, counted)).isZero();
      drain(net);
    }
  }

  private static Map<Counter, Long> counters(PmNode node) {
    return java.util.Arrays.stream(Counter.values())
        .collect(java.util.stream.Collectors.toMap(c -> c, c -> node.counters().get(c)));
  }

  /** Of node 1. */
  private static long countedSince(TestNet net, Counter counter, Map<Counter, Long> before) {
    return net.nodes.get(1).counters().get(counter) - before.get(counter);
  }

  /** Time until node 1 counts it, 20 ms at most. */
  private long untilCounted(TestNet net, Counter counter, Map<Counter, Long> before) {
    long from = net.nowNs;
    while (countedSince(net, counter, before) == 0 && net.nowNs - from < 20 * MS) {
      flood(net, 1);
    }
    return net.nowNs - from;
  }

  /** Longest time in which nothing is delivered, of a time that begins now. */
  private long longestStopNs(TestNet net, long ns) {
    long longest = 0;
    long last = net.nowNs;
    for (long until = net.nowNs + ns; net.nowNs < until; ) {
      if (deliveredIn(net, 1) > 0) {
        longest = Math.max(longest, net.nowNs - last);
        last = net.nowNs;
      }
    }
    return Math.max(longest, net.nowNs - last);
  }

  /** Nothing is in front of its questions, but the sender's data is in front of the answers. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void whoOnlyReceivesGivesUpTheDeadRailAlone(long seed) {
    try (TestNet net = slowNet(seed)) {
      flood(net, 60 * MS + seed * MS / 7);
      net.deadRail[3] = true;
      flood(net, 40 * MS);
      for (PmNode node : net.nodes) {
        assertThat(node.counters().get(Counter.PATHS_EVICTED)).isEqualTo(1);
      }
      drain(net);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void aRailThatIsDumbOneWayIsLeftOutWhereItIsDumb(int mute) {
    both = true;
    try (TestNet net = net(2)) {
      flood(net, 20 * MS);
      double before = deliveredIn(net, 80 * MS) / 80.0;
      net.muteNode[4] = mute;
      flood(net, 20 * MS);
      // Windows breathe: 20 ms of goodput lie within 3 % of the mean, 80 ms within 1 %.
      double after = deliveredIn(net, 80 * MS) / 80.0;
      assertThat(net.nodes.get(mute).counters().get(Counter.PATHS_EVICTED)).isEqualTo(1);
      assertThat(net.nodes.get(1 - mute).counters().get(Counter.PATHS_EVICTED)).isZero();
      assertThat(after).isGreaterThan(0.97 * before * (2 * RAILS - 1) / (2 * RAILS));
      drain(net);
    }
  }

  /** It answers most questions, so it has to be known by what it loses. */
  @Test
  void aGreyRailIsLeftOut() {
    try (TestNet net = net(3)) {
      flood(net, 20 * MS);
      double before = deliveredIn(net, 20 * MS) / 20.0;
      net.railLoss[2] = 0.3;
      flood(net, 100 * MS);
      double after = deliveredIn(net, 100 * MS) / 100.0;
      assertThat(net.nodes.get(1).counters().get(Counter.PATHS_EVICTED)).isPositive();
      assertThat(after).isGreaterThan(0.97 * before * (RAILS - 1) / RAILS);
      net.railLoss[2] = 0;
      flood(net, 900 * MS);
      assertThat(deliveredIn(net, 20 * MS) / 20.0).isGreaterThan(0.97 * before);
      drain(net);
    }
  }

  /** They wait for their CRCs still when their path is evicted. */
  @Test
  void framesOfTheRoundThatEvictsTheirPathArrive() {
    try (TestNet net = net(5)) {
      flood(net, 20 * MS);
      PmNode node = net.nodes.get(1);
      LastMoment sends = new LastMoment(node.core, 3);
      node.collectives().handler(sends);
      net.deadRail[3] = true;
      while (node.counters().get(Counter.PATHS_EVICTED) == 0) {
        net.step();
        poll(0);
      }
      assertThat(sends.sentNs).as("a frame of the round that evicts").isEqualTo(sends.roundNs);
      drain(net);
      assertThat(net.nodes.get(0).counters().dropped(DropReason.CRC)).isZero();
    }
  }

  /**
   * Sends a short frame in each round on a path whose eviction is a matter of rounds, and of fewer
   * than it has credit for.
   */
  private final class LastMoment implements CollectiveHandler {
    private static final long ASKED_NS = 700_000;

    private final NodeCore core;
    private final int path;
    long roundNs;
    long sentNs;

    LastMoment(NodeCore core, int path) {
      this.core = core;
      this.path = path;
    }

    @Override
    public int doWork(long nowNs) {
      Peer peer = core.peers[0];
      PathState way = peer.paths[path];
      roundNs = nowNs;
      if (!way.evicted
          && way.probesUnanswered >= Paths.PROBES_TO_EVICT
          && nowNs - way.firstProbeNs >= ASKED_NS) {
        endpoints.get(1).coalesceUpTo(-1);
        SendBuffer b = endpoints.get(1).claim(0, Long.BYTES);
        if (b != null) {
          b.memory().set(ValueLayout.JAVA_LONG_UNALIGNED, b.offset(), sent[1]++);
          peer.goBy(way);
          peer.window.turn(way.held, peer.outLanes[0].id);
          peer.window.choose(1_000, nowNs);
          endpoints.get(1).send(b);
          sentNs = nowNs;
        }
      }
      return 0;
    }

    @Override
    public void onCollective(int source, boolean line, long word0, long word1, long word2) {}

    @Override
    public void onPeerDown(int peer, DownReason reason) {}

    @Override
    public long nextDeadlineNs(long nowNs) {
      return nowNs;
    }
  }

  @Test
  void aFlappingRailIsTakenBackMoreAndMoreSlowly() {
    try (TestNet net = net(4)) {
      flood(net, 20 * MS);
      double before = deliveredIn(net, 20 * MS) / 20.0;
      long start = received[0];
      for (int i = 0; i < 20; i++) {
        net.deadRail[1] = i % 2 == 0;
        flood(net, 20 * MS);
      }
      assertThat((received[0] - start) / 400.0).isGreaterThan(0.95 * before * (RAILS - 1) / RAILS);
      assertThat(net.nodes.get(1).counters().get(Counter.PATHS_EVICTED)).isBetween(1L, 6L);
      net.deadRail[1] = false;
      flood(net, 700 * MS);
      assertThat(deliveredIn(net, 20 * MS) / 20.0).isGreaterThan(0.97 * before);
      drain(net);
    }
  }
}
