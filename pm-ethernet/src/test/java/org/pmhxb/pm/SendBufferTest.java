package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a program does with a claim, and the short way that nearly every frame takes from there. */
@Tag("without-assertions")
class SendBufferTest {
  private static final int MESSAGES = 2_000;

  private static NodeConfig config() {
    return NodeConfig.defaults(0x1234, 1, 128).withWindow(64).withFirstSeq(0xFFFF_FFF0L);
  }

  @Test
  void aLongIsWrittenWithinTheClaimOnly() {
    try (TestNet net = new TestNet(2, 1, 3, 512, config())) {
      PmEndpoint from = net.nodes.get(0).open(7);
      net.nodes.get(1).open(7);
      SendBuffer claim = claim(net, from, 20);
      claim.putLong(0, 0x0102_0304_0506_0708L);
      claim.putLong(12, -5);
      assertThat(claim.memory().get(ValueLayout.JAVA_LONG_UNALIGNED, claim.offset()))
          .isEqualTo(0x0102_0304_0506_0708L);
      assertThat(claim.memory().get(ValueLayout.JAVA_LONG_UNALIGNED, claim.offset() + 12))
          .isEqualTo(-5);
      for (int position : new int[] {-1, 13, 20, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
        assertThatThrownBy(() -> claim.putLong(position, 1))
            .isInstanceOf(IndexOutOfBoundsException.class)
            .hasMessageContaining("8 bytes at " + position + " of a claim of 20");
      }
      claim.truncate(11);
      assertThatThrownBy(() -> claim.putLong(4, 1)).isInstanceOf(IndexOutOfBoundsException.class);
      claim.abort();
      assertThatThrownBy(() -> claim.putLong(0, 1)).isInstanceOf(IllegalStateException.class);
    }
  }

  /** Their buffers go home, and may be another's before the program looks again. */
  @Test
  void claimsEndWithTheirEndpointAndWithTheNode() {
    try (TestNet net = new TestNet(2, 1, 3, 512, config())) {
      net.nodes.get(1).open(7);
      PmEndpoint from = net.nodes.get(0).open(7);
      List<SendBuffer> claims = new ArrayList<>(List.of(claim(net, from, 20), claim(net, from, 8)));
      from.close();
      PmEndpoint other = net.nodes.get(0).open(8);
      net.nodes.get(1).open(8);
      for (int i = 0; i < 20; i++) {
        claims.add(claim(net, other, 16));
      }
      net.nodes.get(0).close();
      for (SendBuffer claim : claims) {
        assertThatThrownBy(() -> claim.putLong(0, 1)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(claim::memory).hasMessageContaining("or its endpoint closed");
      }
    }
  }

  /** Claims one at a time and several at once, shared frames and own ones, keep one order. */
  @Test
  void framesOfEachWayKeepTheirOrder() {
    List<Long> got = new ArrayList<>();
    try (TestNet net = new TestNet(2, 2, 5, 512, config())) {
      PmEndpoint from = net.nodes.get(0).open(7);
      PmEndpoint to = net.nodes.get(1).open(7);
      net.loss = 0.02;
      int sent = 0;
      for (int round = 0; round < 60_000 && got.size() < MESSAGES; round++) {
        from.coalesceUpTo(round % 3 == 0 ? 64 : -1);
        sent += round % 5 == 0 ? sendTwo(from, sent) : sendOne(from, sent, 8 + round % 600);
        net.step();
        to.poll(m -> got.add(m.memory().get(ValueLayout.JAVA_LONG_UNALIGNED, m.offset())), 64);
      }
      net.run(10_000_000L);
      to.poll(m -> got.add(m.memory().get(ValueLayout.JAVA_LONG_UNALIGNED, m.offset())), 1_000);
      assertThat(from.acknowledged(1)).isEqualTo(sent);
      assertThat(got).hasSize(sent).hasSizeGreaterThanOrEqualTo(MESSAGES);
      for (int i = 0; i < sent; i++) {
        assertThat(got.get(i)).isEqualTo(i);
      }
    }
  }

  private static SendBuffer claim(TestNet net, PmEndpoint from, int bytes) {
    SendBuffer claim = from.claim(1, bytes);
    for (int i = 0; i < 10_000 && claim == null; i++) {
      net.step();
      claim = from.claim(1, bytes);
    }
    assertThat(claim).isNotNull();
    return claim;
  }

  private static int sendOne(PmEndpoint from, int number, int bytes) {
    SendBuffer claim = from.claim(1, bytes);
    if (claim == null) {
      return 0;
    }
    claim.putLong(0, number);
    from.send(claim);
    return 1;
  }

  /** The second claim is made while the first is out. */
  private static int sendTwo(PmEndpoint from, int number) {
    SendBuffer first = from.claim(1, 8);
    if (first == null) {
      return 0;
    }
    SendBuffer second = from.claim(1, 100);
    first.putLong(0, number);
    from.send(first);
    if (second == null) {
      return 1;
    }
    second.putLong(0, number + 1);
    from.send(second);
    return 2;
  }
}
