package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.bufpool.Owner;

/**
 * Endpoints that open and close all the time, on nodes that speak to others and to themselves with
 * little credit, over a lossy line that is cut for longer than the peer timeout now and then. By
 * seed: no message comes twice or behind a later one of its channel, all bounds hold, and when the
 * trouble is over each open endpoint reaches each other within a second.
 */
class ChurnTest {
  private static final int NODES = 3;
  private static final int NUMBERS = 4;
  private static final int RAILS = 2;
  private static final int STEPS = 12_000;
  private static final long TIMEOUT_NS = 10_000_000L;
  private static final long SECOND = 1_000_000_000L;
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;

  /**
   * Of credit, fewer than all channels would like, and of every second seed than there are
   * channels. Of every third, few frames may be held, fewer than endpoints have at hand.
   */
  private static NodeConfig config(long seed) {
    int creditBuffers = seed % 4 < 2 ? 160 : 40;
    return new NodeConfig(0x1234, 1, 1, 16, creditBuffers, 8, 8, 16, 8, TIMEOUT_NS, 1_024, -1)
        .withHeldFrames(seed % 3 == 0 ? 4 : 1_000);
  }

  /** One opening of an endpoint. */
  private final class Program implements MessageHandler {
    final int node;
    final int number;
    final long id;
    final PmEndpoint endpoint;

    /** By destination: messages sent. */
    final Map<Integer, Long> sent = new HashMap<>();

    Program(int node, int number) {
      this.node = node;
      this.number = number;
      this.endpoint = net.nodes.get(node).open(number);
      this.id = programs.size();
      programs.add(this);
      if (random.nextBoolean()) {
        endpoint.coalesceUpTo(-1);
      }
    }

    boolean send(int dst, int to) {
      SendBuffer b = endpoint.claim(dst, to, 3 * Long.BYTES);
      if (b == null) {
        return false;
      }
      int channel = dst << 16 | to;
      long count = sent.merge(channel, 1L, Long::sum);
      b.memory().set(LONG, b.offset(), id);
      b.memory().set(LONG, b.offset() + 8, channel);
      b.memory().set(LONG, b.offset() + 16, count);
      endpoint.send(b);
      return true;
    }

    @Override
    public void onMessage(Message m) {
      Program source = programs.get((int) m.memory().get(LONG, m.offset()));
      long channel = m.memory().get(LONG, m.offset() + 8);
      long count = m.memory().get(LONG, m.offset() + 16);
      assertThat(m.source()).isEqualTo(source.node);
      assertThat(m.sourceEndpoint()).isEqualTo(source.number);
      assertThat(channel).isEqualTo((long) node << 16 | number);
      Long before = last.put(source.id + ">" + channel, count);
      assertThat(before == null || before < count)
          .as("message %s of %s>%s behind %s", count, source.id, channel, before)
          .isTrue();
      got.add(source.id + ">" + channel + ":" + count);
    }

    void poll(int most) {
      endpoint.poll(this, most);
    }
  }

  private SplittableRandom random;
  private TestNet net;
  private final List<Program> programs = new ArrayList<>();
  private final Program[][] open = new Program[NODES][NUMBERS + 1];
  private final Map<String, Long> last = new HashMap<>();
  private final Set<String> got = new HashSet<>();

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
  void endpointsComeAndGo(long seed) {
    random = new SplittableRandom(seed);
    try (TestNet line = new TestNet(NODES, RAILS, seed, 2_000, config(seed), seed % 2 == 0)) {
      net = line;
      net.loss = 0.02 * random.nextInt(4);
      net.duplication = 0.02 * random.nextInt(3);
      net.jitterNs = random.nextInt(2) * 40_000L;
      churn();
      net.loss = 0;
      net.duplication = 0;
      net.deadRail[0] = false;
      net.deadRail[1] = false;
      run(SECOND / 20);
      everyoneReachesEveryone();
      nothingIsLeft();
    }
    assertThat(got).as("messages that came").hasSizeGreaterThan(STEPS / 100);
  }

  private void churn() {
    for (int i = 0; i < STEPS; i++) {
      int node = random.nextInt(NODES);
      int number = 1 + random.nextInt(NUMBERS);
      Program at = open[node][number];
      switch (random.nextInt(40)) {
        case 0 -> openOrClose(node, number);
        case 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 -> {
          if (at != null) {
            at.poll(1 + random.nextInt(8));
          }
        }
        case 13 -> {
          int rail = random.nextInt(RAILS);
          net.deadRail[rail] = random.nextInt(6) == 0;
        }
        case 14 -> {
          boolean cut = random.nextInt(40) == 0;
          net.deadRail[0] = cut;
          net.deadRail[1] = cut;
          if (cut) {
            run(random.nextLong(3 * TIMEOUT_NS));
          }
        }
        default -> {
          if (at != null) {
            at.send(random.nextInt(NODES), 1 + random.nextInt(NUMBERS));
          }
        }
      }
      step();
    }
  }

  private void openOrClose(int node, int number) {
    if (open[node][number] != null) {
      open[node][number].endpoint.close();
      open[node][number] = null;
      return;
    }
    try {
      open[node][number] = new Program(node, number);
    } catch (IllegalStateException e) {
      assertThat(e).hasMessageContaining("credit buffers");
    }
  }

  private void step() {
    net.step();
    for (PmNode node : net.nodes) {
      assertThat(node.brokenBound()).isNull();
    }
  }

  private void run(long ns) {
    for (long until = net.nowNs + ns; net.nowNs < until; ) {
      step();
    }
  }

  private List<Program> allOpen() {
    return Arrays.stream(open).flatMap(Arrays::stream).filter(Objects::nonNull).toList();
  }

  private void pollAll() {
    allOpen().forEach(program -> program.poll(Integer.MAX_VALUE));
  }

  private void everyoneReachesEveryone() {
    for (Program source : allOpen()) {
      allOpen().forEach(to -> reaches(source, to.node, to.number));
    }
  }

  private void reaches(Program source, int dst, int number) {
    String what = "%d.%d>%d.%d".formatted(source.node, source.number, dst, number);
    long until = net.nowNs + SECOND;
    while (!source.send(dst, number)) {
      if (mayStarve(source, dst, number)) {
        return;
      }
      assertThat(net.nowNs).as("%s has no credit for a second", what).isLessThan(until);
      step();
      pollAll();
    }
    int channel = dst << 16 | number;
    String message = source.id + ">" + channel + ":" + source.sent.get(channel);
    while (!got.contains(message)) {
      assertThat(net.nowNs).as("%s has not come for a second", what).isLessThan(until);
      step();
      pollAll();
    }
  }

  /** Whether it may be without credit, since others have all of it (section 6, sum rule). */
  private boolean mayStarve(Program source, int dst, int number) {
    NodeCore there = net.nodes.get(dst).core;
    InLane in = there.peer(source.node).lane(source.number, number);
    return there.ledger.left() == 0 && in != null && in.granted() == 0;
  }

  /** All endpoints closed and all sessions ended, the buffers are where they were. */
  private void nothingIsLeft() {
    pollAll();
    run(SECOND / 50);
    pollAll();
    allOpen().forEach(program -> program.endpoint.close());
    run(SECOND / 50);
    for (PmNode node : net.nodes) {
      assertThat(node.core.ledger.outstanding()).as("credit of node %d", node.self()).isZero();
      node.quit();
    }
    run(SECOND / 50);
    for (int n = 0; n < NODES; n++) {
      net.nodes.get(n).close();
      net.nodes.set(n, null);
      BufferPool pool = net.pools.get(n);
      assertThat(pool.ownedBy(Owner.FREE)).as("free of node %d", n).isEqualTo(pool.capacity());
    }
  }
}
