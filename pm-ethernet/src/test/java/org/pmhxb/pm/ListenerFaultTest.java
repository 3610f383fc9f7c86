package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.pmhxb.bufpool.Owner;

/** A listener that throws gets its due, and nothing of the node's is left halfway. */
class ListenerFaultTest {
  private static final int ENDPOINT = 7;

  /** Throws whatever it hears. */
  private static final class Grumpy implements PeerListener {
    @Override
    public void onPeerUp(int node, int session) {
      throw new IllegalStateException("up");
    }

    @Override
    public void onPeerDown(int node, int session, DownReason reason, int lastAcknowledgedSeq) {
      throw new AssertionError("down");
    }
  }

  private final TestNet net = new TestNet(2, 1, 9, 600, NodeConfig.defaults(0x1234, 1, 128));
  private final PmEndpoint from = net.nodes.get(0).open(ENDPOINT);
  private final PmEndpoint to = net.nodes.get(1).open(ENDPOINT);
  private final List<String> thrown = new ArrayList<>();
  private int sent;
  private int got;
  private int downs;

  private void step() {
    try {
      net.step();
    } catch (IllegalStateException | AssertionError e) {
      thrown.add(e.getMessage());
    }
  }

  private void send(int upTo) {
    from.coalesceUpTo(-1);
    SendBuffer b;
    while (sent < upTo && (b = from.claim(1, 4)) != null) {
      b.memory().set(ValueLayout.JAVA_INT_UNALIGNED, b.offset(), sent++);
      from.send(b);
    }
  }

  private final MessageHandler handler =
      new MessageHandler() {
        @Override
        public void onMessage(Message m) {
          assertThat(m.memory().get(ValueLayout.JAVA_INT_UNALIGNED, m.offset())).isEqualTo(got++);
        }

        @Override
        public void onPeerDown(int node, int session) {
          downs++;
        }
      };

  @Test
  void theRoundGoesOnAndThrowsAtItsEnd() {
    net.nodes.get(1).peerListener(new Grumpy());
    for (int i = 0; i < 2_000; i++) {
      send(100);
      step();
      to.poll(handler, 100);
    }
    assertThat(thrown).containsExactly("up");
    assertThat(got).isEqualTo(100);
    assertThat(strays()).isZero();

    // The last word of the peer comes in one burst with data.
    PmNode receiver = net.nodes.set(1, null);
    send(120);
    for (int i = 0; i < 20; i++) {
      step();
    }
    net.nodes.set(0, null).close();
    for (int i = 0; i < 20; i++) {
      step();
    }
    net.nodes.set(1, receiver);
    for (int i = 0; i < 100; i++) {
      step();
      to.poll(handler, 100);
    }
    assertThat(thrown).containsExactly("up", "down");
    assertThat(downs).isOne();
    assertThat(got).isBetween(100, 120);
    assertThat(strays()).isZero();
    receiver.close();
    net.pools.forEach(pool -> pool.close());
  }

  /** Buffers that the node took from its port and forgot. */
  private int strays() {
    return net.pools.get(1).ownedBy(Owner.PORT) + net.pools.get(1).ownedBy(Owner.NODE);
  }

  /** The outer cycle would go on over what the inner one has written anew. */
  @Test
  void aDutyCycleWithinAListenerIsRefused() {
    try (net) {
      List<String> refused = new ArrayList<>();
      PmNode node = net.nodes.get(1);
      node.peerListener(
          new PeerListener() {
            @Override
            public void onPeerUp(int peer, int session) {
              refused.add(messageOf(() -> node.doWork(net.nowNs)));
              refused.add(messageOf(() -> node.sendNow(net.nowNs)));
              refused.add(messageOf(node::quit));
            }

            @Override
            public void onPeerDown(int peer, int session, DownReason reason, int last) {}
          });
      for (int i = 0; i < 100_000 && node.peerState(0) != PeerState.UP; i++) {
        send(1);
        step();
      }
      assertThat(refused)
          .containsExactly(
              "a duty cycle within the listener of node 1: call it after the duty cycle",
              "sendNow within the listener of node 1: call it after the duty cycle",
              "quit within the listener of node 1: call it after the duty cycle");
      assertThat(node.peerState(0)).as("the session that it was told of").isEqualTo(PeerState.UP);
      assertThat(thrown).isEmpty();
    }
  }

  private static String messageOf(Runnable call) {
    try {
      call.run();
      return "not refused";
    } catch (IllegalStateException e) {
      return e.getMessage();
    }
  }
}
