package org.pmhxb.collectives;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.pmhxb.pm.Idle;
import org.pmhxb.pm.Message;
import org.pmhxb.pm.MessageHandler;
import org.pmhxb.pm.PeerState;
import org.pmhxb.pm.PmEndpoint;
import org.pmhxb.pm.PmNode;

/**
 * The collective operations of a node: one endpoint, of the same number at every node, and the
 * groups that were joined over it. Makes progress when it is polled, blocks nobody, reads no clock.
 *
 * <pre>{@code
 * try (Collectives all =
 *     new Collectives(node, 5, StandardAlgorithms.registry(), model, CollectiveLimits.defaults())) {
 *   Communicator world = all.join(Group.all(0, node), Topology.crossbar(shape));
 *   world.allreduce(in, out, ElementType.DOUBLE, ReduceOp.SUM).await(idle);
 * }
 * }</pre>
 *
 * <p>An endpoint number has one in a node's life: another knows nothing of what was sent to the one
 * before, and would take it for its own. Owner: the thread that uses its endpoint.
 */
public final class Collectives implements AutoCloseable {
  private static final int MESSAGES_PER_POLL = 64;

  /** Uses of groups that are not joined yet of which all is kept, at a time. */
  private static final int STRANGER_USES = 8;

  private final PmNode node;
  private final PmEndpoint endpoint;
  private final int chunkBytes;
  private final AlgorithmRegistry registry;
  private final CostModel model;
  private final CollectiveLimits limits;
  private final HeldStore store;
  private final MessageHandler handler = new Dispatcher();
  private final List<Communicator> joined = new ArrayList<>();
  private final Notices notices;

  /** Those that are joined, or were. */
  private GroupNumber[] numbers = new GroupNumber[8];

  /** Sessions that ended so far, and by node how many when its last one did. */
  private long downs;

  private final long[] downsAt;

  /** Nodes with which no session came about when one was wanted last. */
  private final BitSet unreachable = new BitSet();

  /** Messages of groups that were not joined yet, in the order in which they came. */
  private final List<Held> strangers = new ArrayList<>();

  /** What they count for ({@link Wire#cost}). */
  private long strangerBytes;

  /** Who waits for this node in a use that it has yet to come to; those beyond a bound are not. */
  private final Set<Asked> asked = new HashSet<>();

  private record Asked(int node, int group, int use) {}

  private long strangersReleased;
  private long late;
  private long malformed;
  private boolean closed;

  /**
   * Opens the endpoint.
   *
   * @param registry and
   * @param model the same at every node
   */
  public Collectives(
      PmNode node,
      int endpointNumber,
      AlgorithmRegistry registry,
      CostModel model,
      CollectiveLimits limits) {
    int frameBytes = node.maxFramePayloadBytes();
    this.chunkBytes = frameBytes - Wire.DATA_BYTES & -Long.BYTES;
    this.node = node;
    this.downsAt = new long[node.nodes()];
    this.registry = registry;
    this.model = model;
    this.limits = limits;
    this.store = new HeldStore(frameBytes);
    this.endpoint = node.open(endpointNumber);
    this.notices = new Notices(endpoint, node.nodes());
  }

  /**
   * Takes part in a group. A number that was left may be joined again, by the same members, each as
   * often as the others, up to 256 times.
   *
   * @param topology the same at every member
   * @throws IllegalArgumentException a group of that number is joined, its rank is another node's,
   *     a member is no node of this machine, or the number may not be used again: other members had
   *     it, one of them was down since, or it was joined too often
   */
  public Communicator join(Group group, Topology topology) {
    GroupNumber number = number(group);
    Communicator communicator =
        new Communicator(
            this, endpoint, group, number.uses, topology, node.nodes(), chunkBytes, limits);
    number.uses++;
    number.joined = communicator;
    joined.add(communicator);
    takeStrangers(
        held ->
            Wire.group(held.memory, held.at) == group.id()
                && !number.isAhead(Wire.use(held.memory, held.at)),
        held -> malformed += communicator.adopt(held) ? 0 : 1);
    for (Held held : strangers) {
      if (Wire.group(held.memory, held.at) == group.id()) {
        communicator.onLeft(held.sourceNode);
      }
    }
    takeAsked(group.id(), number.uses - 1, communicator);
    return communicator;
  }

  private GroupNumber number(Group group) {
    int id = group.id();
    if (group.node(group.rank()) != node.self()) {
      throw new IllegalArgumentException(
          "group %d: rank %d is node %d, and this is node %d; see Group.at"
              .formatted(id, group.rank(), group.node(group.rank()), node.self()));
    }
    for (int rank = 0; rank < group.size(); rank++) {
      if (group.node(rank) >= node.nodes()) {
        throw new IllegalArgumentException(
            "group %d: node %d at rank %d is none of this machine: nodes are 0..%d"
                .formatted(id, group.node(rank), rank, node.nodes() - 1));
      }
    }
    if (id >= numbers.length) {
      numbers = Arrays.copyOf(numbers, Math.max(id + 1, 2 * numbers.length));
    }
    GroupNumber known = numbers[id];
    if (known == null) {
      known = new GroupNumber(group, downs);
      numbers[id] = known;
      return known;
    }
    if (known.joined != null) {
      throw new IllegalArgumentException("group " + id + " was joined already");
    }
    String why = known.isOf(group) ? null : "other members had it";
    for (int rank = 0; why == null && rank < group.size(); rank++) {
      if (downsAt[group.node(rank)] > known.sinceDowns) {
        why = "node " + group.node(rank) + " was down since it was joined first";
      }
    }
    if (why == null && known.uses == GroupNumber.USES_MOST) {
      why = "it was joined " + known.uses + " times, as often as one can be";
    }
    if (why != null) {
      throw new IllegalArgumentException(
          "group %d cannot be joined again: %s; take another number".formatted(id, why));
    }
    return known;
  }

  private void takeAsked(int group, int use, Communicator communicator) {
    for (Iterator<Asked> all = asked.iterator(); all.hasNext(); ) {
      Asked a = all.next();
      if (a.group == group && a.use == use) {
        all.remove();
        communicator.adoptAsk(a.node);
      }
    }
  }

  /** Takes out those that fit, in the order in which they came. */
  private void takeStrangers(Predicate<Held> which, Consumer<Held> to) {
    int kept = 0;
    for (int i = 0; i < strangers.size(); i++) {
      Held held = strangers.get(i);
      if (which.test(held)) {
        strangerBytes -= Wire.cost(held.lengthBytes);
        to.accept(held);
      } else {
        strangers.set(kept++, held);
      }
    }
    strangers.subList(kept, strangers.size()).clear();
  }

  /** A group was left; those still in it are answered with that. */
  void left(Communicator communicator, int endNode, int endReason, BitSet told) {
    joined.remove(communicator);
    GroupNumber number = numbers[communicator.group().id()];
    number.joined = null;
    number.endNode = endNode;
    number.endReason = endReason;
    number.told = told;
    store.trim();
  }

  /**
   * Takes what arrived and sends what can be sent, of all groups; bounded.
   *
   * @return work done, 0 when there was none
   * @throws IllegalStateException the memory of a call that is under way was freed: each poll says
   *     so until its group is closed
   */
  public int poll() {
    int work = endpoint.poll(handler, MESSAGES_PER_POLL);
    work += notices.isEmpty() ? 0 : notices.send();
    for (int i = 0; i < joined.size(); i++) {
      work += joined.get(i).progress();
    }
    return work;
  }

  /**
   * Every group is settled: see {@link Communicator#isSettled}. What groups told that were left is
   * stored too.
   */
  public boolean isSettled() {
    for (int i = 0; i < joined.size(); i++) {
      if (!joined.get(i).isSettled()) {
        return false;
      }
    }
    return notices.isSettled();
  }

  /** Polls until every group is settled: before the node is closed. */
  public void settle(Idle idle) {
    while (!isSettled()) {
      idle.idle(poll());
    }
  }

  private final class Dispatcher implements MessageHandler {
    @Override
    public void onMessage(Message m) {
      boolean ours =
          m.sourceEndpoint() == endpoint.number()
              && !m.isFragment()
              && Wire.isComplete(m.memory(), m.offset(), m.lengthBytes());
      if (!ours) {
        malformed++;
        return;
      }
      int group = Wire.group(m.memory(), m.offset());
      int use = Wire.use(m.memory(), m.offset());
      GroupNumber number = group < numbers.length ? numbers[group] : null;
      if (number != null && number.isPresent(use)) {
        malformed += number.joined.onMessage(m) ? 0 : 1;
      } else if (Wire.kind(m.memory(), m.offset()) == Wire.ASK) {
        onAsk(m, number, use);
      } else if (number == null || number.isAhead(use)) {
        keepStranger(m);
        if (number != null && number.joined != null) {
          number.joined.onLeft(m.source());
        }
      } else {
        dropLate(m, number, use);
      }
    }

    @Override
    public void onPeerDown(int peer, int session) {
      downsAt[peer] = ++downs;
      unreachable.set(peer, session == 0);
      notices.onPeerDown(peer);
      asked.removeIf(a -> a.node == peer); // it hears of that end itself
      // What its life before sent to groups that are joined later is no data of the next.
      takeStrangers(
          held -> held.sourceNode == peer,
          held -> {
            store.release(held);
            strangersReleased++;
          });
      for (int i = 0; i < joined.size(); i++) {
        joined.get(i).onPeerDown(peer);
      }
    }
  }

  /**
   * A member waits in a use that this node has left, or has yet to come to: with the end of a
   * session went down what it was sent in the one, and there will be no other. Or the one was left
   * broken, or without a word to that member.
   */
  private void onAsk(Message m, GroupNumber number, int use) {
    if (number != null && number.isLeft(use) && !number.told.get(m.source())) {
      tellEnd(m, use, number.endNode, number.endReason);
    } else if (number != null && downsAt[m.source()] > number.sinceDowns) {
      tellEnd(m, use, m.source(), Wire.REASON_PEER_DOWN);
    } else if ((number == null || number.isAhead(use))
        && asked.size() < STRANGER_USES * node.nodes()) {
      asked.add(new Asked(m.source(), Wire.group(m.memory(), m.offset()), use));
    }
  }

  /** A message of a group that was left here: who goes on sending to it is told so. */
  private void dropLate(Message m, GroupNumber number, int use) {
    late++;
    if (Wire.kind(m.memory(), m.offset()) == Wire.DATA) {
      boolean last = number.isLeft(use);
      int endNode = last ? number.endNode : node.self();
      tellEnd(m, use, endNode, last ? number.endReason : Wire.REASON_LEFT);
    }
  }

  private void tellEnd(Message m, int use, int endNode, int endReason) {
    int group = Wire.group(m.memory(), m.offset());
    notices.add(new Notices.Notice(m.source(), Wire.ABORT, group, use, 0, 0, endNode, endReason));
  }

  private void keepStranger(Message m) {
    // What stays in the inbox holds up all groups, so that is for who sends more than it may.
    int cost = Wire.cost(m.lengthBytes());
    if (strangerBytes + cost > STRANGER_USES * (long) limits.strangerBytes()) {
      m.defer();
      return;
    }
    strangerBytes += cost;
    strangers.add(store.keep(m));
  }

  boolean isNodeClosed() {
    return node.isClosed();
  }

  AlgorithmRegistry registry() {
    return registry;
  }

  CostModel model() {
    return model;
  }

  HeldStore store() {
    return store;
  }

  Notices notices() {
    return notices;
  }

  /**
   * It was told that nothing is heard of a node, and that is told once: who begins later would wait
   * for ever. The node is down for that group too.
   */
  boolean isStillUnreachable(int peer) {
    if (node.peerState(peer) == PeerState.UP) {
      unreachable.clear(peer);
    }
    if (unreachable.get(peer)) {
      downsAt[peer] = ++downs;
    }
    return unreachable.get(peer);
  }

  /** Groups that are joined: each poll looks at them. */
  public int groups() {
    return joined.size();
  }

  /** Messages that came for groups that were left before, and were dropped, so far. */
  public long late() {
    return late;
  }

  /**
   * Messages of groups not joined yet that were dropped because their sender's session ended, so
   * far.
   */
  public long strangersReleased() {
    return strangersReleased;
  }

  /** Messages that made no sense, so far. */
  public long malformed() {
    return malformed;
  }

  /** Messages that were copied because they came before their turn, so far. */
  public long earlyCopies() {
    return store.copies();
  }

  /** Messages that stayed in their receive buffers until their turn came, so far. */
  public long earlyLoans() {
    return store.loans();
  }

  /**
   * Gives up what is under way and closes the endpoint. Members that wait are told, where there is
   * credit to tell them; {@link #settle} before tells them in any case.
   */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    while (!joined.isEmpty()) {
      joined.getLast().close();
    }
    try {
      if (!node.isClosed()) {
        notices.sendAll();
      }
    } finally {
      takeStrangers(held -> true, store::release);
      endpoint.close();
    }
  }
}
