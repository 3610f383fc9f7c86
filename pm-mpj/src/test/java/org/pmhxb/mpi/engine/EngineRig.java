package org.pmhxb.mpi.engine;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.pmhxb.pm.PmEndpoint;
import org.pmhxb.router.Shape;
import org.pmhxb.router.fabric.RingCluster;

/** Engines on a ring cluster, driven and given the time by the test's thread. */
final class EngineRig implements AutoCloseable {
  private static final int ROUNDS_MAX = 4_000_000;
  private static final long ROUND_NS = 2_000;

  final RingCluster cluster;
  final List<Engine> engines = new ArrayList<>();
  private final List<PmEndpoint> endpoints = new ArrayList<>();
  private final Arena arena = Arena.ofShared();
  private final Set<Integer> resting = new HashSet<>();
  private final Set<Integer> ended = new HashSet<>();
  private long nowNs = 1_000_000_000L;

  /**
   * @param ranks at the first nodes; other nodes have no engine
   */
  EngineRig(String shape, int rails, int ranks, EngineLimits limits) {
    this(RingCluster.Options.of(Shape.parse(shape), rails), ranks, limits);
  }

  EngineRig(RingCluster.Options options, int ranks, EngineLimits limits) {
    cluster = RingCluster.create(options);
    int[] nodes = new int[ranks];
    for (int r = 0; r < ranks; r++) {
      nodes[r] = r;
    }
    for (int r = 0; r < ranks; r++) {
      endpoints.add(cluster.node(r).open(Engine.ENDPOINT));
      engines.add(new Engine(cluster.node(r), endpoints.get(r), nodes, limits));
    }
    until(cluster::isComplete);
  }

  /** A rank's endpoint for the test itself; its engine must not run any more. */
  PmEndpoint reopen(int rank) {
    endpoints.get(rank).close();
    return cluster.node(rank).open(Engine.ENDPOINT);
  }

  static EngineLimits limits() {
    return new EngineLimits(16 << 10, 16 << 10, 1 << 20);
  }

  Engine engine(int rank) {
    return engines.get(rank);
  }

  void round() {
    nowNs += ROUND_NS;
    if (ended.isEmpty()) {
      cluster.doWork(nowNs);
    } else {
      roundOfThoseLeft();
    }
    for (int rank = 0; rank < engines.size(); rank++) {
      if (!resting.contains(rank) && !ended.contains(rank)) {
        engine(rank).doWork(nowNs);
      }
    }
  }

  private void roundOfThoseLeft() {
    for (int node = 0; node < cluster.size(); node++) {
      if (!ended.contains(node)) {
        cluster.node(node).doWork(nowNs);
        cluster.wire().carry(node);
      }
    }
  }

  /** A rank's program finds no processor from now on, or does again; its node goes on. */
  void rest(int rank, boolean rests) {
    if (rests) {
      resting.add(rank);
    } else {
      resting.remove(rank);
    }
  }

  /** A rank's process ends without a word: nothing passes its node any more. */
  void end(int rank) {
    ended.add(rank);
  }

  void rounds(int count) {
    for (int i = 0; i < count; i++) {
      round();
    }
  }

  /** Drives all until a condition holds. */
  void until(BooleanSupplier condition) {
    for (int i = 0; !condition.getAsBoolean(); i++) {
      if (i == ROUNDS_MAX) {
        throw new AssertionError(
            "not reached in " + i + " rounds: " + engines.stream().map(Engine::queues).toList());
      }
      round();
    }
  }

  void untilDone(Operation... ops) {
    for (Operation op : ops) {
      until(op::isDone);
    }
  }

  /** Bytes that tell their seed and place. */
  MemorySegment bytes(int length, int seed) {
    MemorySegment m = arena.allocate(Math.max(1, length), 8);
    for (int i = 0; i < length; i++) {
      m.set(ValueLayout.JAVA_BYTE, i, pattern(seed, i));
    }
    return m;
  }

  static byte pattern(int seed, int i) {
    return (byte) (seed * 31 + i + (i >>> 8) * 7);
  }

  SendOperation send(int from, int to, int tag, int length, int seed) {
    return send(from, to, tag, length, seed, false);
  }

  SendOperation send(int from, int to, int tag, int length, int seed, boolean synchronous) {
    Payload payload = new Payload(bytes(length, seed), 0, length, MemorySegment.NULL);
    SendOperation op = new SendOperation(payload, to, 1, tag, 4, length / 4, synchronous);
    engine(from).post(op);
    return op;
  }

  ReceiveOperation receive(int at, int from, int tag, MemorySegment into) {
    ReceiveOperation op = new ReceiveOperation(into, 0, (int) into.byteSize(), from, tag, 1, false);
    engine(at).post(op);
    return op;
  }

  MemorySegment room(int length) {
    return arena.allocate(Math.max(1, length), 8);
  }

  /** Where the bytes differ from what was sent; -1 for nowhere. */
  static int firstWrong(MemorySegment m, int length, int seed) {
    for (int i = 0; i < length; i++) {
      if (m.get(ValueLayout.JAVA_BYTE, i) != pattern(seed, i)) {
        return i;
      }
    }
    return -1;
  }

  @Override
  public void close() {
    engines.forEach(engine -> engine.end("the rig is closed"));
    cluster.closeTraffic();
    long leaked = cluster.leakedBuffers();
    cluster.close();
    arena.close();
    if (leaked != 0) {
      throw new AssertionError(leaked + " buffers did not come home");
    }
  }
}
