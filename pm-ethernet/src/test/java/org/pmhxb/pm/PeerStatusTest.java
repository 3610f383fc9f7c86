package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** What another thread is told of a session while the poll thread ends it. */
class PeerStatusTest {
  private static final int ENDPOINT = 7;
  private static final int LIVES = 300;

  private static NodeConfig config() {
    return NodeConfig.defaults(0x57A7E, 1, 128).withWindow(64);
  }

  private static boolean isUp(TestNet net) {
    return net.nodes.get(0).peerState(1) == PeerState.UP
        && net.nodes.get(1).peerState(0) == PeerState.UP;
  }

  private static int session(TestNet net) {
    return net.nodes.get(0).peerStatus().getFirst().session();
  }

  private static void connect(TestNet net) {
    net.nodes.get(0).connect(1);
    for (int i = 0; i < 100_000 && !isUp(net); i++) {
      net.step();
    }
    assertThat(isUp(net)).isTrue();
  }

  /** Ends that were told with the reason, or the session, of the one before them. */
  private static final class Reader {
    private final PmNode node;
    private final List<String> wrong = new CopyOnWriteArrayList<>();
    private volatile boolean stop;

    /** The one that was up last. */
    private volatile int session;

    private long ends;

    Reader(PmNode node) {
      this.node = node;
    }

    void read() {
      while (!stop) {
        int before = session;
        PeerStatus status = node.peerStatus().getFirst();
        if (status.state() == PeerState.DOWN && session == before) {
          ends++;
          if (status.session() != before || status.reason() == null) {
            wrong.add(String.format("%s of session %d", status, before));
          }
        }
      }
    }
  }

  @Test
  void whoReadsThatASessionEndedReadsWhy() throws Exception {
    try (TestNet net = new TestNet(2, 1, 5, 600, config())) {
      net.nodes.get(0).open(ENDPOINT);
      connect(net);
      Reader reader = new Reader(net.nodes.get(0));
      reader.session = session(net);
      Thread thread = Thread.ofPlatform().start(reader::read);
      List<DownReason> reasons = new ArrayList<>();
      for (int life = 0; life < LIVES; life++) {
        net.nodes.get(1).quit();
        net.run(4 * net.delayNs);
        reasons.add(net.nodes.get(0).peerStatus().getFirst().reason());
        net.nodes.get(1).close();
        net.pools.get(1).close();
        net.start(1, 2, config(), 100 + life);
        connect(net);
        reader.session = session(net);
      }
      reader.stop = true;
      thread.join();
      assertThat(reasons).hasSize(LIVES).containsOnly(DownReason.CLOSED);
      assertThat(reader.ends).isPositive();
      assertThat(reader.wrong).isEmpty();
    }
  }
}
