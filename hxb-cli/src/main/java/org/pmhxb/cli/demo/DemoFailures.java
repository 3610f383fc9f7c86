package org.pmhxb.cli.demo;

import java.util.ArrayList;
import java.util.List;
import org.pmhxb.cli.Words;

/** Why a demo failed, in words. */
final class DemoFailures {
  private final List<String> all = new ArrayList<>();

  /** Every node is to have a message of every other. */
  DemoFailures(int nodes, int pairs) {
    int wanted = nodes * (nodes - 1);
    if (pairs < wanted) {
      all.add(
          "%d of %d pairs exchanged messages, for one thread works for all nodes: give it more"
                  .formatted(pairs, wanted)
              + " --seconds, or a smaller --shape");
    }
  }

  DemoFailures add(long count, String noun, String what) {
    if (count > 0) {
      all.add(Words.count(count, noun) + " " + what);
    }
    return this;
  }

  List<String> all() {
    return List.copyOf(all);
  }
}
