package org.pmhxb.cost;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PeerMemoryTest {
  /** Of the peer itself: PeerMemoryTest of the protocol's module. */
  private static final double PEER_BYTES = 256;

  private static final double MUST_BYTES = 1_024;

  @Test
  void aPeerIsWhollyCountedAndKeepsToItsBudget() {
    PeerMemory.bytesEach(); // loads the classes

    assertThat(PeerMemory.bytesEach()).isBetween(PEER_BYTES, MUST_BYTES);
  }
}
