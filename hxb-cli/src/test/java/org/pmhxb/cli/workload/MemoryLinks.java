package org.pmhxb.cli.workload;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/** Nodes joined by queues in memory, with faults on request. Owner: the test's thread. */
final class MemoryLinks {
  /** What the fabric does with a message. */
  interface Fault {
    /** Changes the queue that the message was just appended to. */
    void apply(int src, int dst, long count, ArrayDeque<Frame> queue);
  }

  /** A message under way. */
  record Frame(int src, byte[] bytes) {}

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
    private int dst;
    private int lengthBytes;

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
      queue.addLast(new Frame(self, bytes));
      fault.apply(self, dst, sent[dst], queue);
      return ++sent[dst];
    }

    @Override
    public long sendLarge(
        int dst, MemorySegment source, long lengthBytes, BooleanSupplier meanwhile) {
      // One wait for credit within each message; the queue takes any number of them.
      if (!meanwhile.getAsBoolean()) {
        return 0;
      }
      byte[] bytes = new byte[(int) lengthBytes];
      MemorySegment.copy(source, 0, MemorySegment.ofArray(bytes), 0, lengthBytes);
      links.get(dst).inbox.addLast(new Frame(self, bytes));
      return ++sent[dst];
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
        Frame frame = inbox.removeFirst();
        MemorySegment memory = MemorySegment.ofArray(frame.bytes());
        for (int at = 0; frame.bytes().length > MAX_BYTES && at < frame.bytes().length; ) {
          int part = Math.min(MAX_BYTES, frame.bytes().length - at);
          receiver.onFragment(frame.src(), part);
          at += part;
        }
        receiver.onMessage(frame.src(), memory, 0, frame.bytes().length);
      }
      return count;
    }

    @Override
    public void close() {
      inbox.clear();
    }
  }
}
