package org.pmhxb.cost;

/**
 * One measurement's parameters.
 *
 * @param burst frames at a time, over all rails together, 1 to 64
 * @param rails of the line, or of each of a relay's two dimensions, 1 to 9
 * @param peers that take random turns, 1 to 2,560; of a relay 1
 * @param payloadBytes 8 to 8,192
 */
public record Scenario(Path path, int burst, int rails, int peers, int payloadBytes) {
  /** The payload that the budgets are for. */
  public static final int BUDGET_PAYLOAD_BYTES = 64;

  public Scenario {
    range("burst", burst, 1, 64);
    range("rails", rails, 1, 9);
    range("peers", peers, 1, 2_560);
    range("payload", payloadBytes, 8, 8_192);
    if (path == Path.RELAY && peers != 1) {
      throw new IllegalArgumentException(
          "peers is " + peers + "; a relay knows no peers: must be 1 for path relay");
    }
  }

  /** With the budgets' payload. */
  public Scenario(Path path, int burst, int rails, int peers) {
    this(path, burst, rails, peers, BUDGET_PAYLOAD_BYTES);
  }

  private static void range(String name, int value, int least, int most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          name + " is " + value + "; must be in " + least + ".." + most);
    }
  }

  @Override
  public String toString() {
    return "%s burst %d rails %d peers %d %d B".formatted(path, burst, rails, peers, payloadBytes);
  }
}
