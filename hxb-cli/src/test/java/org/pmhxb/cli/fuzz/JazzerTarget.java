package org.pmhxb.cli.fuzz;

import java.util.Arrays;
import org.pmhxb.cli.fuzz.FrameJudge.Fate;
import org.pmhxb.cli.fuzz.FrameJudge.Verdict;
import org.pmhxb.pm.FrameKey;
import org.pmhxb.pm.PeerState;
import org.pmhxb.pm.PeerStatus;
import org.pmhxb.pm.PmNode;

/**
 * Coverage-guided counterpart of {@link Fuzzer}, for Jazzer: {@code scripts/fuzz-coverage.sh}. The
 * first byte of an input says the rail (bits 0-1) and what is made right (bits 2-4); the rest is
 * the frame. Jazzer calls the two methods by their names.
 */
public final class JazzerTarget {
  private static final int TARGET = 2;
  private static final int RIGHT_HOP = 4;
  private static final int RIGHT_CRC = 8;
  private static final int RIGHT_SESSION = 16;
  private static final int STEP_EACH = 64;

  private static FuzzNet net;
  private static FuzzTraffic traffic;
  private static FrameJudge judge;
  private static PmNode target;
  private static long inputs;

  private JazzerTarget() {}

  /** Once: a cluster with all sessions up. */
  public static void fuzzerInitialize() {
    net = new FuzzNet(1, FrameKey.NONE);
    boolean[] all = new boolean[FuzzNet.SHAPE.nodes()];
    Arrays.fill(all, true);
    traffic = new FuzzTraffic(net, all);
    judge = new FrameJudge(FuzzNet.SHAPE, net.layout, TARGET, FuzzNet.KEY, null, false);
    target = net.nodes.get(TARGET);
    for (int i = 0; i < 4_000; i++) {
      step();
    }
  }

  private static void step() {
    traffic.send();
    net.step();
    traffic.poll();
  }

  /** One input; an exception is a finding. */
  public static void fuzzerTestOneInput(byte[] input) {
    if (input.length < 1 || input.length > 1_700) {
      return;
    }
    byte[] frame = Arrays.copyOfRange(input, 1, input.length);
    int rail = input[0] & 3;
    int[] sessions = sessions();
    repair(frame, input[0], sessions);
    Verdict verdict = judge.judge(frame, rail, sessions, new boolean[FuzzNet.SHAPE.nodes()]);
    boolean foretold = verdict.fate() == Fate.DROPPED;
    long before = foretold ? target.counters().dropped(verdict.reason()) : 0;
    net.arrive(TARGET, rail, frame);
    net.settle(TARGET);
    if (foretold && target.counters().dropped(verdict.reason()) != before + 1) {
      throw new IllegalStateException("not counted as " + verdict.reason());
    }
    if (!traffic.wrong().isEmpty()) {
      throw new IllegalStateException(traffic.wrong().toString());
    }
    if (++inputs % STEP_EACH == 0) {
      step();
    }
  }

  private static int[] sessions() {
    int[] sessions = new int[FuzzNet.SHAPE.nodes()];
    for (PeerStatus peer : target.peerStatus()) {
      sessions[peer.node()] = peer.state() == PeerState.UP ? peer.session() : 0;
    }
    return sessions;
  }

  private static void repair(byte[] frame, int what, int[] sessions) {
    if ((what & RIGHT_SESSION) != 0 && judge.source(frame) >= 0) {
      FrameBytes.put32(frame, 36, FuzzNet.KEY);
      FrameBytes.put32(frame, 40, sessions[judge.source(frame)]);
    }
    if ((what & RIGHT_HOP) != 0) {
      FrameBytes.repairHop(frame);
    }
    if ((what & RIGHT_CRC) != 0) {
      FrameBytes.repairCrc(frame);
    }
  }
}
