package org.pmhxb.collectives;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.pmhxb.pm.PmEndpoint;
import org.pmhxb.pm.SendBuffer;

/**
 * What is still to be told to members of groups that this node has left, and the tickets of what it
 * sent to them. Bounded: a message for each member and group that was left. Owner: the endpoint's
 * thread.
 */
final class Notices {
  private static final int PER_POLL = 16;

  /** A CREDIT, or an ABORT with its node and reason; those that are equal are told once. */
  record Notice(
      int node,
      int kind,
      int group,
      int use,
      int call,
      long consumed,
      int brokenNode,
      int brokenReason) {}

  private final PmEndpoint endpoint;
  private final Set<Notice> waiting = new LinkedHashSet<>();

  /** Of the last message to each node that a group which was left has sent; 0 is none. */
  private final long[] tickets;

  Notices(PmEndpoint endpoint, int nodes) {
    this.endpoint = endpoint;
    this.tickets = new long[nodes];
  }

  void add(Notice notice) {
    waiting.add(notice);
  }

  void sent(int node, long ticket) {
    tickets[node] = Math.max(tickets[node], ticket);
  }

  boolean isEmpty() {
    return waiting.isEmpty();
  }

  /** Sends what can be sent, in turn and not all at once: messages sent. */
  int send() {
    return send(PER_POLL);
  }

  /** Sends all that can be sent: nothing is polled any more. */
  void sendAll() {
    send(waiting.size());
  }

  private int send(int most) {
    List<Notice> again = new ArrayList<>();
    int work = 0;
    Iterator<Notice> next = waiting.iterator();
    for (int i = 0; i < most && next.hasNext(); i++) {
      Notice n = next.next();
      next.remove();
      if (send(n)) {
        work++;
      } else {
        again.add(n);
      }
    }
    waiting.addAll(again);
    return work;
  }

  private boolean send(Notice n) {
    boolean abort = n.kind == Wire.ABORT;
    SendBuffer b = endpoint.claim(n.node, abort ? Wire.ABORT_BYTES : Wire.COMMON_BYTES);
    if (b == null) {
      return false;
    }
    Wire.common(b.memory(), b.offset(), n.kind, n.use, n.group, n.call, n.consumed);
    if (abort) {
      Wire.abort(b.memory(), b.offset(), n.brokenNode, n.brokenReason);
    }
    sent(n.node, endpoint.send(b));
    return true;
  }

  /** A session with a node ended: it is told nothing, and nothing is waited for. */
  void onPeerDown(int node) {
    tickets[node] = 0;
    waiting.removeIf(n -> n.node == node);
  }

  /**
   * All was sent, and is stored where it was to go; but for CREDITs that wait, which matter to
   * later calls only.
   */
  boolean isSettled() {
    for (Notice n : waiting) {
      if (n.kind == Wire.ABORT) {
        return false;
      }
    }
    for (int node = 0; node < tickets.length; node++) {
      if (tickets[node] != 0) {
        if (tickets[node] > endpoint.acknowledged(node)) {
          return false;
        }
        tickets[node] = 0;
      }
    }
    return true;
  }
}
