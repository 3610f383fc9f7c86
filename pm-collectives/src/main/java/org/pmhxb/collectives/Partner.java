package org.pmhxb.collectives;

/**
 * Another member of a group as a communicator sees it: how much may be sent to it, and what came
 * from it before its turn. Both ways, costs are bytes and {@link Wire#COST_BYTES} a message,
 * counted from the beginning. Owner: the endpoint's thread.
 */
final class Partner {
  final int rank;
  final int node;

  /** Cost of all that was sent to it, and of what it said that it used. */
  long sent;

  long sentConsumed;

  /** Cost of all that came from it and was used, and of what of that it was told. */
  long consumed;

  long consumedTold;

  /** It was heard of in this use, so it has joined; and it has, or will have, heard from here. */
  boolean heard;

  boolean told;

  /** Cost of what waits here. */
  long held;

  Held heldFirst;
  private Held heldLast;

  /** In the present plan, or -1. */
  int index = -1;

  /** Its session was asked for. */
  boolean touched;

  /** It was asked whether what is waited for was lost before this node joined. */
  boolean asked;

  /** It asked: it waits for this node, and hears of the group's end from nobody else perhaps. */
  boolean waits;

  /** Its session ended since the group was joined. */
  boolean down;

  /** It is in a later use of the group's number: nothing of this one comes from it any more. */
  boolean left;

  /** It is to be told what was used. */
  boolean creditDue;

  /** It is to be told that the group is broken. */
  boolean abortDue;

  /** It was told. */
  boolean abortTold;

  long lastTicket;

  Partner(int rank, int node) {
    this.rank = rank;
    this.node = node;
  }

  void append(Held message) {
    if (heldFirst == null) {
      heldFirst = message;
    } else {
      heldLast.next = message;
    }
    heldLast = message;
    held += Wire.cost(message.lengthBytes);
  }

  Held removeFirst() {
    Held first = heldFirst;
    heldFirst = first.next;
    held -= Wire.cost(first.lengthBytes);
    return first;
  }

  /** It told what it has used: never less than before, nor more than was sent. */
  boolean hear(long consumedThere) {
    if (consumedThere < sentConsumed || consumedThere > sent) {
      return false;
    }
    sentConsumed = consumedThere;
    heard = true;
    return true;
  }
}
