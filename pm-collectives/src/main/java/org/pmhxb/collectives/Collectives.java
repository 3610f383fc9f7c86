package org.pmhxb.collectives;

import java.util.ArrayList;
import java.util.List;
import org.pmhxb.pm.Idle;
import org.pmhxb.pm.Message;
import org.pmhxb.pm.MessageHandler;
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
 * <p>Owner: the thread that uses its endpoint.
 */
public final class Collectives implements AutoCloseable {
  private static final int MESSAGES_PER_POLL = 64;

  private final PmEndpoint endpoint;
  private final int nodes;
  private final int chunkBytes;
  private final AlgorithmRegistry registry;
  private final CostModel model;
  private final CollectiveLimits limits;
  private final HeldStore store;
  private final MessageHandler handler = new Dispatcher();
  private final List<Communicator> joined = new ArrayList<>();

  /** Messages of groups that were not joined yet, in the order in which they came. */
  private final List<Held> strangers = new ArrayList<>();

  private long strangerBytes;
  private long malformed;

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
    this.nodes = node.nodes();
    this.registry = registry;
    this.model = model;
    this.limits = limits;
    this.store = new HeldStore(frameBytes);
    this.endpoint = node.open(endpointNumber);
  }

  /**
   * Takes part in a group.
   *
   * @param topology the same at every member
   * @throws IllegalArgumentException a group of that number was joined already
   */
  public Communicator join(Group group, Topology topology) {
    if (find(group.id()) != null) {
      throw new IllegalArgumentException("group " + group.id() + " was joined already");
    }
    Communicator communicator =
        new Communicator(this, endpoint, group, topology, nodes, chunkBytes, limits.windowBytes());
    joined.add(communicator);
    for (int i = 0; i < strangers.size(); i++) {
      Held held = strangers.get(i);
      if (Wire.group(held.memory, held.at) == group.id()) {
        strangers.remove(i--);
        strangerBytes -= held.lengthBytes;
        communicator.adopt(held);
      }
    }
    return communicator;
  }

  /**
   * Takes what arrived and sends what can be sent, of all groups; bounded.
   *
   * @return work done, 0 when there was none
   */
  public int poll() {
    int work = endpoint.poll(handler, MESSAGES_PER_POLL);
    for (int i = 0; i < joined.size(); i++) {
      work += joined.get(i).progress();
    }
    return work;
  }

  /** Every group is settled: see {@link Communicator#isSettled}. */
  public boolean isSettled() {
    for (int i = 0; i < joined.size(); i++) {
      if (!joined.get(i).isSettled()) {
        return false;
      }
    }
    return true;
  }

  /** Polls until every group is settled: before the node is closed. */
  public void settle(Idle idle) {
    while (!isSettled()) {
      idle.idle(poll());
    }
  }

  private Communicator find(int group) {
    for (int i = 0; i < joined.size(); i++) {
      if (joined.get(i).group().id() == group) {
        return joined.get(i);
      }
    }
    return null;
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
      Communicator communicator = find(Wire.group(m.memory(), m.offset()));
      if (communicator == null) {
        keepStranger(m);
      } else if (!communicator.onMessage(m)) {
        malformed++;
      }
    }

    @Override
    public void onPeerDown(int node, int session) {
      for (int i = 0; i < joined.size(); i++) {
        joined.get(i).onPeerDown(node);
      }
    }
  }

  private void keepStranger(Message m) {
    if (strangerBytes + m.lengthBytes() > limits.strangerBytes()) {
      m.defer();
      return;
    }
    strangerBytes += m.lengthBytes();
    strangers.add(store.keep(m));
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

  /** Gives up what is under way and closes the endpoint. */
  @Override
  public void close() {
    joined.forEach(Communicator::close);
    strangers.forEach(store::release);
    strangers.clear();
    endpoint.close();
  }
}
