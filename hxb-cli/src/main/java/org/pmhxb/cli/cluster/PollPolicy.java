package org.pmhxb.cli.cluster;

import org.pmhxb.router.HxbConfig;

/**
 * How the poll threads of a cluster's nodes behave.
 *
 * @param idle what they do when a round found nothing
 * @param pinned whether node {@code n} is bound to processor {@code n} modulo their count; two
 *     spinning threads must not meet on one
 */
public record PollPolicy(HxbConfig.Idle idle, boolean pinned) {
  /** Spins, yields, then sleeps; the kernel places the threads. */
  public static final PollPolicy DEFAULT = new PollPolicy(HxbConfig.Idle.BACKOFF, false);

  /** Processor for a node's poll thread, or -1. */
  int cpu(int node) {
    return pinned ? node % Runtime.getRuntime().availableProcessors() : -1;
  }
}
