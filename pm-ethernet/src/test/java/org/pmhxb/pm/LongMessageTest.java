package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.pmhxb.bufpool.Owner;

/** Messages longer than a frame: their fragments follow each other (PROTOCOL.md section 7). */
class LongMessageTest {
  private static final int ENDPOINT = 7;
  private static final int LONG_BYTES = 5_000;

  /** Idle rounds after which who does not come back never does. */
  private static final int IDLES_MAX = 20_000;

  private static final long TIMEOUT_NS = 20_000_000L;

  private final TestNet net =
      new TestNet(
          2,
          1,
          18,
          600,
          NodeConfig.defaults(0x1234, 1, 128).withWindow(64).withPeerTimeoutNs(TIMEOUT_NS));

  private final Arena arena = Arena.ofConfined();
  private final MemorySegment source = arena.allocate(LONG_BYTES);
  private final PmEndpoint from = net.nodes.get(0).open(ENDPOINT);
  private final PmEndpoint to = net.nodes.get(1).open(ENDPOINT);
  private final List<String> got = new ArrayList<>();
  private int idles;

  @AfterEach
  void close() {
    arena.close();
    net.close();
  }

  private void receive() {
    net.step();
    to.poll(m -> got.add(m.fragmentOffsetBytes() + "/" + m.messageLengthBytes()), 16);
  }

  private void receiveAll() {
    for (int i = 0; i < 100; i++) {
      receive();
    }
  }

  private void idle(Runnable closes) {
    assertThat(idles++).as("idle rounds").isLessThan(IDLES_MAX);
    receive();
    if (idles == 100) {
      closes.run();
    }
  }

  private SendBuffer claim(int ofBytes, int atBytes, int partBytes) {
    return claim(() -> from.claimFragment(1, ENDPOINT, ofBytes, atBytes, partBytes));
  }

  private SendBuffer claim(Supplier<SendBuffer> claims) {
    SendBuffer b = null;
    for (int i = 0; i < IDLES_MAX && b == null; i++) {
      b = claims.get();
      receive();
    }
    assertThat(b).as("a claim").isNotNull();
    return b;
  }

  private void send(int ofBytes, int atBytes, int partBytes) {
    from.send(claim(ofBytes, atBytes, partBytes));
  }

  private void assertRefused(int ofBytes, int atBytes, String why) {
    SendBuffer b = claim(ofBytes, atBytes, 1_000);
    assertThatThrownBy(() -> from.send(b))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage(
            "fragment at %d of a message of %d bytes to endpoint 7 of node 1: %s"
                .formatted(atBytes, ofBytes, why));
    b.abort();
  }

  /** The peer is not there, so that nothing but the wait itself can see it. */
  @Test
  void whoWaitsHearsThatItsNodeWasClosed() {
    net.deadRail[0] = true;
    PmNode node = net.nodes.get(0);
    assertThatThrownBy(
            () ->
                from.sendLarge(
                    1,
                    ENDPOINT,
                    source,
                    0,
                    LONG_BYTES,
                    work ->
                        idle(
                            () -> {
                              node.close();
                              net.nodes.set(0, null);
                            })))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("node 0 is closed");
  }

  @Test
  void whoWaitsHearsThatItsEndpointWasClosed() {
    net.deadRail[0] = true;
    assertThatThrownBy(
            () -> from.sendLarge(1, ENDPOINT, source, 0, LONG_BYTES, work -> idle(from::close)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("endpoint 7 is closed");
  }

  /** A handler that answers with a long message while one waits. */
  @Test
  void aLongMessageWithinAnotherIsRefused() {
    boolean[] asked = {false};
    from.sendLarge(
        1,
        ENDPOINT,
        source,
        0,
        LONG_BYTES,
        work -> {
          idle(() -> {});
          if (!asked[0] && work > 0) {
            asked[0] = true;
            assertThatThrownBy(() -> from.sendLarge(1, ENDPOINT, source, 0, 300, w -> {}))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage(
                    "message of 300 bytes within sendLarge of one of 5000 bytes to the same"
                        + " endpoint 7 of node 1: send it after the handler");
            assertThatThrownBy(() -> from.claimFragment(1, ENDPOINT, 300, 0, 300))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("within sendLarge");
            // Its own channel alone.
            from.claimFragment(1, ENDPOINT + 1, 300, 0, 300);
          }
        });
    assertThat(asked[0]).isTrue();
    from.sendLarge(1, ENDPOINT, source, 0, 300, work -> {});
    receiveAll();
    int part = from.maxFragmentBytes();
    List<String> expected = new ArrayList<>();
    for (int at = 0; at < LONG_BYTES; at += part) {
      expected.add(at + "/5000");
    }
    expected.add("0/300");
    assertThat(got).isEqualTo(expected);
  }

  /** Another thread's memory, or closed: each time a claim would be lost, and its credit. */
  @Test
  void whatCannotBeReadCostsNoClaim() {
    claim(1, 0, 1).abort();
    int owned = net.pools.get(0).ownedBy(Owner.APPLICATION);
    Arena gone = Arena.ofConfined();
    MemorySegment closed = gone.allocate(LONG_BYTES);
    gone.close();
    for (int i = 0; i < 1_000; i++) {
      assertThatThrownBy(
              () -> from.sendLarge(1, ENDPOINT, closed, 0, LONG_BYTES, work -> idle(() -> {})))
          .isInstanceOf(IllegalStateException.class);
    }
    assertThat(net.pools.get(0).ownedBy(Owner.APPLICATION)).isEqualTo(owned);
    from.sendLarge(1, ENDPOINT, source, 0, 300, work -> idle(() -> {}));
  }

  /** Order is of fragments alone. */
  @Test
  void whatIsShortGoesBetweenTheFragments() {
    send(3_000, 0, 900);
    from.send(claim(() -> from.claim(1, 8)));
    send(3_000, 900, 900);
    receiveAll();
    assertThat(got).containsExactly("0/3000", "0/8", "900/3000");
  }

  /** What was begun is given up, and what comes next begins anew. */
  @Test
  void anEndpointThatIsOpenedAnewGoesOnWithNothing() {
    send(3_000, 0, 900);
    from.close();
    receiveAll();
    PmEndpoint anew = net.nodes.get(0).open(ENDPOINT);
    anew.sendLarge(1, ENDPOINT, source, 0, 100, work -> idle(() -> {}));
    receiveAll();
    assertThat(got).containsExactly("0/3000", "0/100");
  }

  @Test
  void fragmentsAreSentInOrderOnly() {
    assertRefused(3_000, 1_000, "a message begins at 0");
    send(3_000, 0, 900);
    assertRefused(3_000, 1_800, "one of 3000 bytes is under way, and goes on at 900");
    assertRefused(2_000, 900, "one of 3000 bytes is under way, and goes on at 900");
    assertRefused(3_000, 0, "one of 3000 bytes is under way, and goes on at 900");
    assertThatThrownBy(() -> from.sendLarge(1, ENDPOINT, source, 0, 100, work -> {}))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("one of 3000 bytes is under way, and goes on at 900");
    // Claims may be made ahead, and cut.
    SendBuffer second = claim(3_000, 900, 900);
    SendBuffer third = claim(3_000, 1_800, 900);
    SendBuffer next = claim(10, 0, 10);
    from.send(second);
    third.truncate(800);
    from.send(third);
    assertThatThrownBy(() -> from.send(next)).hasMessageContaining("goes on at 2600");
    send(3_000, 2_600, 400);
    from.send(next);
    receiveAll();
    assertThat(got).containsExactly("0/3000", "900/3000", "1800/3000", "2600/3000", "0/10");
    assertThat(net.pools.get(0).ownedBy(org.pmhxb.bufpool.Owner.APPLICATION)).isZero();
  }

  /** What was begun in a session that ended is lost, and the next message begins. */
  @Test
  void aMessageEndsWithItsSession() {
    send(3_000, 0, 900);
    net.deadRail[0] = true;
    net.run(3 * TIMEOUT_NS);
    net.deadRail[0] = false;
    assertRefused(3_000, 900, "a message begins at 0");
    send(2_000, 0, 900);
    send(2_000, 900, 1_000);
    send(2_000, 1_900, 100);
  }

  /** What an idle strategy that throws leaves behind is finished by hand. */
  @Test
  void aMessageThatWasBrokenOffGoesOn() {
    assertThatThrownBy(
            () ->
                from.sendLarge(
                    1,
                    ENDPOINT,
                    source,
                    0,
                    2_000,
                    work -> {
                      receive();
                      if (work > 0) {
                        throw new IllegalStateException("enough");
                      }
                    }))
        .hasMessage("enough");
    int done = from.maxFragmentBytes();
    assertThatThrownBy(() -> from.sendLarge(1, ENDPOINT, source, 0, 100, work -> receive()))
        .hasMessageContaining("one of 2000 bytes is under way, and goes on at " + done);
    send(2_000, done, 2_000 - done);
    from.sendLarge(1, ENDPOINT, source, 0, 100, work -> receive());
  }
}
