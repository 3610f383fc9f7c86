package org.pmhxb.cli.bench.collective;

import java.io.IOException;
import org.pmhxb.cli.bench.Spread;
import org.pmhxb.collectives.Algorithm;
import org.pmhxb.collectives.Problem;

/** Nodes that repeat collectives. Owner: one thread. */
public interface CollectiveMachine extends AutoCloseable {
  /** About how long a round of measuring takes. */
  long ROUND_NS = 100_000_000L;

  /**
   * What an algorithm took.
   *
   * @param microseconds of one operation: least, median and most of the rounds
   * @param earlyCopies messages that came before their turn and were copied
   * @param earlyLoans those that stayed in their receive buffers
   */
  record Taken(Spread microseconds, long operations, long earlyCopies, long earlyLoans) {}

  /**
   * Repeats one algorithm until the code is compiled, then for some rounds, and checks the last
   * result of each.
   *
   * @param rounds 3 or more
   * @throws IllegalStateException a result was wrong
   */
  Taken measure(Algorithm algorithm, Problem problem, int rounds)
      throws IOException, InterruptedException;

  @Override
  void close() throws IOException;
}
