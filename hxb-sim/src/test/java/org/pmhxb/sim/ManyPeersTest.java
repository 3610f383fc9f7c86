package org.pmhxb.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.pmhxb.pm.Message;
import org.pmhxb.pm.MessageHandler;
import org.pmhxb.pm.PmEndpoint;
import org.pmhxb.pm.SendBuffer;
import org.pmhxb.router.Shape;
import org.pmhxb.sim.fault.Fault;
import org.pmhxb.sim.fault.Schedule;
import org.pmhxb.sim.net.LinkSpec;
import org.pmhxb.sim.work.Host;
import org.pmhxb.sim.work.Program;

/**
 * A node with more than 1,024 peers looks after an eighth of their timers every 100 us (PROTOCOL.md
 * section 9). Every eighth must have its turn, and in time. Here node 0 talks to 1,055 peers, loses
 * frames to and from all of them while sessions open and under load, and then hears nothing any
 * more of 24 of them. The bounds leave no room for a part that waits longer than for its turn.
 */
class ManyPeersTest {
  private static final Shape SHAPE = Shape.of(33, 32);
  private static final int PEERS = 33 * 32 - 1;
  private static final int MESSAGES = 4;

  /** So many that all eighths are among them, and that more than 1,024 peers are left. */
  private static final int VICTIMS = 24;

  private static final int FIRST_VICTIM = 500;
  private static final long MS = 1_000_000L;
  private static final long PEER_TIMEOUT_NS = 50 * MS;
  private static final long LOSS_NS = 30 * MS;
  private static final long CUT_NS = 40 * MS;
  private static final long END_NS = CUT_NS + PEER_TIMEOUT_NS + 8 * MS;

  /**
   * Eight eighths, each looked at 100 us after the one before, and up to a duty cycle of 18 us
   * later.
   */
  private static final long ROUND_NS = 950_000L;

  /** A simulated node that waits polls seldom, which would make its timers late by itself. */
  private static final long AWAKE_NS = 60_000L;

  private static SimResult result;
  private static Hub hub;

  private static boolean isVictim(int peer) {
    return peer >= FIRST_VICTIM && peer < FIRST_VICTIM + VICTIMS;
  }

  /** Sends to every peer, one message at a time to each: to the victims on and on. */
  private static final class Hub implements Program, MessageHandler {
    private static final int SENDS_PER_STEP = 32;

    private final PmEndpoint endpoint;
    private final int[] sent = new int[PEERS + 1];
    private final long[] sentNs = new long[PEERS + 1];
    private final long[] ticket = new long[PEERS + 1];
    private final long[] downNs = new long[PEERS + 1];

    /** From the first try to the acknowledgement of the first message: with the handshake. */
    private final List<Long> openingNs = new ArrayList<>();

    /** From sending to acknowledgement of each further message, but of the victims. */
    private final List<Long> waitsNs = new ArrayList<>();

    private long startNs = -1;
    private long nowNs;
    private long awakeNs;

    Hub(Host host) {
      endpoint = host.node().open(1);
    }

    @Override
    public int step(long now) {
      nowNs = now;
      startNs = startNs < 0 ? now : startNs;
      int work = endpoint.poll(this, 1);
      for (int peer = 1; peer <= PEERS; peer++) {
        if (ticket[peer] != 0 && endpoint.acknowledged(peer) >= ticket[peer]) {
          settle(peer);
        }
        if (ticket[peer] == 0 && work < SENDS_PER_STEP && wants(peer)) {
          work += send(peer);
        }
      }
      if (work == 0 && nowNs - awakeNs < AWAKE_NS) {
        return 0;
      }
      awakeNs = nowNs;
      return work + 1;
    }

    private boolean wants(int peer) {
      return downNs[peer] == 0 && (sent[peer] < MESSAGES || isVictim(peer));
    }

    private int send(int peer) {
      if (sent[peer] > 0 || sentNs[peer] == 0) {
        sentNs[peer] = nowNs;
      }
      SendBuffer buffer = endpoint.claim(peer, Long.BYTES);
      if (buffer == null) {
        return 0;
      }
      buffer.memory().set(ValueLayout.JAVA_LONG_UNALIGNED, buffer.offset(), sent[peer]++);
      ticket[peer] = endpoint.send(buffer);
      return 1;
    }

    private void settle(int peer) {
      ticket[peer] = 0;
      if (sent[peer] == 1) {
        openingNs.add(nowNs - sentNs[peer]);
      } else if (!isVictim(peer)) {
        waitsNs.add(nowNs - sentNs[peer]);
      }
    }

    @Override
    public void onMessage(Message message) {
      throw new AssertionError("node " + message.source() + " speaks");
    }

    @Override
    public void onPeerDown(int node, int session) {
      downNs[node] = nowNs;
    }

    @Override
    public boolean isDone() {
      return nowNs - startNs >= END_NS;
    }

    @Override
    public void close() {
      endpoint.close();
    }
  }

  /** Hears it. */
  private static final class Listener implements Program, MessageHandler {
    private final PmEndpoint endpoint;
    private long heard;

    Listener(Host host) {
      endpoint = host.node().open(1);
    }

    @Override
    public int step(long nowNs) {
      return endpoint.poll(this, 8);
    }

    @Override
    public void onMessage(Message message) {
      long number = message.memory().get(ValueLayout.JAVA_LONG_UNALIGNED, message.offset());
      assertThat(number).as("exactly once, in order").isEqualTo(heard++);
    }

    @Override
    public boolean isDone() {
      return true;
    }

    @Override
    public void close() {
      endpoint.close();
    }
  }

  @BeforeAll
  static void run() {
    NodeOptions node =
        new NodeOptions(16, 64, 64, 4, 8, 128, 1_024, PEER_TIMEOUT_NS, -1, true, MS, MS);
    List<Fault> faults = new ArrayList<>();
    // By a seed that takes no neighbour's announcement twice: its address would come too late.
    faults.add(Fault.parse("loss@0:0ns+" + LOSS_NS + "ns:rate=0.05:seed=2"));
    for (int victim = FIRST_VICTIM; victim < FIRST_VICTIM + VICTIMS; victim++) {
      faults.add(Fault.parse("cut@" + victim + ":" + CUT_NS + "ns+" + 2 * PEER_TIMEOUT_NS + "ns"));
    }
    result =
        Simulation.run(
            new SimOptions(
                SHAPE,
                1,
                1,
                node,
                Collections.nCopies(3, LinkSpec.gigabit()),
                new Schedule(SHAPE, 1, PEER_TIMEOUT_NS, faults),
                host -> List.of(host.self() == 0 ? hub = new Hub(host) : new Listener(host)),
                SimOptions.PROGRESS_BOUND_NS,
                1_000,
                false));
  }

  /** So long that so many of them, 0 to 1, are shorter. */
  private static double ms(List<Long> timesNs, double part) {
    List<Long> sorted = timesNs.stream().sorted().toList();
    return sorted.get((int) (part * (sorted.size() - 1))) / 1e6;
  }

  @Test
  void everyHandshakeIsRepeated() {
    assertThat(result.violation()).isNull();
    assertThat(hub.openingNs).as("every session opened").hasSize(PEERS);
    assertThat(ms(hub.openingNs, 0.95)).as("up to three repetitions").isLessThan(25);
  }

  @Test
  void whatWasLostIsSentAgainInTime() {
    assertThat(hub.waitsNs).as("every message arrived").hasSize((PEERS - VICTIMS) * (MESSAGES - 1));
    assertThat(result.counters().get("resent")).isGreaterThan(100);
    assertThat(ms(hub.waitsNs, 0.95)).as("lost once: round trip, time-out, its turn").isLessThan(2);
    assertThat(ms(hub.waitsNs, 0.99)).as("lost twice").isLessThan(4);
  }

  @Test
  void silentPeersAreDownInTime() {
    List<Long> lateNs = new ArrayList<>();
    for (int peer = 1; peer <= PEERS; peer++) {
      if (hub.downNs[peer] != 0) {
        assertThat(isVictim(peer)).as("node " + peer + " is there").isTrue();
        lateNs.add(hub.downNs[peer] - hub.startNs - CUT_NS - PEER_TIMEOUT_NS);
      }
    }
    // Each was heard in the last 200 us before the cut: messages to it went on and on.
    assertThat(lateNs).hasSize(VICTIMS).allMatch(late -> late > -200_000 && late < ROUND_NS);
    assertThat(lateNs.stream().mapToLong(late -> (late + 200_000) / 100_000).distinct().count())
        .as("an eighth at a time")
        .isGreaterThanOrEqualTo(8);
  }
}
