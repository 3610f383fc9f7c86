package org.pmhxb.collectives.barrier.plan;

/**
 * How a barrier goes about it. All participants name the same.
 *
 * @param rails over how many rails of a dimension its frames are spread, 1 to 9: those who report
 *     to one node, those who send to one line, and barriers of different numbers; a node with fewer
 *     uses what it has
 * @param lines whether frames to a whole line are used where they help; else each goes to one node
 * @param chassisNodes nodes of a group with a centre, 2 to 256; of {@link BarrierAlgorithm#CHASSIS}
 *     alone
 */
public record BarrierSpec(BarrierAlgorithm algorithm, int rails, boolean lines, int chassisNodes) {
  private static final int CHASSIS_OF_THE_PAPER = 3;

  public BarrierSpec {
    if (rails < 1 || rails > 9) {
      throw new IllegalArgumentException(rails + " rails for a barrier: must be in 1..9");
    }
    if (chassisNodes < 2 || chassisNodes > 256) {
      throw new IllegalArgumentException(
          "groups of " + chassisNodes + " nodes for a barrier: must be in 2..256");
    }
  }

  /** One rail, lines used. */
  public static BarrierSpec of(BarrierAlgorithm algorithm) {
    return new BarrierSpec(algorithm, 1, algorithm.usesLines(), CHASSIS_OF_THE_PAPER);
  }

  public BarrierSpec withRails(int count) {
    return new BarrierSpec(algorithm, count, lines, chassisNodes);
  }

  /** Every frame to one node. */
  public BarrierSpec withoutLines() {
    return new BarrierSpec(algorithm, rails, false, chassisNodes);
  }

  public BarrierSpec withChassisOf(int nodes) {
    return new BarrierSpec(algorithm, rails, lines, nodes);
  }

  /**
   * Reads {@code ALGORITHM[/rR][/unicast][/kK]}: what {@link #toString} writes.
   *
   * @throws IllegalArgumentException names what is wrong
   */
  public static BarrierSpec parse(String text) {
    String[] parts = text.split("/", -1);
    BarrierSpec spec = of(BarrierAlgorithm.of(parts[0]));
    for (int i = 1; i < parts.length; i++) {
      String part = parts[i];
      if (part.equals("unicast")) {
        spec = spec.withoutLines();
      } else if (part.matches("r[1-9]")) {
        spec = spec.withRails(part.charAt(1) - '0');
      } else if (part.matches("k[0-9]{1,3}")) {
        spec = spec.withChassisOf(Integer.parseInt(part.substring(1)));
      } else {
        throw new IllegalArgumentException(
            "\""
                + part
                + "\" in barrier \""
                + text
                + "\" is none of rR (rails), unicast, kK (nodes)");
      }
    }
    return spec;
  }

  @Override
  public String toString() {
    return algorithm
        + (rails == 1 ? "" : "/r" + rails)
        + (algorithm.usesLines() && !lines ? "/unicast" : "")
        + (algorithm == BarrierAlgorithm.CHASSIS ? "/k" + chassisNodes : "");
  }
}
