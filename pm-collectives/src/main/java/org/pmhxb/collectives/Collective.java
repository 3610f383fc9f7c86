package org.pmhxb.collectives;

/** The operations, and which blocks of memory each rank brings and gets. */
public enum Collective {
  /** The root's message at every rank. */
  BROADCAST(true, false),
  /** All ranks' vectors, combined element by element, at the root. */
  REDUCE(true, true),
  /** The same at every rank. */
  ALLREDUCE(false, true),
  /** A block of each rank, in the order of ranks, at the root. */
  GATHER(true, false),
  /** A block of the root's for each rank. */
  SCATTER(true, false),
  /** A block of each rank at every rank. */
  ALLGATHER(false, false),
  /** A block of each rank for each rank. */
  ALLTOALL(false, false);

  private final boolean rooted;
  private final boolean reducing;

  Collective(boolean rooted, boolean reducing) {
    this.rooted = rooted;
    this.reducing = reducing;
  }

  /** One rank is the source or the destination of all. */
  public boolean isRooted() {
    return rooted;
  }

  /** It combines elements by a {@link ReduceOp}. */
  public boolean isReducing() {
    return reducing;
  }

  /** As on the command line: lower case. */
  @Override
  public String toString() {
    return name().toLowerCase(java.util.Locale.ROOT);
  }
}
