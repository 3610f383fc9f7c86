package org.pmhxb.collectives;

import java.util.BitSet;

/**
 * What a node knows of a group's number: who had it, and how often it was joined. It stays when the
 * group is left, so that what comes late is known for it and never taken for a later group's
 * (PROTOCOL.md section 12). Owner: the endpoint's thread.
 */
final class GroupNumber {
  /** Times that a number may be joined: each has a value of a byte in the messages. */
  static final int USES_MOST = 256;

  /** A hash of the members in their order, in which none of theirs meet; a number stays theirs. */
  final long members;

  /** {@link Collectives#downs} when it was joined first. */
  final long sinceDowns;

  /** How often it was joined; the present use, or the last, is one less. */
  int uses;

  /** While it is joined. */
  Communicator joined;

  /** What those are answered who are still in the use that was left last. */
  int endNode;

  int endReason;

  /**
   * Nodes that were sent anything in that use, or none if it was broken when it was left: who is
   * not among them and waits in it hears of its end when it asks.
   */
  BitSet told;

  GroupNumber(Group group, long sinceDowns) {
    this.members = hash(group);
    this.sinceDowns = sinceDowns;
  }

  boolean isOf(Group group) {
    return members == hash(group);
  }

  private static long hash(Group group) {
    long hash = group.size();
    for (int rank = 0; rank < group.size(); rank++) {
      hash = Mixed.of(hash, group.node(rank));
    }
    return hash;
  }

  /** A message is of the group that was left last. */
  boolean isLeft(int use) {
    return joined == null && use == uses - 1;
  }

  /** A message is of the group that is joined. */
  boolean isPresent(int use) {
    return joined != null && use == uses - 1;
  }

  /** A message is of a use that this node has yet to come to. */
  boolean isAhead(int use) {
    return use >= uses;
  }
}
