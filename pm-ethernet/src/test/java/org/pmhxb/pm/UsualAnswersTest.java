package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The short way of frames that answer one another does what the checks one by one do, to the bit.
 */
class UsualAnswersTest {
  private static final int MESSAGES = 2_000;
  private static final int ROUNDS = 200_000;
  private static final int FIRST_ENDPOINT = 7;

  /** What a run left behind: every frame on the wire, what both counted, and what they know. */
  private record Trace(
      int answers, int frames, List<Map<String, Long>> counters, List<Long> roundTripsNs) {}

  /** Frames that took the short way, of the last run. */
  private long taken;

  private static NodeConfig config(long firstSeq) {
    return NodeConfig.defaults(0x1234, 1, 128).withWindow(64).withFirstSeq(firstSeq);
  }

  /**
   * @param several messages that are on the way at a time
   */
  @ParameterizedTest
  @CsvSource({
    "1, 1, 0, 0, 0, 1",
    "2, 2, 0, 0, 0, 1",
    "3, 2, 0.02, 0.02, 0, 1",
    "4, 2, 0.02, 0, 30000, 1",
    "5, 1, 0.02, 0.02, 30000, 2"
  })
  void readAsAnyOtherIs(
      long seed, int rails, double loss, double duplication, long jitterNs, int several) {
    Trace shortWay = run(seed, rails, loss, duplication, jitterNs, several, 1, false);
    if (several == 1) {
      assertThat(taken).as("answers that took the short way").isGreaterThan(MESSAGES);
    }
    Trace longWay = run(seed, rails, loss, duplication, jitterNs, several, 1, true);
    assertThat(taken).as("behind the tap").isZero();
    assertThat(shortWay.answers()).isEqualTo(MESSAGES);
    assertThat(shortWay).isEqualTo(longWay);
  }

  /** It is none of the first channel's that the frames of another one tell of. */
  @Test
  void creditIsForTheChannelBack() {
    Trace shortWay = run(6, 1, 0, 0, 0, 1, 2, false);
    Trace longWay = run(6, 1, 0, 0, 0, 1, 2, true);
    assertThat(shortWay.answers()).isEqualTo(MESSAGES);
    assertThat(shortWay).isEqualTo(longWay);
  }

  private Trace run(
      long seed,
      int rails,
      double loss,
      double duplication,
      long jitterNs,
      int several,
      int channels,
      boolean longWay) {
    int[] frames = {0};
    try (TestNet net = new TestNet(2, rails, seed, 512, config(0xFFFF_FFF0L))) {
      net.loss = loss;
      net.duplication = duplication;
      net.jitterNs = jitterNs;
      net.wireTap = bytes -> frames[0] = 31 * frames[0] + Arrays.hashCode(bytes);
      if (longWay) {
        // Who looks at frames sees them before they are checked, and so the short ways are shut.
        net.nodes.forEach(node -> node.tap((rail, id, memory, at, bytes) -> {}));
      }
      int answers = 0;
      for (int channel = 0; channel < channels; channel++) {
        answers = pingPong(net, FIRST_ENDPOINT + channel, several);
      }
      net.run(10_000_000L);
      taken = net.nodes.stream().mapToLong(node -> node.receiver.usualAcks.answers()).sum();
      return new Trace(
          answers,
          frames[0],
          net.nodes.stream().map(node -> node.counters().snapshot()).toList(),
          net.nodes.stream().flatMap(UsualAnswersTest::roundTrips).toList());
    }
  }

  private static Stream<Long> roundTrips(PmNode node) {
    Peer peer = node.core.peer(1 - node.self());
    return Arrays.stream(peer.paths)
        .flatMap(path -> Stream.of(path.smoothedRttNs, path.window.bytes()));
  }

  private static int pingPong(TestNet net, int endpoint, int several) {
    PmEndpoint asks = net.nodes.get(0).open(endpoint);
    PmEndpoint answers = net.nodes.get(1).open(endpoint);
    int[] due = {several, 0};
    int[] sent = {0, 0};
    int came = 0;
    for (int round = 0; round < ROUNDS && came < MESSAGES; round++) {
      sent[0] += send(asks, 1, sent[0], Math.min(due[0] - sent[0], MESSAGES - sent[0]));
      net.step();
      due[1] += answers.poll(message -> {}, 64);
      sent[1] += send(answers, 0, sent[1], due[1] - sent[1]);
      net.step();
      int n = asks.poll(message -> {}, 64);
      came += n;
      due[0] += n;
    }
    return came;
  }

  private static int send(PmEndpoint from, int to, int first, int most) {
    int sent = 0;
    for (; sent < most; sent++) {
      SendBuffer buffer = from.claim(to, 8);
      if (buffer == null) {
        break;
      }
      // All of it: what the buffer held before is part of the other run's difference.
      buffer.memory().set(ValueLayout.JAVA_LONG_UNALIGNED, buffer.offset(), first + sent);
      from.send(buffer);
    }
    return sent;
  }
}
