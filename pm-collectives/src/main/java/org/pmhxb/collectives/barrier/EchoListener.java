package org.pmhxb.collectives.barrier;

/** Who measures a fabric by {@link Barriers#ping}. Called by the poll thread. */
@FunctionalInterface
public interface EchoListener {
  /** Nobody measures. */
  EchoListener NONE = (source, sequence) -> {};

  /**
   * The answer to a ping, with its number. It may be a duplicate.
   *
   * @param source who answered
   */
  void onEcho(int source, int sequence);
}
