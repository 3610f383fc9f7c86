package org.pmhxb.collectives.probe;

import java.util.List;
import org.pmhxb.collectives.logp.LogP;

/**
 * What {@link FabricProbe} found between one node and others.
 *
 * @param logp for models: L is the mean over the rails
 * @param wakeNs what a ping-pong takes of a processor beside os and or, where who waits sleeps; 0
 *     where who waits polls
 * @param idleRoundNs a duty cycle of the probing node in which nothing comes
 * @param ways every way that was tried
 * @param gaps by the number of rails that a train uses
 * @param lost repetitions that were left out, because an echo took longer than 200 ms, of which no
 *     more than 50 ms count between two looks for it
 * @param notes what could not be measured apart, and why
 */
public record FabricLogp(
    LogP logp,
    double wakeNs,
    double idleRoundNs,
    List<Way> ways,
    List<Gap> gaps,
    long lost,
    List<String> notes) {
  public FabricLogp {
    ways = List.copyOf(ways);
    gaps = List.copyOf(gaps);
    notes = List.copyOf(notes);
  }

  /**
   * A path to a node.
   *
   * @param halfRoundTripNs os + L + or, and the wake-up
   * @param latencyNs L: what is left of it, 0 or more
   */
  public record Way(int node, int relays, int rail, double halfRoundTripNs, double latencyNs) {}

  /**
   * A train.
   *
   * @param gapNs time that each frame more takes, 0 or more
   */
  public record Gap(int rails, double gapNs) {}
}
