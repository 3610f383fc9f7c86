package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.pmhxb.bufpool.DpdkPool;
import org.pmhxb.bufpool.Owner;
import org.pmhxb.ffi.Eal;
import org.pmhxb.ffi.EalOptions;
import org.pmhxb.ffi.Hugepages;
import org.pmhxb.pm.port.Burst;
import org.pmhxb.pm.port.DpdkPorts;
import org.pmhxb.pm.port.PacketPort;
import org.pmhxb.pm.port.Port;
import org.pmhxb.pm.port.QueueBursts;
import org.pmhxb.pm.port.VethPair;
import org.pmhxb.pm.wire.FrameHeader;

/**
 * Two nodes over shared-memory lines or packet sockets, whose bursts are native calls: what waits
 * on one rail alone is sealed and sent in one, and whatever else is not.
 */
class NativeBurstsTest {
  private static final int ENDPOINT = 3;
  private static final int STRIDE = 81 * 128;

  @BeforeAll
  static void startEal() {
    Eal.init(EalOptions.defaults());
  }

  private static String line(String name) {
    return "hxb-native-bursts-" + ProcessHandle.current().pid() + "-" + name;
  }

  private static Port port(boolean server, String name, DpdkPool pool, long mac) {
    return DpdkPorts.shm((server ? "nbs-" : "nbc-") + name, line(name), server, pool, mac);
  }

  private static long mac(int node, int rail) {
    return 0x02_00_00_00_00_00L | node << 8 | rail;
  }

  private static PmNode node(int self, int rails, String name, DpdkPool pool, FrameKey.Mode mode) {
    long[][] macs = new long[rails][2];
    List<Port> ports = new ArrayList<>();
    for (int r = 0; r < rails; r++) {
      macs[r] = new long[] {mac(0, r), mac(1, r)};
      ports.add(port(self == 0, name + r, pool, mac(self, r)));
    }
    return node(self, macs, ports, pool, mode);
  }

  private static PmNode node(
      int self, long[][] macs, List<Port> ports, DpdkPool pool, FrameKey.Mode mode) {
    assertThat(new QueueBursts(ports, e -> {}).areNative()).isTrue();
    NodeConfig config = NodeConfig.defaults(5, 1 + self, 256).withWindow(256);
    NodeConfig keyed =
        mode == FrameKey.Mode.OFF ? config : config.withFrameKey(new FrameKey(mode, 11, 12, 1_000));
    return new PmNode(keyed, pool, new LineRouting(self, macs), ports, true);
  }

  /**
   * Bursts of one frame to more than a port takes, short ones and long ones; the receiver stands
   * still now and then, so that lines fill; both send, so that acknowledgements wait among them.
   */
  @ParameterizedTest
  @CsvSource({"1, OFF", "3, OFF", "1, TAG"})
  void allArriveWholeAndInOrder(int rails, FrameKey.Mode mode) throws Exception {
    String name = rails + "-" + mode + "-";
    try (DpdkPool pool0 = DpdkPool.create("nb0-" + name, STRIDE, 3_000, Hugepages.AUTO);
        DpdkPool pool1 = DpdkPool.create("nb1-" + name, STRIDE, 3_000, Hugepages.AUTO);
        PmNode node0 = node(0, rails, name, pool0, mode);
        PmNode node1 = node(1, rails, name, pool1, mode)) {
      exchange(node0, node1, rails);
    }
  }

  /** The same through the kernel, where a burst that is long asks for the queue first. */
  @ParameterizedTest
  @CsvSource({"1, OFF", "3, OFF", "1, TAG"})
  void allArriveThroughPacketSockets(int rails, FrameKey.Mode mode) throws Exception {
    Assumptions.assumeTrue(VethPair.canBeMade(), "veth pairs can be made by root only");
    VethPair.deleteThoseOfDeadRuns();
    String name = "p" + rails + "-" + mode + "-";
    List<VethPair> links = new ArrayList<>();
    try (DpdkPool pool0 = DpdkPool.create("nb0-" + name, STRIDE, 3_000, Hugepages.AUTO);
        DpdkPool pool1 = DpdkPool.create("nb1-" + name, STRIDE, 3_000, Hugepages.AUTO)) {
      for (int r = 0; r < rails; r++) {
        links.add(new VethPair());
      }
      List<Port> ports0 = links.stream().map(l -> socket(l.first(), pool0)).toList();
      List<Port> ports1 = links.stream().map(l -> socket(l.second(), pool1)).toList();
      long[][] macs = new long[rails][];
      for (int r = 0; r < rails; r++) {
        macs[r] = new long[] {ports0.get(r).macAddress(), ports1.get(r).macAddress()};
      }
      try (PmNode node0 = node(0, macs, ports0, pool0, mode);
          PmNode node1 = node(1, macs, ports1, pool1, mode)) {
        exchange(node0, node1, rails);
      }
    } finally {
      links.forEach(VethPair::close);
    }
  }

  private static Port socket(String interfaceName, DpdkPool pool) {
    return PacketPort.open(interfaceName, FrameHeader.ETHER_TYPE, pool);
  }

  private static void exchange(PmNode node0, PmNode node1, int seed) throws Exception {
    SplittableRandom random = new SplittableRandom(seed);
    try (PmEndpoint end0 = node0.open(ENDPOINT);
        PmEndpoint end1 = node1.open(ENDPOINT)) {
      Sequence to1 = new Sequence();
      Sequence to0 = new Sequence();
      long end = System.nanoTime() + 20_000_000_000L;
      int wanted = 6_000;
      int still = 0;
      while ((to1.got < wanted || to0.got < wanted / 3) && System.nanoTime() < end) {
        int burst = random.nextInt(8) == 0 ? random.nextInt(90) : random.nextInt(3);
        to1.send(end0, 1, Math.min(burst, wanted - to1.sent), random);
        if (random.nextInt(4) == 0) {
          to0.send(end1, 0, Math.min(random.nextInt(3), wanted / 3 - to0.sent), random);
        }
        node0.doWork(System.nanoTime());
        end0.poll(to0::take, 64);
        if (random.nextBoolean()) {
          node0.sendNow(System.nanoTime());
        }
        still = still > 0 ? still - 1 : random.nextInt(200) == 0 ? 100 : 0;
        if (still == 0) {
          node1.doWork(System.nanoTime());
          end1.poll(to1::take, 64);
        }
      }
      assertThat(to1.got).isEqualTo(wanted);
      assertThat(to0.got).isEqualTo(wanted / 3);
      for (PmNode node : List.of(node0, node1)) {
        assertThat(node.counters().dropped(DropReason.CRC)).isZero();
        assertThat(node.counters().dropped(DropReason.TAG)).isZero();
        assertThat(node.counters().get(Counter.PEERS_DOWN)).isZero();
      }
      // Each frame was counted once, sealed in its burst or before.
      assertThat(node0.counters().get(Counter.DATA_SENT))
          .isEqualTo(node1.counters().get(Counter.DATA_DELIVERED));
      assertThat(node1.counters().get(Counter.DATA_SENT))
          .isEqualTo(node0.counters().get(Counter.DATA_DELIVERED));
    }
  }

  /** Numbered messages one way, each filled with its number. */
  private static final class Sequence {
    int sent;
    int got;

    void send(PmEndpoint from, int to, int count, SplittableRandom random) {
      for (int i = 0; i < count; i++) {
        int longs = random.nextInt(6) == 0 ? 100 + random.nextInt(80) : 1 + random.nextInt(20);
        SendBuffer b = from.claim(to, longs * Long.BYTES);
        if (b == null) {
          return;
        }
        for (int k = 0; k < longs; k++) {
          b.putLong(k * Long.BYTES, sent * 31L + k);
        }
        from.send(b);
        sent++;
      }
    }

    void take(Message m) {
      for (int k = 0; k < m.lengthBytes() / Long.BYTES; k++) {
        assertThat(m.memory().get(ValueLayout.JAVA_LONG_UNALIGNED, m.offset() + k * Long.BYTES))
            .isEqualTo(got * 31L + k);
      }
      got++;
    }
  }

  /**
   * A line that is full takes what fits; what it leaves has its CRC, and others behind it have
   * none.
   */
  @Test
  void whatAFullLineLeavesIsNoUsualCaseWithOthersBehind() throws Exception {
    try (DpdkPool pool = DpdkPool.create("nbf0", STRIDE, 2_100, Hugepages.AUTO);
        DpdkPool other = DpdkPool.create("nbf1", STRIDE, 200, Hugepages.AUTO);
        Port server = port(true, "full", other, mac(1, 0));
        Port client = port(false, "full", pool, mac(0, 0))) {
      long limit = System.nanoTime() + 10_000_000_000L;
      while (!(server.linkUp() && client.linkUp()) && System.nanoTime() < limit) {
        Thread.onSpinWait();
      }
      WaitingRails waits = new WaitingRails(1);
      Rail rail = new Rail(0, waits, client, pool, new ListenerFaults());
      QueueBursts bursts = new QueueBursts(List.of(client), e -> {});
      assertThat(bursts.areNative()).isTrue();
      int window = Owner.of(Owner.WINDOW, 1);
      // A control frame before them keeps none of them from it.
      rail.putControl(pool.allocate(Owner.NODE), 80, 0);
      assertThat(send(rail, bursts, rail.offerUsual(bursts))).isEqualTo(1);
      assertThat(rail.isWaiting()).isFalse();
      int put = 0;
      int taken = 0;
      int last;
      do {
        while (rail.local.size() < 7) {
          int id = pool.allocate(window);
          assertThat(id).as("frame %d", put).isNotZero();
          rail.local.putHeld(id, 64, 0);
          waits.add(rail.local.bit);
          put++;
        }
        int offered = rail.offerUsual(bursts);
        last = offered > 0 ? send(rail, bursts, offered) : 0;
        taken += last;
        assertThat(offered == 0 || rail.local.isSealed()).isTrue();
      } while (last > 0);
      assertThat(put).isEqualTo(taken + rail.local.size());
      assertThat(rail.local.size()).isBetween(1, 7);
      assertThat(rail.isWaiting()).isTrue();
      assertThat(rail.local.isPortEmpty()).isFalse();
      assertThat(rail.offer(bursts, 0, 0)).isEqualTo(rail.local.size());
      rail.taken(0);
      rail.purgeHeldBy(window);
      assertThat(rail.offer(bursts, 0, 0)).isZero();
      assertThat(waits.only()).isEqualTo(-1);
    }
  }

  private static int send(Rail rail, QueueBursts bursts, int offered) {
    int n = bursts.sendSealed(0, rail.offered, rail.offeredFrom, offered, 0);
    assertThat(rail.takenUsual(n)).isEqualTo(n);
    return n;
  }

  /**
   * Frames of one kind on a rail alone; those of two, as a frame behind a control frame, are not.
   */
  @Test
  void onlyFramesOfOneKindAreUsual() {
    try (DpdkPool pool = DpdkPool.create("nbk", STRIDE, 200, Hugepages.AUTO);
        Port client = port(false, "kinds", pool, mac(0, 0))) {
      Rail rail = new Rail(0, new WaitingRails(1), client, pool, new ListenerFaults());
      QueueBursts bursts = new QueueBursts(List.of(client), e -> {});
      assertThat(rail.offerUsual(bursts)).isZero();
      rail.putControl(pool.allocate(Owner.NODE), 80, Burst.SEAL);
      assertThat(rail.offerUsual(bursts)).isEqualTo(1);
      assertThat(rail.offeredUnsealed).isEqualTo(1);
      rail.local.putHeld(pool.allocate(Owner.of(Owner.WINDOW, 1)), 64, Burst.SEAL);
      assertThat(rail.offerUsual(bursts)).isZero();
      rail.close();
    }
  }

  @Test
  void anOnlyRailIsFoundByItsBit() {
    WaitingRails waits = new WaitingRails(32);
    assertThat(waits.only()).isEqualTo(-1);
    waits.add(WaitingRails.bit(31));
    assertThat(waits.only()).isEqualTo(31);
    waits.add(WaitingRails.bit(0));
    assertThat(waits.only()).isEqualTo(-1);
    waits.remove(WaitingRails.bit(31));
    assertThat(waits.only()).isZero();
    assertThat(waits.has(WaitingRails.bit(31))).isFalse();
    assertThat(waits.bits()).isEqualTo(1);
  }
}
