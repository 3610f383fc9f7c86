package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.pmhxb.pm.wire.FrameHeader;

/** Whose turn it is among equal paths: one and the same for all peers (PROTOCOL.md section 5.3). */
class SharedTurnTest {
  private static final int NODES = 4;
  private static final int RAILS = 3;
  private static final int BYTES = 64;
  private static final int LONG_BYTES = 900;
  private static final int TURNS = 2 * RAILS;

  /** What all send to all within one round, each pair once. */
  private static void exchange(List<PmEndpoint> endpoints, int bytes) {
    for (int from = 0; from < NODES; from++) {
      for (int to = 0; to < NODES; to++) {
        SendBuffer b = from == to ? null : endpoints.get(from).claim(to, bytes);
        if (b != null) {
          endpoints.get(from).send(b);
        }
      }
    }
  }

  /**
   * Which rails each node used in a turn for a frame to each of its peers.
   *
   * @param hidden whether ports may hide their queues
   */
  private static List<List<Set<Integer>>> railsByTurn(boolean hidden) {
    NodeConfig config = NodeConfig.defaults(0x1234, 1, 2_048);
    try (TestNet net = new TestNet(NODES, RAILS, 1, 2_000, config)) {
      net.hidesQueues = hidden;
      for (int node = 0; node < NODES; node++) {
        net.nodes.get(node).close();
        net.pools.get(node).close();
        net.start(node, NODES, config, node + 2);
      }
      List<PmEndpoint> endpoints = new ArrayList<>();
      long[] received = {0};
      for (PmNode node : net.nodes) {
        endpoints.add(node.open(7));
      }
      Runnable step =
          () -> {
            net.step();
            for (PmEndpoint endpoint : endpoints) {
              endpoint.poll(m -> received[0]++, 64);
            }
          };
      // Sessions open, paths are measured, and windows are used until they are no limit.
      for (int i = 0; i < 4_000; i++) {
        exchange(endpoints, LONG_BYTES);
        if (i % 4 == 0) {
          step.run();
        }
      }
      for (int i = 0; i < 1_000; i++) {
        step.run();
      }
      List<Set<Integer>> rails = new ArrayList<>();
      for (int node = 0; node < NODES; node++) {
        rails.add(new TreeSet<>());
      }
      net.wireTap =
          bytes -> {
            MemorySegment frame = MemorySegment.ofArray(bytes);
            if (FrameHeader.kind(frame, 0) == FrameHeader.DATA) {
              // The sender and its rail stand in the last bytes of its address.
              rails.get(bytes[10]).add((int) bytes[11]);
            }
          };
      List<List<Set<Integer>>> byTurn = new ArrayList<>();
      received[0] = 0;
      for (int turn = 0; turn < TURNS; turn++) {
        long now = net.nowNs >> Paths.TURN_NS_BITS;
        while (net.nowNs >> Paths.TURN_NS_BITS == now) {
          step.run();
        }
        exchange(endpoints, BYTES);
        step.run();
        List<Set<Integer>> ofNodes = new ArrayList<>();
        for (Set<Integer> ofNode : rails) {
          ofNodes.add(new TreeSet<>(ofNode));
          ofNode.clear();
        }
        byTurn.add(ofNodes);
      }
      for (int i = 0; i < 100; i++) {
        step.run();
      }

      assertThat(received[0]).isEqualTo((long) TURNS * NODES * (NODES - 1));
      return byTurn;
    }
  }

  @Test
  void whatANodeSendsToItsPeersMeetsOnOneRailAndEachRailHasItsTurn() {
    List<List<Set<Integer>>> byTurn = railsByTurn(false);

    for (List<Set<Integer>> ofNodes : byTurn) {
      assertThat(ofNodes).as("rails by node").allSatisfy(ofNode -> assertThat(ofNode).hasSize(1));
      Set<Integer> all = new TreeSet<>();
      ofNodes.forEach(all::addAll);
      assertThat(all).as("rails of all nodes at a time").hasSize(RAILS);
    }
    for (int node = 0; node < NODES; node++) {
      int rail = node;
      List<Integer> turns =
          byTurn.stream().map(ofNodes -> ofNodes.get(rail).iterator().next()).toList();
      assertThat(turns.subList(0, RAILS)).as("of node %d", node).doesNotHaveDuplicates();
      assertThat(turns.subList(RAILS, TURNS)).isEqualTo(turns.subList(0, RAILS));
    }
  }

  /** Nothing would show that one rail has too much. Nodes 0 and 3 have three peers in a row. */
  @Test
  void wherePortsHideTheirQueuesEachPeerHasATurnOfItsOwn() {
    for (List<Set<Integer>> ofNodes : railsByTurn(true)) {
      assertThat(ofNodes.get(0)).hasSize(RAILS);
      assertThat(ofNodes.get(NODES - 1)).hasSize(RAILS);
    }
  }
}
