package org.pmhxb.cli.bench.contention;

import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.pmhxb.cli.bench.BenchKind;
import org.pmhxb.cli.bench.TrafficPlan;
import org.pmhxb.cli.veth.LinkRate;
import org.pmhxb.router.Shape;

/**
 * One measurement of streams that compete, or of what lies between two nodes.
 *
 * @param id names it in JSON and journal
 * @param title for people
 * @param site what it runs on
 * @param plan who sends to whom
 * @param sizeBytes of each message
 * @param ceiling payload bytes a second that the raw rates of the links allow; 0: nothing is shaped
 * @param must least share of it; 0: no bound is set
 */
record ContentionCase(
    String id,
    String title,
    Site site,
    TrafficPlan plan,
    int sizeBytes,
    double ceiling,
    double must) {
  private static final int LARGE_BYTES = 8_192;
  private static final int SMALL_BYTES = 64;
  private static final int SMALLEST_BYTES = 4;

  /** What eight JVMs with six links each carry on two processors, with room to spare. */
  private static final LinkRate CUBE_RATE = LinkRate.parse("25mbit");

  private static final LinkRate RATE = LinkRate.parse("200mbit");
  private static final LinkRate SLOW = LinkRate.parse("50mbit");

  /** What joins the nodes. */
  enum Fabric {
    RING,
    VETH,
    /** Both ends in one process that polls them, the relays in another. */
    SHM
  }

  /**
   * A cluster.
   *
   * @param rate of each link; null: not shaped
   * @param slow rate of the first rail of dimension x instead; null: as the others
   */
  record Site(Fabric fabric, Shape shape, int rails, LinkRate rate, LinkRate slow) {
    @Override
    public String toString() {
      return "%s, %s, %d %s%s%s"
          .formatted(
              fabric.name().toLowerCase(Locale.ROOT),
              shape,
              rails,
              rails == 1 ? "rail" : "rails",
              rate == null ? "" : " of " + rate,
              slow == null ? "" : ", one of " + slow);
    }
  }

  /** Whether messages are counted, not bytes. */
  boolean isRate() {
    return plan.ownFrames();
  }

  boolean isPing() {
    return plan.kind() == BenchKind.LATENCY;
  }

  private static ContentionCase shaped(
      String id, String title, Site site, TrafficPlan plan, double must) {
    double slower =
        site.slow() == null ? 0 : site.rate().bytesPerSecond() - site.slow().bytesPerSecond();
    double ways = (double) plan.links() / site.rails();
    double ceiling = plan.links() * site.rate().bytesPerSecond() - ways * slower;
    return new ContentionCase(id, title, site, plan, LARGE_BYTES, ceiling, must);
  }

  /** All of them, those of one site behind each other. */
  static List<ContentionCase> all() {
    Shape line = Shape.of(8);
    Shape cube = Shape.of(2, 2, 2);
    Shape two = Shape.of(2);
    Site ring = new Site(Fabric.RING, line, 1, null, null);
    Site veth = new Site(Fabric.VETH, line, 1, RATE, null);
    Site eight = new Site(Fabric.VETH, cube, 2, CUBE_RATE, null);
    Site slow = new Site(Fabric.VETH, two, 3, RATE, SLOW);
    return List.of(
        new ContentionCase(
            "incast-ring",
            "incast of 7 to 1",
            ring,
            TrafficPlan.incast(line, 1),
            LARGE_BYTES,
            0,
            0),
        shaped("incast-veth", "incast of 7 to 1", veth, TrafficPlan.incast(line, 1), 0.90),
        shaped(
            "exchange",
            "neighbours, both ways",
            eight,
            TrafficPlan.exchange(cube, 2, Set.of()),
            0.96),
        shaped("all-to-all", "all to all", eight, TrafficPlan.allToAll(cube, 2), 0),
        shaped(
            "slow-rail", "a slow rail, one way", slow, pair(BenchKind.BANDWIDTH, 3, false), 0.98),
        shaped(
            "slow-rail-both",
            "a slow rail, both ways",
            slow,
            pair(BenchKind.BANDWIDTH, 3, true),
            0.96),
        relayed(0),
        relayed(1),
        relayed(2),
        relayedRate(0),
        relayedRate(1),
        relayedRate(2));
  }

  private static TrafficPlan pair(BenchKind kind, int rails, boolean both) {
    return TrafficPlan.pair(kind, Shape.of(2), rails, 0, both);
  }

  /** Id of the ping-pong over so many relays. */
  static String relayedId(int relays) {
    return "relays-" + relays;
  }

  /** Id of the stream of 4 B messages over so many relays. */
  static String relayedRateId(int relays) {
    return "relayed-rate-" + relays;
  }

  private static String over(int relays) {
    return relays + (relays == 1 ? " relay" : " relays");
  }

  /** All three in one cluster, whose other nodes are polled too: they differ in the way alone. */
  private static ContentionCase relayedRate(int relays) {
    Shape cube = Shape.of(2, 2, 2);
    return new ContentionCase(
        relayedRateId(relays),
        "4 B messages, " + over(relays),
        new Site(Fabric.RING, cube, 1, null, null),
        TrafficPlan.pair(BenchKind.BANDWIDTH, cube, 1, relays, false).withOwnFrames(),
        SMALLEST_BYTES,
        0,
        0);
  }

  private static ContentionCase relayed(int relays) {
    Shape shape = Shape.parse("2" + "x2".repeat(relays));
    return new ContentionCase(
        relayedId(relays),
        "half round trip, " + over(relays),
        new Site(Fabric.SHM, shape, 1, null, null),
        TrafficPlan.pair(BenchKind.LATENCY, shape, 1, relays, false),
        SMALL_BYTES,
        0,
        0);
  }
}
