package org.pmhxb.jmh;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.pmhxb.bufpool.OffHeapPool;
import org.pmhxb.pm.PmEndpoint;
import org.pmhxb.pm.PmNode;
import org.pmhxb.pm.Routing;
import org.pmhxb.pm.SendBuffer;
import org.pmhxb.pm.port.Burst;
import org.pmhxb.pm.wire.FrameHeader;

/**
 * Real peers of the node under test, for the time before the measurement: they open sessions, grant
 * credit and leave a data frame behind, which the benchmark goes on from. Node numbers of the peers
 * are 1 and up. Owner: the benchmark's thread.
 */
final class Peers implements AutoCloseable {
  /** Credit of the node under test towards each peer: two bursts and two acknowledgements. */
  private static final int GRANT_FRAMES = 128;

  private static final int POOL_BUFFERS = 512;
  private static final long ROUND_NS = 50_000L;
  private static final int ROUNDS_MAX = 100_000;

  private final Lab lab;
  private final PmNode node;
  private final int rails;
  private final List<OffHeapPool> pools = new ArrayList<>();
  private final List<PmNode> nodes = new ArrayList<>();
  private final List<PeerPort> ports = new ArrayList<>();
  private final MemorySegment[] lastData;
  private long nowNs;

  /** Makes the routing of one peer. */
  @FunctionalInterface
  interface Routings {
    Routing of(int node);
  }

  Peers(Lab lab, PmNode node, int rails, int[] numbers, Routings routings, long nowNs) {
    this.lab = lab;
    this.node = node;
    this.rails = rails;
    this.nowNs = nowNs;
    this.lastData = new MemorySegment[node.nodes()];
    for (int number : numbers) {
      OffHeapPool pool = OffHeapPool.create(PeerPort.STRIDE_BYTES, POOL_BUFFERS);
      pools.add(pool);
      List<PeerPort> mine = new ArrayList<>();
      for (int r = 0; r < rails; r++) {
        mine.add(new PeerPort(pool, Lab.mac(number, r)));
      }
      ports.addAll(mine);
      nodes.add(
          new PmNode(
              Lab.config(number, GRANT_FRAMES * (node.nodes() - 1)),
              pool,
              routings.of(number),
              mine,
              true));
    }
  }

  long nowNs() {
    return nowNs;
  }

  /** Each peer and the node send each other one message. */
  void exchange(PmEndpoint nodeEndpoint, int payloadBytes) {
    List<PmEndpoint> endpoints = new ArrayList<>();
    for (PmNode peer : nodes) {
      endpoints.add(peer.open(nodeEndpoint.number()));
    }
    int[] messages = new int[1];
    for (int i = 0; i < nodes.size(); i++) {
      PmEndpoint endpoint = endpoints.get(i);
      int number = nodes.get(i).self();
      until("a message to node " + number, () -> send(nodeEndpoint, number, payloadBytes));
      until("a message from node " + number, () -> send(endpoint, 0, payloadBytes));
    }
    until(
        "the messages",
        () -> {
          endpoints.forEach(e -> messages[0] += e.poll(m -> {}, 64));
          messages[0] += nodeEndpoint.poll(m -> {}, 64);
          return messages[0] == 2 * nodes.size();
        });
    until("their acknowledgement", () -> settled(nodeEndpoint, endpoints));
  }

  private boolean settled(PmEndpoint nodeEndpoint, List<PmEndpoint> endpoints) {
    boolean all = true;
    for (int i = 0; i < nodes.size(); i++) {
      all &= nodeEndpoint.acknowledged(nodes.get(i).self()) == 1;
      all &= endpoints.get(i).acknowledged(0) == 1;
    }
    return all;
  }

  private static boolean send(PmEndpoint from, int to, int payloadBytes) {
    SendBuffer b = from.claim(to, payloadBytes);
    if (b == null) {
      return false;
    }
    from.send(b);
    return true;
  }

  /** Runs all until something holds. */
  void until(String what, BooleanSupplier done) {
    for (int i = 0; !done.getAsBoolean(); i++) {
      if (i == ROUNDS_MAX) {
        throw new IllegalStateException("waited in vain for " + what);
      }
      round();
    }
  }

  private void round() {
    nowNs += ROUND_NS;
    node.doWork(nowNs);
    nodes.forEach(peer -> peer.doWork(nowNs));
    for (int r = 0; r < rails; r++) {
      fromNode(r);
      for (int i = r; i < ports.size(); i += rails) {
        PeerPort port = ports.get(i);
        while (!port.sent.isEmpty()) {
          toNode(r, port.sent.remove());
        }
      }
    }
  }

  private void fromNode(int rail) {
    for (int n = lab.fromNode(rail); n > 0; n = lab.fromNode(rail)) {
      for (int i = 0; i < n; i++) {
        long d = lab.burst.get(i);
        long at = lab.pool.frameAt(Burst.id(d));
        byte[] bytes = new byte[Burst.lengthBytes(d)];
        MemorySegment.copy(lab.frames, ValueLayout.JAVA_BYTE, at, bytes, 0, bytes.length);
        long dst = FrameHeader.dstMac(lab.frames, at);
        for (int p = rail; p < ports.size(); p += rails) {
          PeerPort port = ports.get(p);
          if (dst == port.macAddress() || dst == FrameHeader.BROADCAST_MAC) {
            port.arriving.add(bytes);
          }
        }
      }
      lab.release(n);
    }
  }

  private void toNode(int rail, byte[] bytes) {
    lab.allocate(1);
    int id = lab.id(0);
    long at = lab.pool.frameAt(id);
    MemorySegment.copy(bytes, 0, lab.frames, ValueLayout.JAVA_BYTE, at, bytes.length);
    if (FrameHeader.kind(lab.frames, at) == FrameHeader.DATA) {
      // Native memory, as all that the header's accessors see in production: a heap segment would
      // leave a second kind in their profile.
      lastData[FrameHeader.src(lab.frames, at)] =
          Arena.global().allocate(bytes.length, 64).copyFrom(lab.frames.asSlice(at, bytes.length));
    }
    lab.burst.set(0, Burst.descriptor(id, bytes.length));
    lab.toNode(rail, 1);
  }

  /** The last data frame that a peer sent to the node. */
  MemorySegment lastData(int peer) {
    return lastData[peer];
  }

  /** The peers vanish without a word: the benchmark speaks for them now. */
  @Override
  public void close() {
    pools.clear();
    nodes.clear();
    ports.clear();
  }
}
