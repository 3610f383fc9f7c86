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

    /** Of its node, in the line. */
    final int coordinate;

    SimPort port;

    /** When the last frame that is queued towards the port will have been sent. */
    long freeNs;

    Socket(Crossbar crossbar, int coordinate) {
      this.crossbar = crossbar;
      this.coordinate = coordinate;
    }
  }

  private final Fabric fabric;
  private final LinkSpec link;
  private final Socket[] sockets;

  /** Between two halves of the switch, or null. */
  private final Trunk trunk;

  /** When the last frame queued for a cable will have been sent; the way back follows. */
  private final long[] cableFreeNs;

  Crossbar(Fabric fabric, LinkSpec link, int socketCount, Trunk trunk) {
    this.trunk = trunk;
    this.cableFreeNs = new long[trunk == null ? 0 : 2 * trunk.cables()];
    this.fabric = fabric;
    this.link = link;
    this.sockets = new Socket[socketCount];
    for (int i = 0; i < socketCount; i++) {
      sockets[i] = new Socket(this, i);
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
    boolean crosses = false;
    for (Socket to : sockets) {
      if (isFor(from, to, dst)) {
        if (isFar(from, to)) {
          crosses = true;
        } else {
          queue(to, own(frame, dst), nowNs);
          known = true;
        }
      }
    }
    if (crosses) {
      cross(from, own(frame, dst), nowNs);
    } else if (!known) {
      unknown(from, dst);
    }
  }

  /** Each receiver's, for what spoils it on one cable is not on the others. */
  private static WireFrame own(WireFrame frame, long dst) {
    return dst == BROADCAST ? frame.copy() : frame;
  }

  /**
   * By addresses and cuts; what is to everybody is for all but who sent it, who may have died
   * since.
   */
  private boolean isFor(Socket from, Socket to, long dst) {
    return isNamed(from, to, dst)
        && (from.port == null || !fabric.areSeparated(from.port, to.port));
  }

  private static boolean isNamed(Socket from, Socket to, long dst) {
    return to.port != null && to != from && (dst == BROADCAST || to.port.macAddress() == dst);
  }

  private void unknown(Socket from, long dst) {
    for (Socket to : sockets) {
      if (isNamed(from, to, dst)) {
        return;
      }
    }
    fabric.unknownAddress++;
  }

  private boolean isFar(Socket from, Socket to) {
    return trunk != null && trunk.isFar(from.coordinate) != trunk.isFar(to.coordinate);
  }

  /** Once, however many sockets of the other half it is for: there it is copied. */
  private void cross(Socket from, WireFrame frame, long nowNs) {
    int cable = from.coordinate % trunk.cables();
    cable += trunk.isFar(from.coordinate) ? trunk.cables() : 0;
    long startNs = Math.max(nowNs, cableFreeNs[cable]);
    LinkSpec spec = trunk.link();
    if ((startNs - nowNs) * (spec.bitsPerSecond() / 8e9) > spec.queueBytes()) {
      fabric.tailDrops++;
      return;
    }
    cableFreeNs[cable] = startNs + spec.sendNs(frame.length);
    fabric.queue().add(cableFreeNs[cable] + spec.latencyNs(), now -> arriveFar(from, frame, now));
  }

  private void arriveFar(Socket from, WireFrame frame, long nowNs) {
    long dst = frame.dstMac();
    for (Socket to : sockets) {
      if (isFar(from, to) && isFor(from, to, dst)) {
        queue(to, own(frame, dst), nowNs);
      }
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
