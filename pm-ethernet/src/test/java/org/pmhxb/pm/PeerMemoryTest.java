package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;
import org.pmhxb.pm.flow.SendWindow;
import org.pmhxb.pm.flow.SequenceArray;

/** Memory per peer: windows are made with a session, not with a peer. */
class PeerMemoryTest {
  private static final int PEERS = 2_560;
  private static final int IDLE_PEER_BYTES_AIM = 256;

  private static long bytesEach(IntFunction<Object> maker) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    Object[] made = new Object[PEERS];
    made[0] = maker.apply(0);
    long before = threads.getCurrentThreadAllocatedBytes();
    for (int i = 0; i < PEERS; i++) {
      made[i] = maker.apply(i);
    }
    long bytes = threads.getCurrentThreadAllocatedBytes() - before;
    assertThat(made).doesNotContainNull();
    return bytes / PEERS;
  }

  @Test
  void anIdlePeerKeepsToItsBudget() {
    long bytes = bytesEach(Peer::new);

    assertThat(bytes).isPositive().isLessThanOrEqualTo(IDLE_PEER_BYTES_AIM);
  }

  @Test
  void windowsCostMoreThanThePeerAndComeWithTheSession() {
    long windows =
        bytesEach(i -> new Object[] {new SendWindow(16, 4, 0, 1), new SequenceArray(16, 0)});

    assertThat(new Peer(1).window).isNull();
    assertThat(new Peer(1).order()).isNull();
    assertThat(windows).isGreaterThan(bytesEach(Peer::new));
  }
}
