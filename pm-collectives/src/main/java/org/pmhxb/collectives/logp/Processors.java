package org.pmhxb.collectives.logp;

/**
 * On what the nodes of a machine run.
 *
 * @param count processors for all of them, 1 or more
 * @param wakeNs what it costs a processor to go over to a node that slept, and back to sleep: all
 *     that a message takes of it beside os and or
 */
public record Processors(int count, double wakeNs) {
  /** Each node has its own, and polls. */
  public static final Processors ONE_EACH = new Processors(Integer.MAX_VALUE, 0);

  public Processors {
    if (count < 1 || !(wakeNs >= 0)) {
      throw new IllegalArgumentException(
          count + " processors, wake-up " + wakeNs + " ns: 1 or more, and not negative");
    }
  }
}
