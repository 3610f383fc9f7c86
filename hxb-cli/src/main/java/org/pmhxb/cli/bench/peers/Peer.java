package org.pmhxb.cli.bench.peers;

import java.io.IOException;
import java.util.Optional;

/** A program that does what this project does, in its own way. */
interface Peer {
  /** Short, as {@code --peers} takes it. */
  String name();

  /** What is run, for the page. */
  String how();

  /** What is not installed; empty when it can be run. */
  Optional<String> missing();

  /** Version, for the page. */
  String version();

  boolean supports(PeerCase what);

  /** Whether its processors are busy also while it waits in a stream: full, they show no limit. */
  boolean polls();

  /**
   * Measures once.
   *
   * @throws IOException also when the program fails, with what it said
   */
  PeerFigures run(PeerCase what, PeerSite site, Foreign programs, Times times)
      throws IOException, InterruptedException;

  /** Seconds of traffic before a measurement, and of the measurement. */
  record Times(double warmUp, double measure) {
    /** How long a program may take in all, seconds. */
    long limit() {
      return Math.round(10 + 3 * (warmUp + measure));
    }
  }
}
