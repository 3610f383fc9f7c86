package org.pmhxb.cli.bench;

import java.util.Locale;

/** What a benchmark measures. */
public enum BenchKind {
  /** Goodput of streams between two nodes. */
  BANDWIDTH,
  /** Half round trips between two nodes. */
  LATENCY,
  /** Goodput of all nodes exchanging with all their neighbours. */
  EXCHANGE,
  /** Goodput of all nodes sending to one. */
  INCAST;

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
