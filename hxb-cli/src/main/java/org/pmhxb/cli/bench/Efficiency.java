package org.pmhxb.cli.bench;

import java.util.Optional;
import org.pmhxb.cli.veth.LinkRate;

/**
 * Payload that arrived against the raw rate of the links it came over.
 *
 * @param theoreticalBytesPerSecond raw rate of all links in use
 * @param share of it that was payload
 */
public record Efficiency(double theoreticalBytesPerSecond, double share) {
  /** More than this cannot come over shaped links: then they were none. */
  public static final double MOST = 1.01;

  public static Efficiency of(double bytesPerSecond, int links, LinkRate rate) {
    double theoretical = links * rate.bytesPerSecond();
    return new Efficiency(theoretical, bytesPerSecond / theoretical);
  }

  /** Why the figure is void, if it is. */
  public Optional<String> objection() {
    return share <= MOST
        ? Optional.empty()
        : Optional.of(
            String.format(
                "efficiency %.3f is above %.2f: the shaping did not bite, the figure is void; see"
                    + " tc -n NAMESPACE -s qdisc show",
                share, MOST));
  }
}
