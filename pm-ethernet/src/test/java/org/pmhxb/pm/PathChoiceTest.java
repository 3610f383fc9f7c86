package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.bufpool.OffHeapPool;
import org.pmhxb.pm.flow.SendWindow;
import org.pmhxb.pm.port.Port;

/**
 * The choice of a path by its terms against the one that asks each path: the one that delivers
 * first.
 */
class PathChoiceTest {
  private static final int NODE = 1;
  private static final int LANE = 3;

  /** How often the short way gave the answer. */
  private int answers;

  /** A node with one peer; of one seed all are alike. */
  private static final class Setup implements AutoCloseable {
    final BufferPool pool = OffHeapPool.create(2048, 64);
    final Paths paths;
    final Peer peer = new Peer(NODE);
    private final NodeCore core;
    private final long nowNs;
    private int nextId = 1;

    /**
     * @param plain whether nothing keeps a path from being chosen
     */
    Setup(int rails, long seed, boolean plain) {
      Random random = new Random(seed);
      // The clock begins anywhere.
      nowNs = random.nextLong();
      long[][] macs = new long[rails][2];
      for (long[] ofRail : macs) {
        ofRail[NODE] =
            !plain && random.nextInt(12) == 0 ? 0 : 0x0200_0000_0000L + random.nextInt(9);
      }
      Rail[] all = new Rail[rails];
      boolean hides = random.nextInt(4) == 0;
      WaitingRails waits = new WaitingRails(rails);
      Arrays.setAll(all, i -> new Rail(i, waits, port(i, hides), pool, new ListenerFaults()));
      NodeConfig config = NodeConfig.defaults(0x1234, 1, 64);
      core = new NodeCore(config, pool, new LineRouting(0, macs), all, waits, new ListenerFaults());
      core.nowNs = nowNs;
      paths = new Paths(core);
      peer.paths = paths.create(peer);
      peer.window = new SendWindow(64, rails, random.nextInt(), peer.windowOwner());
      int first = plain ? 0 : random.nextInt(rails);
      peer.use(first, plain ? rails : first + 1 + random.nextInt(rails - first));
      for (int i = 0; i < rails; i++) {
        shape(peer.paths[i], random, plain);
        fill(all[i].local, random, plain);
      }
      for (PathState state : peer.paths) {
        paths.enterTerms(peer, state);
      }
    }

    private void shape(PathState state, Random random, boolean plain) {
      if (random.nextBoolean()) {
        state.sampleRtt(
            1 + random.nextInt(random.nextBoolean() ? 20_000 : 1_000_000_000), 0, 0, nowNs);
        state.window.used();
        state.window.onAcknowledged(random.nextInt(100_000), 1, 1, 1, 0, false, 0, nowNs);
        state.rate();
      }
      state.longerNs = random.nextInt(3) == 0 ? random.nextInt(1_000_000_000) : 0;
      if (plain) {
        return;
      }
      state.evicted = random.nextInt(6) == 0;
      state.late = random.nextInt(6) == 0;
      state.pacedUntilNs = nowNs + (random.nextInt(12) == 0 ? random.nextInt(3) - 1 : 0);
    }

    private static void fill(LocalQueue queue, Random random, boolean plain) {
      int frames =
          !plain && random.nextInt(12) == 0
              ? LocalQueue.CAPACITY - random.nextInt(2)
              : random.nextInt(4);
      if (!plain && random.nextInt(12) == 0) {
        frames = 4 * Rail.BURST - random.nextInt(2);
      }
      for (int i = 0; i < frames; i++) {
        queue.putHeld(1, 64 + 64 * random.nextInt(3), 0);
      }
      queue.portBytes(random.nextInt(4) == 0 ? random.nextInt(9_000) : 0);
    }

    /** Puts frames on paths, and loses or acknowledges some. */
    void traffic(Random random, int steps, boolean plain) {
      SendWindow window = peer.window;
      for (int i = 0; i < steps; i++) {
        PathState state = peer.paths[random.nextInt(peer.paths.length)];
        int bytes = plain ? 108 : 64 + random.nextInt(9_000);
        if (!window.isFull() || window.grow()) {
          if (!window.continues(state.held, LANE)) {
            window.turn(state.held, LANE);
          }
          window.send(nextId++, bytes, 1, i, 0, SendWindow.stamp(nowNs, 1));
        }
        if (random.nextInt(4) == 0 && window.inFlight() > 0 && window.acknowledgeFirst() == 0) {
          window.acknowledge(window.unacknowledged());
          window.advance();
        }
        if (!plain && random.nextInt(8) == 0 && !window.isEmpty(state.path)) {
          window.lose(window.firstOf(state.path));
        }
      }
    }

    /** What shows of a choice: path, its room, which windows may grow. */
    long[] shown(int chosen) {
      long room = chosen < 0 ? -1 : peer.paths[chosen].roomBytes;
      long front = chosen < 0 ? -1 : peer.paths[chosen].front0;
      long[] windows =
          Arrays.stream(peer.paths)
              .mapToLong(
                  state -> {
                    state.window.onAcknowledged(500, 1, 1, 1, 0, false, 0, nowNs);
                    return state.window.bytes();
                  })
              .toArray();
      return IntStream.range(0, 3 + windows.length)
          .mapToLong(
              i ->
                  switch (i) {
                    case 0 -> chosen;
                    case 1 -> room;
                    case 2 -> front;
                    default -> windows[i - 3];
                  })
          .toArray();
    }

    @Override
    public void close() {
      pool.close();
    }
  }

  /** A port that is asked what it is, and for nothing else. */
  static Port port(int rail, boolean hidesQueue) {
    return (Port)
        Proxy.newProxyInstance(
            Port.class.getClassLoader(),
            new Class<?>[] {Port.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "macAddress" -> 0x0200_0000_0100L + rail;
                  case "maxFrameBytes" -> 9_000;
                  case "isInProcess" -> false;
                  case "hidesQueue" -> hidesQueue;
                  default -> throw new UnsupportedOperationException(method.getName());
                });
  }

  private void compare(int rails, long seed, int steps, boolean plain) {
    try (Setup ours = new Setup(rails, seed, plain);
        Setup theirs = new Setup(rails, seed, plain)) {
      ours.traffic(new Random(seed), steps, plain);
      theirs.traffic(new Random(seed), steps, plain);
      int copies = (int) (seed & 3);
      int chosen = ours.paths.chooseByTerms(ours.peer, copies);
      if (chosen < 0) {
        // Nothing was done: who asks does all of it.
        chosen = ours.paths.chooseAsking(ours.peer, copies);
      } else {
        answers++;
      }
      assertThat(ours.shown(chosen))
          .isEqualTo(theirs.shown(theirs.paths.chooseAsking(theirs.peer, copies)));
    }
  }

  @Property(tries = 3_000, seed = "17")
  void whatTheTermsSayIsWhatThePathsSay(
      @ForAll @IntRange(min = 2, max = 9) int rails,
      @ForAll long seed,
      @ForAll @IntRange(max = 60) int steps) {
    compare(rails, seed, steps, false);
  }

  @Test
  void theTermsSufficeWhileEveryPathHasRoom() {
    int tries = 500;
    for (int seed = 0; seed < tries; seed++) {
      compare(2 + seed % 8, seed, seed % 40, true);
    }
    assertThat(answers).isEqualTo(tries);
  }
}
