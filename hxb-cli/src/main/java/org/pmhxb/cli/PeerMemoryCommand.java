package org.pmhxb.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import org.pmhxb.cli.bench.Bounded;
import org.pmhxb.cli.bench.MachineInfo;
import org.pmhxb.cli.bench.Spread;
import org.pmhxb.cost.PeerMemory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** What a node keeps for a peer that is idle. */
@Command(
    name = "peer-memory",
    description = {
      "Measure the memory that a node keeps for each peer with which it has no session: the heap of"
          + " one that knows "
          + PeerMemory.PEERS
          + " others, less that of one that knows a single one."
    },
    footer = {"", "Example: hxb bench peer-memory --json"})
final class PeerMemoryCommand extends HxbCommand {
  private static final double MUST_BYTES = 1_024;
  private static final double AIM_BYTES = 256;

  @Mixin private RunsOption runsGiven;

  @Mixin private BudgetsOption budgets;

  /**
   * What came of it.
   *
   * @param peers that the larger node knows
   * @param bytesEach of heap
   */
  record Result(
      boolean ok, String machine, String command, List<String> missed, int peers, Bounded bytesEach)
      implements Report {
    @Override
    public void print(PrintWriter out) {
      out.printf(
          "an idle peer, of %,d: %s%nmachine: %s%ncommand: %s%n",
          peers, bytesEach.line("B"), machine, command);
    }
  }

  @Override
  protected Result run() {
    int runs = runsGiven.runsOr(this, 5);
    // The first makes the JVM load what the others use.
    PeerMemory.bytesEach();
    List<Double> bytes = new ArrayList<>();
    for (int i = 1; i <= runs; i++) {
      progress().update("measurement %d of %d".formatted(i, runs));
      bytes.add(PeerMemory.bytesEach());
    }
    Bounded bytesEach = Bounded.atMost(Spread.of(bytes), MUST_BYTES, AIM_BYTES);
    return new Result(
        true,
        MachineInfo.here(Version.project()).line(),
        "hxb bench peer-memory --runs " + runs,
        bytesEach.missed("an idle peer", "B").stream().toList(),
        PeerMemory.PEERS,
        bytesEach);
  }
}
