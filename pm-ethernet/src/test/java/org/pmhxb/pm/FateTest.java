package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.pm.flow.SendWindow;

/** What a program can know of its messages when a session ended and it sends on. */
class FateTest {
  private static final int ENDPOINT = 7;
  private static final long MS = 1_000_000L;
  private static final long TIMEOUT_NS = 20 * MS;

  /** Two nodes, of which the first sends numbers to the second, one a frame. */
  private static final class Pair implements MessageHandler {
    final TestNet net;
    final PmEndpoint from;
    final PmEndpoint to;
    final List<Long> got = new ArrayList<>();
    final List<Fate> atDown = new ArrayList<>();
    long tickets;

    Pair(boolean inline) {
      NodeConfig config =
          NodeConfig.defaults(0x1234, 1, 128).withWindow(64).withPeerTimeoutNs(TIMEOUT_NS);
      net = new TestNet(2, 1, 21, 600, config, inline);
      from = net.nodes.get(0).open(ENDPOINT);
      to = net.nodes.get(1).open(ENDPOINT);
      from.coalesceUpTo(-1);
    }

    SendBuffer claim() {
      SendBuffer b = null;
      for (int i = 0; i < 100_000 && b == null; i++) {
        b = from.claim(1, Long.BYTES);
        net.step();
      }
      assertThat(b).as("a claim within 200 ms").isNotNull();
      return b;
    }

    /** Its number is its ticket. */
    void send(SendBuffer b) {
      b.memory().set(ValueLayout.JAVA_LONG_UNALIGNED, b.offset(), ++tickets);
      assertThat(from.send(b)).isEqualTo(tickets);
    }

    void settle() {
      net.run(MS);
      to.poll(m -> got.add(m.memory().get(ValueLayout.JAVA_LONG_UNALIGNED, m.offset())), 64);
    }

    /** The session ends at both, and the way is open again. */
    void cut() {
      net.deadRail[0] = true;
      net.run(3 * TIMEOUT_NS);
      net.deadRail[0] = false;
    }

    List<Fate> fates() {
      List<Fate> fates = new ArrayList<>();
      for (long ticket = 1; ticket <= tickets; ticket++) {
        fates.add(from.fate(1, ticket));
      }
      return fates;
    }

    @Override
    public void onMessage(Message m) {
      throw new AssertionError("nobody sends this way");
    }

    @Override
    public void onPeerDown(int node, int session) {
      atDown.addAll(fates());
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whatWentDownWithItsSessionIsNotTakenForStored(boolean inline) {
    Pair pair = new Pair(inline);
    try (pair.net) {
      pair.send(pair.claim());
      assertThat(pair.fates()).containsExactly(Fate.PENDING);
      pair.settle();
      SendBuffer second = pair.claim();
      pair.net.deadRail[0] = true;
      pair.send(second);
      pair.cut();
      assertThat(pair.from.acknowledged(1)).isOne();
      assertThat(pair.fates()).containsExactly(Fate.STORED, Fate.UNKNOWN);
      // The program sends on before it hears of the end.
      pair.send(pair.claim());
      assertThat(pair.fates()).containsExactly(Fate.STORED, Fate.UNKNOWN, Fate.PENDING);
      pair.settle();

      assertThat(pair.from.acknowledged(1)).isEqualTo(3);
      pair.from.poll(pair, 16);
      assertThat(pair.atDown).containsExactly(Fate.STORED, Fate.UNKNOWN, Fate.STORED);
      assertThat(pair.got).containsExactly(1L, 3L);
    }
  }

  /** What lies in the ring between program and node is lost already when the program is told. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void nothingIsPendingOfASessionOfWhoseEndTheProgramWasTold(boolean inline) {
    Pair pair = new Pair(inline);
    try (pair.net) {
      SendBuffer early = pair.claim();
      pair.cut();
      pair.send(early);
      pair.from.poll(pair, 16);
      assertThat(pair.atDown).containsExactly(Fate.UNKNOWN);
      pair.send(pair.claim());
      pair.settle();
      assertThat(pair.fates()).containsExactly(Fate.UNKNOWN, Fate.STORED);
      assertThat(pair.from.acknowledged(1)).isEqualTo(2);
      assertThat(pair.got).containsExactly(2L);
    }
  }

  /** A claim of an ended session is sent among those of the next. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whatIsLostAmongOthersOnTheirWayKeepsItsPlace(boolean inline) {
    Pair pair = new Pair(inline);
    try (pair.net) {
      SendBuffer[] late = {pair.claim(), pair.claim(), pair.claim()};
      pair.cut();
      SendBuffer a = pair.claim();
      SendBuffer b = pair.claim();
      SendBuffer c = pair.claim();
      pair.net.delayNs = 2 * MS;
      pair.send(a);
      pair.send(late[0]);
      pair.send(b);
      pair.send(late[1]);
      pair.net.step();
      assertThat(pair.from.acknowledged(1)).isZero();
      assertThat(pair.fates())
          .containsExactly(Fate.PENDING, Fate.UNKNOWN, Fate.PENDING, Fate.UNKNOWN);
      pair.net.run(10 * MS);
      assertThat(pair.from.acknowledged(1)).as("none is stored behind the last").isEqualTo(3);
      assertThat(pair.fates())
          .containsExactly(Fate.STORED, Fate.UNKNOWN, Fate.STORED, Fate.UNKNOWN);

      // And a session that ends with such a one.
      pair.net.deadRail[0] = true;
      pair.send(c);
      pair.send(late[2]);
      pair.cut();
      pair.send(pair.claim());
      pair.net.run(10 * MS);
      assertThat(pair.fates())
          .containsExactly(
              Fate.STORED,
              Fate.UNKNOWN,
              Fate.STORED,
              Fate.UNKNOWN,
              Fate.UNKNOWN,
              Fate.UNKNOWN,
              Fate.STORED);
      assertThat(pair.from.acknowledged(1)).isEqualTo(7);
      pair.settle();
      assertThat(pair.got).containsExactly(1L, 3L, 7L);
    }
  }

  /** The timer passes what was lost among them; it need not have looked before the end. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whatIsStoredWhenItsSessionEndsStaysSo(boolean inline) {
    for (int later = 0; later < 60; later++) {
      Pair pair = new Pair(inline);
      try (pair.net) {
        SendBuffer late = pair.claim();
        pair.cut();
        SendBuffer first = pair.claim();
        SendBuffer last = pair.claim();
        pair.net.run(later * 2_000L);
        pair.send(first);
        pair.send(late);
        pair.send(last);
        pair.net.step();
        PmNode node = pair.net.nodes.get(0);
        SendWindow window = node.core.peer(1).window;
        while (window.unacknowledged() != window.next()) {
          pair.net.step();
        }
        pair.net.nodes.get(1).quit();
        while (node.peerState(1) == PeerState.UP) {
          pair.net.step();
        }
        assertThat(pair.fates()).containsExactly(Fate.STORED, Fate.UNKNOWN, Fate.STORED);
      }
    }
  }

  /** Messages that share a frame have tickets of their own. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void messagesThatShareAFrameShareItsFate(boolean inline) {
    Pair pair = new Pair(inline);
    try (pair.net) {
      pair.from.coalesceUpTo(PmEndpoint.COALESCE_BYTES);
      SendBuffer late = pair.claim();
      pair.cut();
      pair.send(pair.claim());
      for (int i = 0; i < 3; i++) {
        pair.send(pair.from.claim(1, Long.BYTES));
      }
      pair.send(late);
      pair.send(pair.from.claim(1, Long.BYTES));
      pair.settle();
      assertThat(pair.got).containsExactly(1L, 2L, 3L, 4L, 6L);
      assertThat(pair.fates())
          .containsExactly(
              Fate.STORED, Fate.STORED, Fate.STORED, Fate.STORED, Fate.UNKNOWN, Fate.STORED);
      assertThat(pair.from.acknowledged(1)).isEqualTo(6);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void anEndpointThatIsOpenedAgainKnowsTheTicketsOfBefore(boolean inline) {
    Pair pair = new Pair(inline);
    try (pair.net) {
      pair.send(pair.claim());
      pair.settle();
      SendBuffer second = pair.claim();
      pair.net.deadRail[0] = true;
      pair.send(second);
      pair.cut();
      pair.from.close();
      PmEndpoint again = pair.net.nodes.get(0).open(ENDPOINT);
      assertThat(again.fate(1, 1)).isEqualTo(Fate.STORED);
      assertThat(again.fate(1, ENDPOINT, 2)).isEqualTo(Fate.UNKNOWN);
      assertThatThrownBy(() -> again.fate(1, 3))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("ticket 3 to endpoint 7 of node 1: sent were 1..2");
      assertThatThrownBy(() -> again.fate(1, 9, 1))
          .hasMessage("ticket 1 to endpoint 9 of node 1: nothing was sent there");
    }
  }
}
