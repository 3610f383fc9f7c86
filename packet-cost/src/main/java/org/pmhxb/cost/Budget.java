package org.pmhxb.cost;

import java.util.Optional;

/**
 * What a packet may cost, for payloads of 64 B.
 *
 * @param mustNs what has to be reached, ns per packet
 * @param aimNs what is meant to be
 */
public record Budget(double mustNs, double aimNs) {
  /** Java against C. */
  public static final double MUST_RATIO = 1.25;

  /** What each rail beyond the first adds to the budget of one. */
  public static final double FURTHER_RAIL_MUST_NS = 2;

  /** The same of the aim. */
  public static final double FURTHER_RAIL_AIM_NS = 0.5;

  /** The scenario's budget; empty where there is none. */
  public static Optional<Budget> of(Scenario s) {
    if (s.payloadBytes() != Scenario.BUDGET_PAYLOAD_BYTES) {
      return Optional.empty();
    }
    return oneRail(s)
        .map(
            b ->
                new Budget(
                    b.mustNs + (s.rails() - 1) * FURTHER_RAIL_MUST_NS,
                    b.aimNs + (s.rails() - 1) * FURTHER_RAIL_AIM_NS));
  }

  private static Optional<Budget> oneRail(Scenario s) {
    boolean full = s.burst() >= 32;
    boolean few = s.peers() <= 100;
    return switch (s.path()) {
      case RECEIVE -> {
        if (full) {
          yield Optional.of(few ? new Budget(40, 20) : new Budget(120, 60));
        }
        yield s.burst() == 1 && few ? Optional.of(new Budget(80, 50)) : Optional.empty();
      }
      case SEND -> full && few ? Optional.of(new Budget(40, 20)) : Optional.empty();
      case RELAY -> full ? Optional.of(new Budget(25, 12)) : Optional.empty();
      case ACK -> Optional.empty();
    };
  }
}
