package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.pmhxb.pm.wire.FrameHeader;

/** A path that is longer carries less, and one that only seemed so does not. */
class PathLengthTest {
  private static final int ENDPOINT = 7;
  private static final int RAILS = 4;
  private static final int LAST = RAILS - 1;
  private static final int MESSAGES = 400;
  private static final long EVERY_NS = 20_000;
  private static final long MS = 1_000_000L;

  private final int[] dataOn = new int[RAILS];
  private int received;

  private TestNet net() {
    TestNet net = new TestNet(2, RAILS, 1, 1_000, NodeConfig.defaults(0x1234, 1, 1_024));
    net.wireTap =
        bytes -> {
          MemorySegment frame = MemorySegment.ofArray(bytes);
          if (FrameHeader.kind(frame, 0) == FrameHeader.DATA) {
            // The rail stands in the last byte of the sender's address.
            dataOn[bytes[11]]++;
          }
        };
    return net;
  }

  /** Light traffic: hardly a frame meets another. */
  private void talk(TestNet net, int messages) {
    PmEndpoint from = net.nodes.get(0).open(ENDPOINT);
    PmEndpoint to = net.nodes.get(1).open(ENDPOINT);
    for (int sent = 0; sent < messages; ) {
      SendBuffer b = from.claim(1, 64);
      if (b != null) {
        from.send(b);
        sent++;
      }
      net.run(EVERY_NS);
      to.poll(m -> received++, 64);
    }
    net.run(10 * MS);
    to.poll(m -> received++, 256);
    from.close();
    to.close();
    net.run(MS);
  }

  @Test
  void anAnswerThatWasLateByChanceCostsAPathNothingForLong() {
    assertUsedAgain(4 * MS, 0, 20 * MS);
  }

  /** A host that is held up, or whose code is not compiled yet, is so for a while. */
  @Test
  void lateAnswersForAWhileCostAPathNothingForLongEither() {
    assertUsedAgain(MS, 15 * MS, 60 * MS);
  }

  /** The last path's round trip is longer while the session opens and for a time behind that. */
  private void assertUsedAgain(long longerNs, long forNs, long thenNs) {
    try (TestNet net = net()) {
      net.longerNs[LAST] = longerNs;
      talk(net, 1);
      net.run(forNs);
      net.longerNs[LAST] = 0;
      net.run(thenNs);
      Arrays.fill(dataOn, 0);
      talk(net, MESSAGES);
      assertThat(received).isEqualTo(1 + MESSAGES);
      assertThat(dataOn[LAST]).as("data frames by rail: %s", Arrays.toString(dataOn)).isPositive();
    }
  }

  @Test
  void aPathThatIsLongerIsAvoidedAndNotAskedForEver() {
    try (TestNet net = net()) {
      net.longerNs[LAST] = MS;
      talk(net, 1);
      // Each side's eight take 64 ms alone, and longer where the other's question is answered with
      // one.
      net.run(300 * MS);
      Arrays.fill(dataOn, 0);
      long probesBefore = net.nodes.get(0).counters().get(Counter.PROBES_SENT);
      assertThat(probesBefore).as("probes at first").isBetween(RAILS + 8L, RAILS * 9L);
      talk(net, MESSAGES);
      assertThat(received).isEqualTo(1 + MESSAGES);
      assertThat(dataOn[LAST]).as("data frames by rail: %s", Arrays.toString(dataOn)).isZero();
      assertThat(net.nodes.get(0).counters().get(Counter.PROBES_SENT)).isEqualTo(probesBefore);
    }
  }

  /** Where all are as long, none is avoided, so there is nothing to find out. */
  @Test
  void pathsThatAreAllLongAreNotAskedAgain() {
    try (TestNet net = net()) {
      Arrays.fill(net.longerNs, MS);
      talk(net, MESSAGES);
      assertThat(received).isEqualTo(MESSAGES);
      assertThat(dataOn).as("data frames by rail").doesNotContain(0);
      for (PathState path : net.nodes.get(0).core.peer(1).paths) {
        assertThat(path.longerNs).as("path %d", path.path).isPositive();
        assertThat(path.measuredAgain).as("path %d", path.path).isZero();
      }
    }
  }
}
