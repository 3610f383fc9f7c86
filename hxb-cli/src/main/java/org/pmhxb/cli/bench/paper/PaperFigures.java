package org.pmhxb.cli.bench.paper;

import java.util.Map;

/**
 * The figures of Sumimoto et al., "High Performance Communication Facility Using Multiple Gigabit
 * Ethernet for PACS-CS": tables 4, 5 and 6 and the text of section 5.3. Their links had 1 Gbit/s,
 * so 125 MB/s each; MB are 10^6 bytes.
 */
final class PaperFigures {
  /** Raw rate of one of their links, MB/s. */
  static final double LINK_MB = 125;

  /**
   * A row of table 4.
   *
   * @param share of the theoretical rate, as printed
   * @param us per packet, from the rate of 4 B messages
   */
  record OneWay(double mb, double share, double us) {}

  /** Table 4 by links. They have none with one link. */
  static final Map<Integer, OneWay> TABLE_4 =
      Map.of(
          2, new OneWay(248, 0.99, 2.38),
          4, new OneWay(494, 0.99, 2.58),
          6, new OneWay(741, 0.99, 2.71),
          8, new OneWay(981, 0.98, 2.81),
          9, new OneWay(1_065, 0.94, 2.90));

  /**
   * A row of table 5: rates in MB/s and shares of the theoretical one.
   *
   * @param both sum of what is sent and received
   */
  record Neighbours(
      double send,
      double sendShare,
      double receive,
      double receiveShare,
      double both,
      double bothShare) {}

  /** Table 5 by dimensions, two links in each. */
  static final Map<Integer, Neighbours> TABLE_5 =
      Map.of(
          1, new Neighbours(247.6, 0.990, 247.5, 0.990, 481.1, 0.962),
          2, new Neighbours(493.6, 0.987, 494.9, 0.990, 951.3, 0.951),
          3, new Neighbours(741.3, 0.988, 742.3, 0.990, 1_401.3, 0.934));

  /**
   * A row of table 6, and of section 5.3's text.
   *
   * @param twoLinksMb bandwidth with two links
   * @param fourLinksMb bandwidth with four; null where they measured none
   * @param halfRoundTripUs with two links, a switch of 5.1 us in every hop
   * @param noSwitchUs the same without the switches' share
   * @param smallLoss share of the 4 B rate that is lost against no relay
   */
  record Relayed(
      double twoLinksMb,
      Double fourLinksMb,
      double halfRoundTripUs,
      double noSwitchUs,
      double smallLoss) {}

  /** Table 6 by relays: their "n dimensions" is a way over n - 1 relays. */
  static final Map<Integer, Relayed> TABLE_6 =
      Map.of(
          0, new Relayed(248, 494.0, 14.9, 9.8, 0),
          1, new Relayed(248, 489.0, 27.5, 17.3, 0.26),
          2, new Relayed(248, null, 39.3, 24.0, 0.39));

  private PaperFigures() {}

  /**
   * Their bandwidth by message size. The paper's plots print no numbers, so this is what its tables
   * say of the two ends: the time per packet, until the links are full.
   *
   * @param usPerPacket time per packet of small messages
   * @param fullMb what 8 KB messages reach, MB/s
   */
  static double curveMb(double usPerPacket, double fullMb, int sizeBytes) {
    return Math.min(sizeBytes / usPerPacket, fullMb);
  }

  /**
   * Time per packet over {@code relays}, two links: table 4's, and what section 5.3 says is lost.
   */
  static double relayedUs(int relays) {
    return TABLE_4.get(2).us() / (1 - TABLE_6.get(relays).smallLoss());
  }
}
