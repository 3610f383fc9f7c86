package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.bufpool.OffHeapPool;
import org.pmhxb.pm.flow.SendWindow;
import org.pmhxb.pm.wire.FrameHeader;

/** The paths of control frames, in turn. */
class ControlTurnsTest {
  private static final int ENDPOINT = 7;
  private static final int NODE = 1;
  private static final int RAILS = 4;
  private static final long MS = 1_000_000L;

  /**
   * A line of which some rails are detours, and some next hops not known.
   *
   * @param unknown by rail
   */
  private static Routing withDetours(Routing line, int firstChoices, boolean[] unknown) {
    return (Routing)
        Proxy.newProxyInstance(
            Routing.class.getClassLoader(),
            new Class<?>[] {Routing.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "firstChoiceCount" -> firstChoices;
                  case "nextHopMac" ->
                      unknown[(int) arguments[1]]
                          ? 0L
                          : line.nextHopMac((int) arguments[0], (int) arguments[1]);
                  default -> method.invoke(line, arguments);
                });
  }

  /** What the turns are, by number alone. */
  private static final class Model {
    private final boolean[] unknown;
    private final boolean[] trusted;
    private final boolean[] slow;
    private boolean up;
    private int first;
    private int end;
    private int next;

    Model(boolean[] unknown) {
      this.unknown = unknown;
      this.trusted = new boolean[unknown.length];
      this.slow = new boolean[unknown.length];
    }

    /** The path whose turn it is among those in use and usable, a slow one if there is no other. */
    int control() {
      int firstSlow = -1;
      for (int i = 0; up && i < end - first; i++) {
        int path = next >= first && next < end ? next : first;
        next = path + 1;
        if (trusted[path] && !unknown[path] && !slow[path]) {
          return path;
        }
        if (trusted[path] && !unknown[path] && firstSlow < 0) {
          firstSlow = path;
        }
      }
      if (firstSlow >= 0) {
        next = firstSlow + 1;
        return firstSlow;
      }
      return any();
    }

    /** The first of all whose next hop is known, from the one whose turn it is round to it. */
    int any() {
      int all = unknown.length;
      int found =
          IntStream.range(0, all)
              .map(i -> (next + i) % all)
              .filter(path -> !unknown[path])
              .findFirst()
              .orElse(-1);
      next = found < 0 ? next % all : (found + 1) % all;
      return found;
    }
  }

  /** A peer, and the model of its turns. */
  private static final class Setup implements AutoCloseable {
    final BufferPool pool = OffHeapPool.create(2048, 64);
    final Peer peer = new Peer(NODE);
    final NodeCore core;
    final Model model;
    private final Random random;
    private final Paths paths;
    private final int rails;
    private final int firstChoices;

    Setup(int rails, int firstChoices, Random random) {
      this.random = random;
      this.rails = rails;
      this.firstChoices = firstChoices;
      long[][] macs = new long[rails][2];
      for (long[] ofRail : macs) {
        ofRail[NODE] = 0x0200_0000_0000L;
      }
      boolean[] unknown = new boolean[rails];
      Rail[] all = new Rail[rails];
      WaitingRails waits = new WaitingRails(rails);
      Arrays.setAll(
          all, i -> new Rail(i, waits, PathChoiceTest.port(i, false), pool, new ListenerFaults()));
      Routing routing = withDetours(new LineRouting(0, macs), firstChoices, unknown);
      NodeConfig config = NodeConfig.defaults(0x1234, 1, 64);
      core = new NodeCore(config, pool, routing, all, waits, new ListenerFaults());
      paths = new Paths(core);
      model = new Model(unknown);
    }

    void begin() {
      peer.paths = paths.create(peer);
      peer.window = new SendWindow(64, rails, 0, peer.windowOwner());
      peer.state = PeerState.UP;
      model.up = true;
      Arrays.fill(model.trusted, true);
      Arrays.fill(model.slow, false);
      use(0, firstChoices);
    }

    void endOrBegin() {
      if (model.up) {
        peer.state = PeerState.DOWN;
        model.up = false;
      } else {
        begin();
      }
    }

    private void use(int first, int end) {
      peer.use(first, end);
      model.first = first;
      model.end = end;
    }

    /** Detours, where there are some, or the paths of first choice. */
    void useOthers() {
      boolean detours = firstChoices < rails && model.first == 0;
      use(detours ? firstChoices : 0, detours ? rails : firstChoices);
    }

    void shapeOne() {
      int path = random.nextInt(rails);
      PathState state = peer.paths[path];
      state.evicted = random.nextInt(4) == 0;
      state.late = random.nextInt(4) == 0;
      state.probesUnanswered = random.nextInt(Paths.PROBES_TO_EVICT + 1);
      state.isSlow = random.nextInt(3) == 0;
      model.slow[path] = state.isSlow;
      model.trusted[path] =
          !state.evicted && !state.late && state.probesUnanswered < Paths.PROBES_TO_EVICT;
      model.unknown[path] = random.nextInt(6) == 0;
    }

    @Override
    public void close() {
      pool.close();
    }
  }

  /** Kept beside its number, the path whose turn it is could be another one, or an old one. */
  @Property(tries = 500, seed = "17")
  void theTurnsAreThoseOfTheirNumbers(
      @ForAll @IntRange(min = 1, max = 9) int rails,
      @ForAll @IntRange(min = 1, max = 9) int firstChoices,
      @ForAll long seed) {
    Random random = new Random(seed);
    try (Setup setup = new Setup(rails, Math.min(firstChoices, rails), random)) {
      setup.begin();
      for (int step = 0; step < 300; step++) {
        switch (random.nextInt(20)) {
          case 0 -> setup.endOrBegin();
          case 1 -> setup.useOthers();
          case 2, 3, 4, 5, 6 -> setup.shapeOne();
          case 7, 8 -> assertThat(setup.core.anyPath(setup.peer)).isEqualTo(setup.model.any());
          case 9, 10, 11, 12 ->
              assertThat(setup.core.controlPath(setup.peer)).isEqualTo(setup.model.control());
          default -> compareWay(setup);
        }
      }
    }
  }

  /** As acknowledgements ask: for the path itself, and its number only where there is none. */
  private static void compareWay(Setup setup) {
    PathState way = setup.core.controlWay(setup.peer);
    int path = way == null ? setup.core.anyPath(setup.peer) : way.path;
    assertThat(path).isEqualTo(setup.model.control());
    if (way != null) {
      assertThat(way).as("of this session").isSameAs(setup.peer.paths[path]);
    }
  }

  /**
   * Who hears nothing any more says once that the session has ended, by an only path too, although
   * that was the last to be taken (PROTOCOL.md section 4.3): the other one need not wait for its
   * own time-out.
   */
  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void theEndOfASilentPeerIsSaidByWhicheverPathThereIs(int rails) {
    long timeoutNs = 100 * MS;
    NodeConfig config =
        NodeConfig.defaults(0x1234, 1, 128).withWindow(64).withPeerTimeoutNs(timeoutNs);
    try (TestNet net = new TestNet(2, rails, 1, 600, config)) {
      PmEndpoint to = net.nodes.get(1).open(ENDPOINT);
      sendOne(net, net.nodes.get(0).open(ENDPOINT));
      net.run(MS);
      assertThat(to.poll(m -> {}, 16)).isEqualTo(1);
      List<Integer> resetsOf = new ArrayList<>();
      net.wireTap =
          bytes -> {
            MemorySegment frame = MemorySegment.ofArray(bytes);
            if (FrameHeader.kind(frame, 0) == FrameHeader.RESET) {
              resetsOf.add(FrameHeader.src(frame, 0));
            }
          };
      Arrays.fill(net.muteNode, 0, rails, 1); // 1 hears 0, who hears nothing
      net.run(timeoutNs + 20 * MS);

      assertThat(net.nodes.get(0).peerState(1)).isEqualTo(PeerState.DOWN);
      assertThat(resetsOf).isNotEmpty().containsOnly(0);
      assertThat(net.nodes.get(1).peerState(0))
          .as("long before its time-out")
          .isNotEqualTo(PeerState.UP);
    }
  }

  /**
   * While no path in use answers all are tried, an only one as well: what there is to say must not
   * be thrown away (section 5.5).
   */
  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void acknowledgementsFindAPathWhileNoneAnswers(int rails) {
    NodeConfig config = NodeConfig.defaults(0x1234, 1, 128).withWindow(64);
    try (TestNet net = new TestNet(2, rails, 7, 600, config)) {
      net.nodes.get(1).open(ENDPOINT);
      PmEndpoint from = net.nodes.get(0).open(ENDPOINT);
      sendOne(net, from);
      net.run(MS);
      PmNode receiver = net.nodes.get(1);
      for (PathState path : receiver.core.peer(0).paths) {
        path.probesUnanswered = Paths.PROBES_TO_EVICT;
      }
      long before = receiver.counters().get(Counter.ACKS_SENT);
      sendOne(net, from);
      net.run(MS);

      assertThat(receiver.counters().get(Counter.ACKS_SENT)).isGreaterThan(before);
      assertThat(receiver.counters().dropped(DropReason.NO_ROUTE)).isZero();
    }
  }

  /** Acknowledgements by a path of the session before would have its number, and be no news. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void aNewSessionAcknowledgesByAPathOfItsOwn(int firstChoices) {
    NodeConfig config = NodeConfig.defaults(0x1234, 1, 128).withWindow(64);
    try (TestNet net = new TestNet(2, RAILS, 1, 600, config)) {
      net.routing = line -> withDetours(line, firstChoices, new boolean[RAILS]);
      for (int node = 0; node < 2; node++) {
        restart(net, node, config, node + 2);
      }
      PmEndpoint to = net.nodes.get(1).open(ENDPOINT);
      NodeCore core = net.nodes.get(1).core;
      Peer peer = core.peer(0);
      sendOne(net, net.nodes.get(0).open(ENDPOINT));
      net.run(MS);
      int before = peer.session;
      net.nodes.get(0).quit();
      net.run(MS);
      restart(net, 0, config, 4);
      assertThat(peer.state).isEqualTo(PeerState.DOWN);
      while (peer.nextControlPath() != firstChoices) {
        core.anyPath(peer);
      }

      List<MemorySegment> acks = new ArrayList<>();
      net.wireTap =
          bytes -> {
            MemorySegment frame = MemorySegment.ofArray(bytes);
            if (FrameHeader.kind(frame, 0) == FrameHeader.ACK_KIND
                && FrameHeader.src(frame, 0) == 1) {
              acks.add(frame);
            }
          };
      sendOne(net, net.nodes.get(0).open(ENDPOINT));
      net.run(MS);

      int[] got = {0};
      to.poll(m -> got[0]++, 16);
      assertThat(got[0]).isEqualTo(2);
      assertThat(peer.session).isNotIn(0, before);
      assertThat(acks).isNotEmpty();
      assertThat(FrameHeader.session(acks.getFirst(), 0)).isEqualTo(peer.session);
      assertThat(acks)
          .extracting(ack -> FrameHeader.path(ack, 0))
          .as("codes of paths")
          .allMatch(code -> code < core.routing.path(0, firstChoices));
    }
  }

  /** Slowness is asked of the paths in use alone, so none of the others may count as slow. */
  @Test
  void pathsThatGoOutOfUseCountAsSlowNoMore() {
    try (Setup setup = new Setup(RAILS, 2, new Random(1))) {
      setup.begin();
      Peer peer = setup.peer;
      peer.paths[1].isSlow = true;
      peer.mayDiffer |= Peer.SLOW;
      peer.paths[0].evicted = true;
      peer.paths[1].evicted = true;
      setup.paths.chooseOrder(peer);

      assertThat(peer.firstPath).as("detours are used").isEqualTo((byte) 2);
      assertThat(peer.paths[1].isSlow).isFalse();
      assertThat(peer.mayDiffer & Peer.SLOW).isZero();
    }
  }

  private static void restart(TestNet net, int node, NodeConfig config, long incarnation) {
    net.nodes.get(node).close();
    net.pools.get(node).close();
    net.start(node, 2, config, incarnation);
  }

  private static void sendOne(TestNet net, PmEndpoint from) {
    SendBuffer b = from.claim(1, Long.BYTES);
    for (int i = 0; b == null && i < 10_000; i++) {
      net.step();
      b = from.claim(1, Long.BYTES);
    }
    assertThat(b).as("a claim within 20 ms").isNotNull();
    from.send(b);
  }
}
