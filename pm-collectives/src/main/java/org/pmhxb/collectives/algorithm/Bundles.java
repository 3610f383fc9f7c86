package org.pmhxb.collectives.algorithm;

import java.util.Arrays;
import org.pmhxb.collectives.Area;
import org.pmhxb.collectives.PlanBuilder;

/**
 * An allgather in a ring whose members bring several blocks each. Blocks of ranks that follow each
 * other are one message.
 */
final class Bundles {
  /** The ranks whose blocks a member brings. */
  @FunctionalInterface
  interface Content {
    int[] of(int place);
  }

  private interface Move {
    void range(long offset, long bytes);
  }

  private Bundles() {}

  static void ringAllgather(PlanBuilder plan, Members m, Content content) {
    int p = m.place();
    int n = m.size();
    for (int round = 0; p >= 0 && round < n - 1; round++) {
      int next = m.circular(p + 1);
      int before = m.circular(p - 1);
      long block = plan.problem().blockBytes();
      ranges(
          content.of(Math.floorMod(p - round, n)),
          block,
          (offset, bytes) -> plan.send(next, Area.OUTPUT, offset, bytes));
      ranges(
          content.of(Math.floorMod(p - round - 1, n)),
          block,
          (offset, bytes) -> plan.receive(before, Area.OUTPUT, offset, bytes));
    }
  }

  private static void ranges(int[] ranks, long block, Move move) {
    int[] sorted = ranks.clone();
    Arrays.sort(sorted);
    int first = 0;
    for (int i = 1; i <= sorted.length; i++) {
      if (i == sorted.length || sorted[i] != sorted[i - 1] + 1) {
        move.range(sorted[first] * block, (i - first) * block);
        first = i;
      }
    }
  }
}
