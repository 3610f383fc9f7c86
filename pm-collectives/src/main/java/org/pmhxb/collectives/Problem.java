package org.pmhxb.collectives;

/**
 * A collective operation before it is planned: all that its algorithm may depend on. But for the
 * group's rank and {@code inPlace}, it is the same at every member.
 *
 * @param blockBytes of the message or vector; of gather, scatter, allgather and alltoall the block
 *     of one rank (towards one rank); 0 or more
 * @param elementBytes that must stay together: a reduction's element, else 1
 * @param root rank, 0 where there is none
 * @param inPlace this rank's input and output are the same memory
 */
public record Problem(
    Collective collective,
    Group group,
    Topology topology,
    long blockBytes,
    int elementBytes,
    int root,
    boolean inPlace) {

  public int size() {
    return group.size();
  }

  public int rank() {
    return group.rank();
  }

  /** Bytes that this rank brings. */
  public long inputBytes() {
    return switch (collective) {
      case BROADCAST -> rank() == root ? blockBytes : 0;
      case SCATTER -> rank() == root ? blockBytes * size() : 0;
      case ALLTOALL -> blockBytes * size();
      default -> blockBytes;
    };
  }

  /** Bytes that this rank gets. */
  public long outputBytes() {
    return switch (collective) {
      case REDUCE -> rank() == root ? blockBytes : 0;
      case GATHER -> rank() == root ? blockBytes * size() : 0;
      case ALLGATHER, ALLTOALL -> blockBytes * size();
      default -> blockBytes;
    };
  }

  /** The same as another member sees it, not in place. */
  public Problem at(int rank) {
    return new Problem(collective, group.at(rank), topology, blockBytes, elementBytes, root, false);
  }

  @Override
  public String toString() {
    String rooted = collective.isRooted() ? " at root " + root : "";
    return "%s of %d B among %d%s".formatted(collective, blockBytes, size(), rooted);
  }
}
