package org.pmhxb.cli.workload;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Nodes joined by queues in memory, with faults on request. Owner: the test's thread. */
final class MemoryLinks {
  /** What the fabric does with a message. */
  interface Fault {
    /** Changes the queue that the message was just appended to. */
    void apply(int src, int dst, long count, ArrayDeque<Frame> queue);
  }

  /** A message under way, or a part of one. */
  record Frame(int src, byte[] bytes, int messageBytes, int offsetBytes) {}

  /** Messages from one node that wait at another, at most: credit is per channel. */
  static final int CREDIT = 32;

  static final int MAX_BYTES = 8_936;

  private final List<Link> links = new ArrayList<>();
  private final Fault fault;

  MemoryLinks(int nodes, Fault fault) {
    this.fault = fault;
    for (int node = 0; node < nodes; node++) {
      links.add(new Link(node, nodes));
    }
  }

  Link link(int node) {
    return links.get(node);
  }

  /** A node vanishes: its sessions end everywhere. */
  void kill(int node) {
    for (Link link : links) {
      link.downs.add(node);
    }
  }

  final class Link implements MessageLink {
    private final int self;
    private final int nodes;
    private final ArrayDeque<Frame> inbox = new ArrayDeque<>();
    private final List<Integer> downs = new ArrayList<>();
    private final long[] sent;
    private final MemorySegment buffer = Arena.global().allocate(MAX_BYTES, 8);
    private MemorySegment arrived = Arena.global().allocate(MAX_BYTES, 8);
    private int dst;
    private int lengthBytes;
    private int messageBytes;
    private int offsetBytes;

    /** Of each source, the message whose parts are coming. */
    private final Map<Integer, byte[]> wholes = new HashMap<>();

    private Link(int self, int nodes) {
      this.self = self;
      this.nodes = nodes;
      this.sent = new long[nodes];
    }

    @Override
    public int self() {
      return self;
    }

    @Override
    public int nodes() {
      return nodes;
    }

    @Override
    public int maxMessageBytes() {
      return MAX_BYTES;
    }

    @Override
    public boolean claim(int dst, int lengthBytes) {
      this.dst = dst;
      this.lengthBytes = lengthBytes;
      this.messageBytes = lengthBytes;
      this.offsetBytes = 0;
      return links.get(dst).inbox.stream().filter(f -> f.src() == self).count() < CREDIT;
    }

    @Override
    public MemorySegment memory() {
      return buffer;
    }

    @Override
    public long offset() {
      return 0;
    }

    @Override
    public long send() {
      byte[] bytes = new byte[lengthBytes];
      MemorySegment.copy(buffer, 0, MemorySegment.ofArray(bytes), 0, lengthBytes);
      ArrayDeque<Frame> queue = links.get(dst).inbox;
      queue.addLast(new Frame(self, bytes, messageBytes, offsetBytes));
      fault.apply(self, dst, sent[dst], queue);
      return ++sent[dst];
    }

    @Override
    public int claimFragment(int dst, long messageBytes, long offsetBytes) {
      int part = (int) Math.min(MAX_BYTES, messageBytes - offsetBytes);
      if (!claim(dst, part)) {
        return 0;
      }
      this.messageBytes = (int) messageBytes;
      this.offsetBytes = (int) offsetBytes;
      return part;
    }

    @Override
    public long acknowledged(int dst) {
      return sent[dst];
    }

    @Override
    public int poll(Receiver receiver, int limit) {
      downs.forEach(node -> receiver.onPeerDown(node, "killed"));
      downs.clear();
      int count = 0;
      for (; count < limit && !inbox.isEmpty(); count++) {
        handOver(inbox.removeFirst(), receiver);
      }
      return count;
    }

    private void handOver(Frame frame, Receiver receiver) {
      byte[] bytes = frame.bytes();
      if (frame.messageBytes() > bytes.length) {
        receiver.onFragment(frame.src(), bytes.length);
        byte[] whole = wholes.computeIfAbsent(frame.src(), src -> new byte[frame.messageBytes()]);
        System.arraycopy(bytes, 0, whole, frame.offsetBytes(), bytes.length);
        if (frame.offsetBytes() + bytes.length < frame.messageBytes()) {
          return;
        }
        bytes = wholes.remove(frame.src());
      }
      receiver.onMessage(frame.src(), nativeCopy(bytes), 0, bytes.length);
    }

    private MemorySegment nativeCopy(byte[] bytes) {
      if (arrived.byteSize() < bytes.length) {
        arrived = Arena.ofAuto().allocate(bytes.length, 8);
      }
      MemorySegment.copy(bytes, 0, arrived, ValueLayout.JAVA_BYTE, 0, bytes.length);
      return arrived;
    }

    @Override
    public void close() {
      inbox.clear();
    }
  }
}
