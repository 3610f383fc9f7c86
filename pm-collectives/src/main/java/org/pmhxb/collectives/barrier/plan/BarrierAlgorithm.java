package org.pmhxb.collectives.barrier.plan;

import java.util.Locale;

/** The barriers of the papers (docs/COLLECTIVES.md says which is whose). */
public enum BarrierAlgorithm {
  /** Shuffle exchange, for any number of nodes: Hensgen, Finkel, Manber 1988. */
  DISSEMINATION("log2 n rounds, each node to one other in each; no exit", false),

  /** Two of a subtree each time: Iwasaki et al., section 3.2.1. */
  BINARY("a tree of radix 2 reports, the root sends the exit", true),

  /** Three of a subtree each time: Iwasaki et al., section 3.2.2. */
  TERNARY("a tree of radix 3 reports, the root sends the exit", true),

  /** Four of a subtree each time: Iwasaki et al., section 5.1.2. */
  QUATERNARY("a tree of radix 4 reports, the root sends the exit", true),

  /** Iwasaki et al., section 3.2.3. */
  CONCURRENT("all report to one node, which sends the exit", true),

  /** Hayakawa's hierarchy, with a line of the crossbar in place of a chassis. */
  CROSSBAR("lines report to their centres in X, centres in Y, then Z; the exit comes back", true),

  /** One phase a dimension, which only a crossbar's lines allow. */
  EXCHANGE("everyone to all of its line, dimension after dimension; no exit", true),

  /** Hayakawa, section 3 and 4: groups with a centre, groups as a tree. */
  CHASSIS("groups of k report to their centres, a node and its child group speak as one", true);

  private final String explanation;
  private final boolean usesLines;

  BarrierAlgorithm(String explanation, boolean usesLines) {
    this.explanation = explanation;
    this.usesLines = usesLines;
  }

  public String explanation() {
    return explanation;
  }

  /** Whether a frame to a whole line can do the work of several. */
  public boolean usesLines() {
    return usesLines;
  }

  /** As on the command line. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * @throws IllegalArgumentException there is none of that name
   */
  public static BarrierAlgorithm of(String name) {
    for (BarrierAlgorithm a : values()) {
      if (a.toString().equals(name)) {
        return a;
      }
    }
    throw new IllegalArgumentException(
        "no barrier algorithm \"" + name + "\"; there are " + java.util.List.of(values()));
  }
}
