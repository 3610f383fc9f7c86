package org.pmhxb.router.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.pmhxb.bufpool.DpdkPool;
import org.pmhxb.bufpool.Owner;
import org.pmhxb.pm.DownReason;
import org.pmhxb.pm.PeerListener;
import org.pmhxb.pm.PeerState;
import org.pmhxb.router.HxbConfig.Driver;

/** Two processes over shared memory; one is killed in mid-traffic, and another takes its place. */
@Timeout(180)
class KilledPeerTest {
  private static final int ROUNDS = 2;
  private static final long MESSAGES = 5_000;
  private static final long LIMIT_NS = 30_000_000_000L;
  private static final long DOWN_LIMIT_MS = NodeProcess.PEER_TIMEOUT_MS + 1_000;
  private static final long LONGEST_ROUND_NS = 50_000_000L;

  /** The end that lives, driven by the test's own thread. */
  private static final class Survivor implements PeerListener, AutoCloseable {
    final HxbNode node;
    final NumberedTraffic traffic;
    final List<DownReason> downs = new ArrayList<>();
    private long lastNs = System.nanoTime();
    private long workedNs = lastNs;

    Survivor(Driver driver, String role, String line) {
      node = HxbNode.launch(NodeProcess.config(0, driver, role, line), HxbNode.Progress.INLINE);
      node.node().peerListener(this);
      traffic = new NumberedTraffic(node.node().open(NodeProcess.ENDPOINT), 1);
    }

    @Override
    public void onPeerUp(int peer, int session) {
      assertThat(peer).isEqualTo(1);
    }

    @Override
    public void onPeerDown(int peer, int session, DownReason reason, int lastAcknowledgedSeq) {
      downs.add(reason);
      traffic.newSession();
    }

    /**
     * What the node takes for the time: it stands still while the process does, so the time from
     * the kill to the report is not one of this machine's.
     */
    long clockNs() {
      long nowNs = System.nanoTime();
      workedNs += Math.min(nowNs - lastNs, LONGEST_ROUND_NS);
      lastNs = nowNs;
      return workedNs;
    }

    /** Works, and sends if told to, until the condition holds or {@link #LIMIT_NS} is over. */
    boolean workUntil(boolean sending, BooleanSupplier condition) {
      long until = System.nanoTime() + LIMIT_NS;
      while (!condition.getAsBoolean()) {
        int work = node.node().doWork(clockNs()) + traffic.receive();
        if (sending) {
          work += traffic.send(32);
        }
        if (work == 0) {
          LockSupport.parkNanos(NodeProcess.IDLE_NS);
        }
        if (System.nanoTime() - until > 0 || traffic.wrong() != null) {
          return false;
        }
      }
      return true;
    }

    int heldForThePeer() {
      DpdkPool pool = node.pool();
      return pool.ownedBy(Owner.WINDOW) + pool.ownedBy(Owner.REORDER) + pool.ownedBy(Owner.INBOX);
    }

    @Override
    public void close() {
      node.close();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "MEMIF, server, client",
    "MEMIF, client, server",
    "SHM, server, client",
    "SHM, client, server"
  })
  void survivorReportsSilenceAndTalksToTheNext(Driver driver, String role, String otherRole)
      throws IOException, InterruptedException {
    String line = "hxb-killed-" + ProcessHandle.current().pid() + "-" + role;
    Survivor survivor = new Survivor(driver, role, line);
    try (survivor) {
      for (int round = 0; round < ROUNDS; round++) {
        survivor.downs.clear();
        try (NodeProcess peer = NodeProcess.start(driver.name(), otherRole, line)) {
          exchange(survivor, round);
          // In mid-traffic: what was sent just now is in the rings, unacknowledged.
          survivor.traffic.send(32);
          long killedNs = survivor.clockNs();
          survivor.node.node().doWork(killedNs);
          peer.kill();
          assertThat(survivor.workUntil(false, () -> !survivor.downs.isEmpty()))
              .as("end of the session in round %d", round)
              .isTrue();
          assertThat((survivor.clockNs() - killedNs) / 1_000_000)
              .as("ms from kill to report")
              .isLessThan(DOWN_LIMIT_MS);
        }
        assertThat(survivor.downs).containsExactly(DownReason.SILENCE);
        assertThat(survivor.node.node().peerState(1)).isEqualTo(PeerState.DOWN);
        assertThat(survivor.workUntil(false, () -> survivor.heldForThePeer() == 0))
            .as("buffers held for the dead peer: %d", survivor.heldForThePeer())
            .isTrue();
      }
    }
    assertThat(survivor.node.pool().leftMapped()).as("buffers were out at the end").isFalse();
  }

  private static void exchange(Survivor survivor, int round) {
    NumberedTraffic traffic = survivor.traffic;
    assertThat(survivor.workUntil(true, () -> survivor.node.node().peerState(1) == PeerState.UP))
        .as("session in round %d; %s", round, survivor.node.node().peerStatus())
        .isTrue();
    survivor.downs.clear();
    traffic.newSession();
    assertThat(survivor.workUntil(true, traffic::begun)).isTrue();
    long until = traffic.received() + MESSAGES;
    assertThat(survivor.workUntil(true, () -> traffic.received() >= until))
        .as(
            "%d messages in round %d, at %d; %s; %s",
            MESSAGES, round, traffic.received(), traffic.wrong(), survivor.node.node().peerStatus())
        .isTrue();
    assertThat(survivor.downs).as("sessions lost without a cause").isEmpty();
  }
}
