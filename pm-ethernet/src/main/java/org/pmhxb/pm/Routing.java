package org.pmhxb.pm;

import java.lang.foreign.MemorySegment;

/**
 * What the protocol knows of the topology: node numbers and opaque paths. Coordinates stay behind
 * this interface. Owner: the node's poll thread.
 */
public interface Routing {
  /** This node's number. */
  int self();

  /** Node numbers run from 0 to this, exclusive. */
  int nodes();

  /** Candidate paths to a node, constant after construction; 0 for self. */
  int pathCount(int node);

  /**
   * How many of them, from the first on, are of first choice; the rest are detours, for the time in
   * which none of these lives. At least 1 where there is a path; constant after construction.
   */
  int firstChoiceCount(int node);

  /**
   * The code that a frame on this path carries in its path field (PROTOCOL.md section 2.5),
   * constant after construction.
   */
  int path(int node, int index);

  /** The rail of the path's first hop, constant after construction. */
  int egressRail(int node, int index);

  /** Ethernet address of the path's first hop in the low 48 bits; 0 while it is not known. */
  long nextHopMac(int node, int index);

  /** Ethernet hops to a node: relays + 1. Constant after construction. */
  int hops(int node);

  /** No code of a path. */
  int NO_PATH = -1;

  /**
   * The code of the path to a node that leads back over the rails and relays of a path from there.
   *
   * @param path code of a frame that came from {@code node}
   * @return {@link #NO_PATH} when no path from there to here has that code
   */
  int wayBack(int node, int path);

  /** The rail of the first hop of a path that {@link #wayBack} gave. */
  int egressRailOf(int node, int path);

  /** {@link #nextHopMac} of a path that {@link #wayBack} gave. */
  long nextHopMacOf(int node, int path);

  /**
   * Prepares a transit frame for its next hop by rewriting its hop part in place: addresses, hop
   * limit, hop check. The caller has verified length, EtherType, version and hop check.
   *
   * <p>Asked once for frames that follow each other on a rail and say the same in bytes 12 to 23,
   * source and destination: all depends on these, and all of them then say what the first one says.
   * Those that do not go on are asked about one by one.
   *
   * @return the egress rail, or a negative {@link DropReason#code()}
   */
  int transit(MemorySegment frames, long at, int lengthBytes, int ingressRail);

  /**
   * A link-local DISCOVER frame arrived; the caller has verified its CRC. A broadcast frame of
   * another major version comes here too: of that one nothing but version and source address may be
   * read.
   */
  void onLinkFrame(int rail, MemorySegment frames, long at, int lengthBytes, long nowNs);

  /**
   * Announces this node to its lines when that is due.
   *
   * @return frames committed
   */
  int linkWork(long nowNs, LinkOutput out);

  /** When {@link #linkWork} is due next if nothing arrives; {@link Long#MAX_VALUE} for never. */
  long nextLinkWorkNs(long nowNs);

  /** Every neighbour that the shape promises is known on every rail. */
  boolean complete();

  /** Where {@link #linkWork} writes its frames. */
  interface LinkOutput {
    /** The memory in which {@link #begin} gives offsets. */
    MemorySegment frames();

    /** Takes a control buffer for a rail: its frame's offset, or -1 when none is to be had. */
    long begin(int rail);

    /** This node's address on a rail. */
    long macAddress(int rail);

    /** The longest frame that the node sends, in bytes, the trailer included, FCS not. */
    int longestFrameBytes();

    /** What {@link #commit} puts behind a frame, in bytes: a keyed tag, or nothing. */
    int trailerBytes();

    /**
     * Sends what was begun last; the frame's bytes are complete.
     *
     * @param lengthBytes without the trailer
     */
    void commit(int lengthBytes);
  }
}
