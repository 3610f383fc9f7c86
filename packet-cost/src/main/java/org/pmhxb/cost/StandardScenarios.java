package org.pmhxb.cost;

import java.util.ArrayList;
import java.util.List;

/** Which scenarios a run measures. */
public final class StandardScenarios {
  private static final List<Scenario> ALL =
      List.of(
          new Scenario(Path.RECEIVE, 32, 1, 1),
          new Scenario(Path.RECEIVE, 32, 1, 100),
          new Scenario(Path.RECEIVE, 32, 1, 2_560),
          new Scenario(Path.RECEIVE, 1, 1, 1),
          new Scenario(Path.RECEIVE, 1, 1, 100),
          new Scenario(Path.RECEIVE, 32, 2, 1),
          new Scenario(Path.RECEIVE, 32, 9, 1),
          new Scenario(Path.RECEIVE, 32, 9, 100),
          new Scenario(Path.SEND, 32, 1, 1),
          new Scenario(Path.SEND, 32, 1, 100),
          new Scenario(Path.SEND, 1, 1, 1),
          new Scenario(Path.SEND, 32, 9, 1),
          new Scenario(Path.SEND, 32, 2, 100),
          new Scenario(Path.SEND, 32, 9, 100),
          new Scenario(Path.RELAY, 32, 1, 1),
          new Scenario(Path.RELAY, 1, 1, 1),
          new Scenario(Path.RELAY, 32, 9, 1),
          new Scenario(Path.ACK, 32, 1, 1),
          new Scenario(Path.ACK, 32, 1, 100));

  private StandardScenarios() {}

  /** Those that the budgets name, and a few around them; under 2 minutes together. */
  public static List<Scenario> of(List<Path> paths) {
    return ALL.stream().filter(s -> paths.contains(s.path())).toList();
  }

  /**
   * Every combination; a relay, which knows no peers, once for all numbers of them.
   *
   * @throws IllegalArgumentException a value is out of range
   */
  public static List<Scenario> combinations(
      List<Path> paths,
      List<Integer> bursts,
      List<Integer> rails,
      List<Integer> peers,
      List<Integer> payloads) {
    List<Scenario> all = new ArrayList<>();
    for (Path path : paths) {
      for (int payload : payloads) {
        for (int rail : rails) {
          for (int peer : path == Path.RELAY ? List.of(1) : peers) {
            for (int burst : bursts) {
              all.add(new Scenario(path, burst, rail, peer, payload));
            }
          }
        }
      }
    }
    return all;
  }
}
