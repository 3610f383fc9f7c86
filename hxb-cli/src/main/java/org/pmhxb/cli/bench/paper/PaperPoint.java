package org.pmhxb.cli.bench.paper;

import java.util.Locale;
import org.pmhxb.cli.Words;
import org.pmhxb.cli.bench.BenchKind;
import org.pmhxb.cli.bench.TrafficPlan;
import org.pmhxb.cli.veth.LinkRate;
import org.pmhxb.router.Shape;

/**
 * One figure of the paper that is measured anew.
 *
 * @param setup the cluster
 * @param depth relays of ONE_WAY and PING, dimensions of the others
 * @param sizeBytes of each message
 */
record PaperPoint(Setup setup, Traffic traffic, int depth, int sizeBytes) {
  /**
   * A cluster over veth.
   *
   * @param rails links per node in each dimension
   * @param rate of each link; null for links that are not shaped
   */
  record Setup(Shape shape, int rails, LinkRate rate) {
    @Override
    public String toString() {
      return shape + ", " + Words.count(rails, "rail") + ", " + (rate == null ? "unshaped" : rate);
    }
  }

  /** Who sends to whom. */
  enum Traffic {
    /** A stream between two nodes. */
    ONE_WAY,
    /** A ping-pong between two nodes. */
    PING,
    /** One node to its neighbours. */
    SEND,
    /** Its neighbours to one node. */
    RECEIVE,
    /** Both at once. */
    BOTH
  }

  TrafficPlan plan() {
    return switch (traffic) {
      case ONE_WAY ->
          TrafficPlan.pair(BenchKind.BANDWIDTH, setup.shape(), setup.rails(), depth, false);
      case PING -> TrafficPlan.pair(BenchKind.LATENCY, setup.shape(), setup.rails(), depth, false);
      case SEND, RECEIVE, BOTH ->
          TrafficPlan.star(
              setup.shape(), setup.rails(), depth, TrafficPlan.Star.valueOf(traffic.name()));
    };
  }

  /**
   * What full links ask of one machine that runs all nodes: the raw rate of each directed link on
   * the traffic's way, also of those between relays. Links must be shaped.
   */
  double askedBytesPerSecond() {
    int hops = traffic == Traffic.ONE_WAY || traffic == Traffic.PING ? depth + 1 : 1;
    return (double) hops * plan().links() * setup.rate().bytesPerSecond();
  }

  /** Names it in a journal and on the screen. */
  String key() {
    return setup
        + ": "
        + traffic.name().toLowerCase(Locale.ROOT)
        + " "
        + depth
        + ", "
        + sizeBytes
        + " B";
  }
}
