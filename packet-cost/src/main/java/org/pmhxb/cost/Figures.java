package org.pmhxb.cost;

/**
 * One scenario's figures: times are ns per packet, in medians each placement weighs alike.
 *
 * @param name of the path, or {@link Path#withAcks}
 * @param fault why the run does not count, or null
 * @param ratio of each round's Java to its C
 * @param generatorNs what making and taking the frames costs a packet: in none of the others
 * @param bytesAllocatedPerPacket in the Java rounds of the placement with most, generator included
 * @param digest of what both delivered and emitted
 * @param packets of all Java rounds, those that do not count included
 * @param rounds that count: with enough batches at the machine's faster speed where most placements
 *     have one, and of these batches alone
 * @param stepNs how slow the machine was at most in a round of these, ns a step of its six chains
 *     side by side, median of batches
 * @param javaPart of a round's Java batches that count, 0 to 1, median of the rounds
 * @param cPart the same of C
 * @param slow most placements did not meet the machine at its faster speed often enough
 */
public record Figures(
    Scenario scenario,
    String name,
    String fault,
    Spread java,
    Spread c,
    Spread ratio,
    double generatorNs,
    double bytesAllocatedPerPacket,
    long packets,
    String digest,
    int rounds,
    double stepNs,
    double javaPart,
    double cPart,
    boolean slow) {
  /** They are of the path alone, which is what budgets are for. */
  public boolean isOfPath() {
    return name.equals(scenario.path().toString());
  }

  /** Of a scenario of which nothing could be measured. */
  static Figures none(Scenario scenario, String fault) {
    Spread none = new Spread(Double.NaN, Double.NaN, Double.NaN);
    String name = scenario.path().toString();
    return new Figures(
        scenario,
        name,
        fault,
        none,
        none,
        none,
        Double.NaN,
        Double.NaN,
        0,
        "",
        0,
        Double.NaN,
        0,
        0,
        false);
  }
}
