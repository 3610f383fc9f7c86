package org.pmhxb.cli.fuzz;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.cli.fuzz.FrameJudge.Fate;
import org.pmhxb.cli.fuzz.FrameJudge.Verdict;
import org.pmhxb.pm.Counter;
import org.pmhxb.pm.DropReason;
import org.pmhxb.pm.NodeConfig;
import org.pmhxb.pm.PmNode;
import org.pmhxb.router.Coordinates;
import org.pmhxb.router.DimensionOrderRouting;
import org.pmhxb.router.Discovery;
import org.pmhxb.router.RailLayout;

/**
 * The committed hostile frames through real ports, one by one, each with its own fate. Those of
 * other protocols are among them: ARP, IPv4, IPv6, LLDP, tagged frames, 802.3 lengths.
 */
class CorpusReplayTest {
  private static final int SELF = 2;
  private static final long ARRIVAL_LIMIT_NS = 20_000_000_000L;

  /** Less than an Ethernet header: a kernel interface does not send that. */
  private static final int VETH_LEAST_BYTES = 14;

  private final RailLayout layout = new RailLayout(FuzzNet.SHAPE, FuzzNet.RAILS);

  @ParameterizedTest
  @ValueSource(strings = {"ring", "veth"})
  void everyFrameHasItsFate(String fabric) throws Exception {
    boolean veth = fabric.equals("veth");
    assumeTrue(!veth || "root".equals(System.getProperty("user.name")), "veth pairs need root");
    List<Corpus.Entry> corpus =
        Corpus.read().stream().filter(e -> !veth || e.frame().length >= VETH_LEAST_BYTES).toList();
    try (RealRails rails = veth ? RealRails.veth(4) : RealRails.ring(4)) {
      PmNode node = node(rails);
      replay(rails, node, corpus);
      node.close();
    }
  }

  private PmNode node(RealRails rails) {
    List<String> devices = rails.near.stream().map(port -> port.name()).toList();
    Coordinates place = FuzzNet.SHAPE.coordinates(SELF);
    Discovery discovery = new Discovery(FuzzNet.SHAPE, place, layout, FuzzNet.KEY, 1, devices);
    for (int rail = 0; rail < layout.count(); rail++) {
      int d = layout.dimension(rail);
      discovery.assumeOwn(rail, rails.near.get(rail).macAddress());
      for (int c = 0; c < FuzzNet.SHAPE.extent(d); c++) {
        if (c != place.get(d)) {
          discovery.assume(rail, c, FuzzNet.mac(10 + c, rail));
        }
      }
    }
    NodeConfig config = NodeConfig.defaults(FuzzNet.KEY, 1, 256).withWindow(64);
    return new PmNode(config, rails.pool, new DimensionOrderRouting(discovery), rails.near, true);
  }

  private void replay(RealRails rails, PmNode node, List<Corpus.Entry> corpus) {
    FrameJudge judge = new FrameJudge(FuzzNet.SHAPE, layout, SELF, FuzzNet.KEY, null, false);
    Map<DropReason, Long> foretold = new EnumMap<>(DropReason.class);
    long stateful = 0;
    long relayed = 0;
    long received = 0;
    for (Corpus.Entry entry : corpus) {
      Verdict verdict = judge.judge(entry.frame(), entry.rail(), new int[6], new boolean[6]);
      relayed += verdict.fate() == Fate.RELAYED ? 1 : 0;
      stateful += verdict.fate() == Fate.STATEFUL ? 1 : 0;
      if (verdict.reason() != null) {
        foretold.merge(verdict.reason(), 1L, Long::sum);
      }
      rails.send(entry.rail(), entry.frame());
      received++;
      await(node, received, entry.label());
      for (int r = 0; r < layout.count(); r++) {
        rails.received(r);
      }
    }
    long extra = 0;
    for (DropReason reason : DropReason.values()) {
      long expected = foretold.getOrDefault(reason, 0L);
      long counted = node.counters().dropped(reason);
      assertThat(counted).as("%s", reason).isGreaterThanOrEqualTo(expected);
      extra += counted - expected;
    }
    // What a session or discovery judges may be dropped there.
    assertThat(extra).as("drops that were not foretold").isLessThanOrEqualTo(stateful);
    assertThat(node.counters().get(Counter.RELAYED)).isEqualTo(relayed).isPositive();
    assertThat(node.counters().get(Counter.DATA_DELIVERED)).isZero();
    assertThat(node.counters().get(Counter.SESSIONS_OPENED)).isZero();
  }

  private static void await(PmNode node, long frames, String label) {
    long limitNs = System.nanoTime() + ARRIVAL_LIMIT_NS;
    while (node.counters().get(Counter.FRAMES_RECEIVED) < frames) {
      node.doWork(System.nanoTime());
      assertThat(System.nanoTime() - limitNs).as(label + " did not arrive").isNegative();
    }
  }
}
