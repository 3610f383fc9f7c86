package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.pm.wire.FrameHeader;

/** For how long new frames keep to the path that was chosen (PROTOCOL.md section 5.3). */
class StandingChoiceTest {
  private static final int ENDPOINT = 7;
  private static final int RAILS = 4;
  private static final int SHORT = 64;
  private static final int LONG = Sealer.SHORT_BYTES + 1;

  /** Of 8 KiB. */
  private static final int FRAMES = 8_192 / (FrameHeader.BYTES + SHORT);

  private final List<Integer> rails = new ArrayList<>();
  private TestNet net;
  private PmEndpoint from;
  private PmEndpoint to;
  private int received;

  @BeforeEach
  void connect() {
    net = new TestNet(2, RAILS, 1, 2_000, NodeConfig.defaults(0x1234, 1, 2_048));
    from = net.nodes.get(0).open(ENDPOINT);
    to = net.nodes.get(1).open(ENDPOINT);
    from.coalesceUpTo(-1);
    SendBuffer first = from.claim(1, SHORT);
    while (first == null) {
      step();
      first = from.claim(1, SHORT);
    }
    from.send(first);
    openWindows();
    received = 0;
    net.wireTap =
        bytes -> {
          MemorySegment frame = MemorySegment.ofArray(bytes);
          if (FrameHeader.kind(frame, 0) == FrameHeader.DATA) {
            // The rail stands in the last byte of the sender's address.
            rails.add((int) bytes[11]);
          }
        };
  }

  @AfterEach
  void close() {
    net.close();
  }

  /** Until a path takes 8 KiB at least; no choice stands any more then. */
  private void openWindows() {
    for (int i = 0; i < 2_000; i++) {
      SendBuffer b = from.claim(1, LONG);
      if (b != null) {
        from.send(b);
      }
      if (i % 8 == 0) {
        step();
      }
    }
    pause(5_000_000L);
    for (PathState path : net.nodes.get(0).core.peer(1).paths) {
      assertThat(path.window.bytes()).as("window of path %d", path.path).isGreaterThan(8_192);
    }
  }

  private void step() {
    net.step();
    to.poll(m -> received++, 64);
  }

  private void pause(long ns) {
    for (long until = net.nowNs + ns; net.nowNs < until; ) {
      step();
    }
  }

  /** Until a path's turn begins. */
  private void awaitTurn() {
    for (long turn = net.nowNs >> Paths.TURN_NS_BITS; net.nowNs >> Paths.TURN_NS_BITS == turn; ) {
      step();
    }
  }

  private void send(int bytes) {
    SendBuffer b = from.claim(1, bytes);
    assertThat(b).as("claim").isNotNull();
    from.send(b);
    step();
  }

  /** How many frames followed one another on a rail, turn by turn. */
  private List<Integer> turns() {
    List<Integer> turns = new ArrayList<>();
    for (int i = 0, begin = 0; i < rails.size(); i++) {
      if (i + 1 == rails.size() || !rails.get(i + 1).equals(rails.get(i))) {
        turns.add(i + 1 - begin);
        begin = i + 1;
      }
    }
    return turns;
  }

  private void assertAllArrived() {
    int sent = rails.size();
    pause(5_000_000L);
    assertThat(received).isEqualTo(sent);
  }

  @Test
  void shortFramesOfManyRoundsKeepToAPathForEightKibibytes() {
    awaitTurn();
    for (int i = 0; i < 2 * FRAMES - 1; i++) {
      send(SHORT);
    }
    assertThat(turns()).as("frames on a rail, of %s", rails).containsExactly(FRAMES, FRAMES - 1);
    assertAllArrived();
  }

  /** Whatever its size, while no link is the limit. */
  @ParameterizedTest
  @ValueSource(ints = {SHORT, LONG})
  void amongEqualPathsEachHasItsTurn(int bytes) {
    awaitTurn();
    for (int i = 0; i < 12; i++) {
      send(bytes);
      pause(60_000L - TestNet.STEP_NS);
    }
    assertThat(turns()).as("frames on a rail, of %s", rails).containsExactly(5, 4, 3);
    assertAllArrived();
  }

  @Test
  void aLongFrameIsWorthAChoiceOfItsOwn() {
    int shorts = 16;
    for (int i = 0; i < 2 * RAILS; i++) {
      pause(1_000_000L);
      awaitTurn();
      rails.clear();
      for (int k = 0; k < shorts; k++) {
        send(SHORT);
      }
      send(LONG);
      assertThat(turns()).as("frames on a rail, of %s", rails).containsExactly(shorts, 1);
    }
    pause(5_000_000L);
    assertThat(received).isEqualTo(2 * RAILS * (shorts + 1));
  }

  /**
   * Else one link has a queue while the others have nothing to do. The port is asked when it is
   * offered a frame, so the second one finds out.
   */
  @Test
  void whereTheLinkIsTheLimitAChoiceStandsForItsRoundAlone() {
    java.util.Arrays.fill(net.bytesPerNs, 0.01);
    awaitTurn();
    for (int i = 0; i < 2 * RAILS; i++) {
      send(SHORT);
    }
    assertThat(turns()).as("frames on a rail, of %s", rails).containsExactly(2, 2, 2, 2);
    assertAllArrived();
  }
}
