package org.pmhxb.sim.net;

/**
 * The switch of one line and rail index: a queue of bounded length towards each of its rails.
 * Owner: the simulation's thread.
 */
final class Crossbar {
  private static final long BROADCAST = 0xFFFF_FFFF_FFFFL;

  /** One socket of the switch, with what is plugged in. */
  static final class Socket {
    final Crossbar crossbar;
    SimPort port;

    /** When the last frame that is queued towards the port will have been sent. */
    long freeNs;

    Socket(Crossbar crossbar) {
      this.crossbar = crossbar;
    }
  }

  private final Fabric fabric;
  private final LinkSpec link;
  private final Socket[] sockets;

  Crossbar(Fabric fabric, LinkSpec link, int socketCount) {
    this.fabric = fabric;
    this.link = link;
    this.sockets = new Socket[socketCount];
    for (int i = 0; i < socketCount; i++) {
      sockets[i] = new Socket(this);
    }
  }

  Socket socket(int i) {
    return sockets[i];
  }

  LinkSpec link() {
    return link;
  }

  /** A frame arrived from a socket. */
  void forward(Socket from, WireFrame frame, long nowNs) {
    long dst = frame.dstMac();
    if (from.port == null) {
      return; // sent by a node that died since
    }
    boolean known = false;
    for (Socket to : sockets) {
      if (to.port != null && to != from && (dst == BROADCAST || to.port.macAddress() == dst)) {
        if (!fabric.areSeparated(from.port, to.port)) {
          queue(to, known ? frame.copy() : frame, nowNs);
        }
        known = true;
      }
    }
    if (!known) {
      fabric.unknownAddress++;
    }
  }

  private void queue(Socket to, WireFrame frame, long nowNs) {
    LinkFaults faults = to.port.receiving;
    double part = faults.bandwidth();
    long startNs = Math.max(nowNs, to.freeNs);
    long queuedBytes = (long) ((startNs - nowNs) * part * link.bitsPerSecond() / 8e9);
    if (queuedBytes > faults.queueBytes(link.queueBytes())) {
      fabric.tailDrops++;
      return;
    }
    to.freeNs = startNs + (long) (link.sendNs(frame.length) / part);
    faults.pass(frame, nowNs, to.freeNs + link.latencyNs());
  }
}
