package org.pmhxb.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.pm.PeerState;
import org.pmhxb.router.PairingFault;
import org.pmhxb.router.Shape;
import org.pmhxb.sim.fault.Fault;
import org.pmhxb.sim.fault.Schedule;
import org.pmhxb.sim.net.LinkSpec;
import org.pmhxb.sim.work.Host;
import org.pmhxb.sim.work.Program;
import org.pmhxb.sim.work.Workload;
import org.pmhxb.sim.work.Workloads;

/**
 * A rail drops frames that are longer than a plain Ethernet's, as a switch of which a port was
 * forgotten: the way is named, and messages take others; where there is none, the peer is down, and
 * never up with nothing that arrives.
 */
class ShortFramesTest {
  private static final long SECOND_NS = 1_000_000_000L;
  private static final int SIZE = 8_192;

  /** Sees what a node says of its neighbours and of node 0's peers, and when. */
  private static final class Watch implements Program {
    private final SimNode host;
    private final long untilNs;

    /** By tenths of a second since the start: pairing faults that held, and who was up. */
    final TreeMap<Integer, List<PairingFault>> faults = new TreeMap<>();

    final TreeMap<Integer, List<Integer>> up = new TreeMap<>();
    private long firstNs = -1;
    private long lastNs;

    Watch(Host host, long untilNs) {
      this.host = (SimNode) host;
      this.untilNs = untilNs;
    }

    @Override
    public int step(long nowNs) {
      firstNs = firstNs < 0 ? nowNs : firstNs;
      lastNs = nowNs - firstNs;
      int tenth = (int) (lastNs / (SECOND_NS / 10));
      if (faults.put(tenth, host.discovery().faults()) == null) {
        List<Integer> peers = new ArrayList<>();
        for (int node = 0; node < host.shape().nodes(); node++) {
          if (node != host.self() && host.node().peerState(node) == PeerState.UP) {
            peers.add(node);
          }
        }
        up.put(tenth, peers);
      }
      return 0;
    }

    /** As of the last step in a tenth of a second, or in the last one before. */
    List<PairingFault> faultsAt(double seconds) {
      return faults.floorEntry((int) (seconds * 10)).getValue();
    }

    List<Integer> upAt(double seconds) {
      return up.floorEntry((int) (seconds * 10)).getValue();
    }

    @Override
    public boolean isDone() {
      return lastNs >= untilNs;
    }

    @Override
    public void close() {}
  }

  private final List<Watch> watches = new ArrayList<>();

  private SimResult run(
      String shape,
      int rails,
      String fault,
      Workloads work,
      int messages,
      long spanS,
      long untilS) {
    NodeOptions node = unhurried();
    Shape machine = Shape.parse(shape);
    Workload traffic = work.of(messages, SIZE, spanS * SECOND_NS);
    Workload watched =
        host -> {
          List<Program> programs = new ArrayList<>(traffic.programs(host));
          watches.add(new Watch(host, untilS * SECOND_NS));
          programs.add(watches.getLast());
          return programs;
        };
    return Simulation.run(
        new SimOptions(
            machine,
            rails,
            1,
            node,
            Collections.nCopies(3, LinkSpec.gigabit()),
            new Schedule(machine, rails, node.peerTimeoutNs(), List.of(Fault.parse(fault))),
            watched,
            SimOptions.PROGRESS_BOUND_NS,
            16,
            false));
  }

  /** Seconds of waiting, which need not be looked at ten thousand times each. */
  private static NodeOptions unhurried() {
    return NodeOptions.small().withIdleGapNs(1_000_000L);
  }

  private static void assertNamed(List<PairingFault> faults, int rail, int neighbour) {
    assertThat(faults).hasSize(1);
    assertThat(faults.get(0).kind()).isEqualTo(PairingFault.Kind.SHORT_FRAMES_ONLY);
    assertThat(faults.get(0).rail()).isEqualTo(rail);
    assertThat(faults.get(0).there().node()).isEqualTo(neighbour);
  }

  @Test
  void fromTheStartMessagesTakeTheOtherRail() {
    SimResult result =
        run("2", 2, "short-frames@0.x1:0ms+60s:amount=1514", Workloads.ALL_TO_ALL, 200, 0, 1);

    assertThat(result.violation()).isNull();
    assertThat(result.delivered()).isEqualTo(2 * 200);
    assertThat(result.peerDowns()).isZero();
    assertThat(result.counters().get("resent")).isZero();
    assertNamed(watches.get(0).faultsAt(0.5), 1, 1);
    assertNamed(watches.get(1).faultsAt(0.5), 1, 0);
  }

  @Test
  void inMidTrafficMessagesTakeTheOtherRailUntilItIsMended() {
    SimResult result =
        run("2", 2, "short-frames@0.x1:1s+8s:amount=1514", Workloads.ALL_TO_ALL, 300, 11, 11);

    assertThat(result.violation()).isNull();
    assertThat(result.delivered()).isEqualTo(2 * 300);
    assertThat(result.peerDowns()).isZero();
    assertThat(watches.get(0).faultsAt(5)).isEmpty();
    assertNamed(watches.get(0).faultsAt(8), 1, 1);
    assertNamed(watches.get(1).faultsAt(8), 1, 0);
    assertThat(watches.get(0).faultsAt(10.5)).isEmpty();
    assertThat(watches.get(0).upAt(10.5)).containsExactly(1);
  }

  /** Nothing is on its way when the next hop goes: the next message finds the other rail. */
  @Test
  void aMessageAfterAnIdleTimeTakesTheOtherRail() {
    SimResult result =
        run("2", 2, "short-frames@0.x1:1s+60s:amount=1514", Workloads.ALL_TO_ALL, 2, 8, 9);

    assertThat(result.violation()).isNull();
    assertThat(result.delivered()).isEqualTo(2 * 2);
    assertThat(result.peerDowns()).isZero();
    assertNamed(watches.get(0).faultsAt(8), 1, 1);
  }

  @Test
  void onTheOnlyRailThePeerIsNeverUp() {
    SimResult result =
        run("2", 1, "short-frames@0.x0:0ms+8s:amount=1514", Workloads.ALL_TO_ALL, 20, 0, 12);

    assertThat(result.violation()).isNull();
    assertThat(result.delivered()).isEqualTo(2 * 20);
    for (Watch watch : watches) {
      for (double second = 0.5; second < 7.9; second += 0.1) {
        assertThat(watch.upAt(second)).as("after %.1f s", second).isEmpty();
      }
      assertThat(watch.faultsAt(1)).hasSize(1);
      assertThat(watch.faultsAt(11)).isEmpty();
      assertThat(watch.upAt(11)).hasSize(1);
    }
  }

  @Test
  void onTheOnlyRailASessionInMidTrafficEnds() {
    SimResult result =
        run("2", 1, "short-frames@0.x0:1s+14s:amount=1514", Workloads.ALL_TO_ALL, 300, 17, 18);

    assertThat(result.violation()).isNull();
    assertThat(result.peerDowns()).isPositive();
    assertThat(result.delivered() + result.excused()).isEqualTo(2 * 300);
    // Five seconds until the next hop is gone, five of silence.
    for (Watch watch : watches) {
      assertThat(watch.upAt(4)).hasSize(1);
      assertThat(watch.upAt(13)).isEmpty();
      assertThat(watch.upAt(14.9)).isEmpty();
      assertThat(watch.upAt(17.5)).hasSize(1);
    }
  }

  /** Who does not hear the other's long frames alone knows of it; the session ends at both ends. */
  @ParameterizedTest
  @ValueSource(strings = {"0", "1"})
  void oneNarrowDirectionOfTheOnlyRailEndsItToo(String node) {
    String fault = "short-frames-rx@" + node + ".x0:1s+14s:amount=1514";
    SimResult result = run("2", 1, fault, Workloads.ALL_TO_ALL, 300, 17, 18);

    assertThat(result.violation()).isNull();
    assertThat(result.peerDowns()).isPositive();
    for (Watch watch : watches) {
      assertThat(watch.upAt(14.9)).isEmpty();
      assertThat(watch.upAt(17.5)).hasSize(1);
    }
    int deaf = Integer.parseInt(node);
    assertNamed(watches.get(deaf).faultsAt(14), 0, 1 - deaf);
    assertThat(watches.get(1 - deaf).faultsAt(14)).isEmpty();
  }

  /** The deaf end answers over the other rail, so that its peer sees losses, not silence. */
  @Test
  void oneNarrowDirectionOfOneRailLosesNoMessage() {
    String fault = "short-frames-rx@1.x1:1s+9s:amount=1514";
    SimResult result = run("2", 2, fault, Workloads.ALL_TO_ALL, 300, 11, 11);

    assertThat(result.violation()).isNull();
    assertThat(result.delivered()).isEqualTo(2 * 300);
    assertThat(result.peerDowns()).isZero();
    assertNamed(watches.get(1).faultsAt(8), 1, 0);
  }

  @Test
  void otherOrdersOfDimensionsLeadAroundANarrowLine() {
    SimResult result =
        run("2x2", 1, "short-frames@0.x0:1s+13s:amount=1514", Workloads.ALL_TO_ALL, 100, 14, 17);

    // Its own two ends have no other way; every other pair goes on, as the oracle asserts.
    assertThat(result.violation()).isNull();
    assertThat(result.delivered() + result.excused()).isEqualTo(4 * 3 * 100);
    assertThat(watches.get(0).upAt(13.5)).containsExactly(2, 3);
    assertThat(watches.get(3).upAt(13.5)).containsExactly(0, 1, 2);
    assertThat(watches.get(0).upAt(16.5)).containsExactly(1, 2, 3);
  }
}
