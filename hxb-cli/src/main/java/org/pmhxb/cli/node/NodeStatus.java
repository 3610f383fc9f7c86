package org.pmhxb.cli.node;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.pmhxb.pm.port.PortCounters;

/**
 * A node's account of itself. Travels as JSON over the control socket.
 *
 * @param ok always true: the node answered
 * @param node own number
 * @param coordinates x, y, z
 * @param shape extents, as in 2x2x2
 * @param pid process
 * @param version of this software; null when it is one from before it said so
 * @param wire version of the protocol, major and minor, as in 1.1; null likewise
 * @param uptimeMs since the node was launched
 * @param poolPageBytes pages that the buffer pool lies in: 2 MiB, or 4 KiB where no hugepages were
 *     free or wanted
 * @param ready whether traffic may begin: sessions with all neighbours were opened, or some time
 *     after the start with those that are there
 * @param rails one entry per rail
 * @param peers nodes with which there is or was a session
 * @param missing neighbours that the shape promises and that are not there on a rail, a line each:
 *     not heard, silent for so long, or heard by short frames only
 * @param faults what the pairing check found, each naming both ends
 * @param counters by name
 */
public record NodeStatus(
    boolean ok,
    int node,
    List<Integer> coordinates,
    String shape,
    long pid,
    String version,
    String wire,
    long uptimeMs,
    long poolPageBytes,
    boolean ready,
    List<Rail> rails,
    List<Peer> peers,
    List<String> missing,
    List<String> faults,
    Map<String, Long> counters) {

  /**
   * @param name dimension and index, as in x0
   * @param device interface or DPDK port
   * @param carrier whether the link is up
   * @param neighbours nodes heard on it
   * @param counters of its device since the node was launched
   */
  public record Rail(
      String name,
      String device,
      String mac,
      boolean carrier,
      List<Neighbour> neighbours,
      PortCounters counters) {
    /** A node from before it counted says nothing of it. */
    public Rail {
      counters = counters == null ? PortCounters.ZERO : counters;
    }
  }

  /** What a node's links lack, for people: neighbours, frames of full length, carriers. */
  public static List<String> linkComplaints(
      List<String> missing, List<String> faults, List<Rail> rails) {
    List<String> lines = new ArrayList<>();
    missing.forEach(line -> lines.add("missing: " + line));
    faults.forEach(line -> lines.add("fault: " + line));
    for (Rail rail : rails) {
      if (!rail.carrier()) {
        lines.add("rail %s: no carrier (%s)".formatted(rail.name(), rail.device()));
      }
    }
    return lines;
  }

  /** A node heard on a rail. */
  public record Neighbour(int node, String mac) {}

  /**
   * @param state IDLE, OPENING, UP or DOWN
   * @param reason why the last session ended; empty while it is up
   * @param session number of the present session, or of the last
   * @param lastAcknowledged last sequence number that the peer had stored when the session ended
   * @param sinceMs how long the state has lasted
   * @param paths to it that are known
   * @param pathsEvicted of these out of use, because their probes fail
   */
  public record Peer(
      int node,
      String state,
      String reason,
      long session,
      long lastAcknowledged,
      long sinceMs,
      int paths,
      int pathsEvicted) {}
}
