package org.pmhxb.cli.fuzz;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.pmhxb.cli.fuzz.FrameJudge.Fate;
import org.pmhxb.cli.fuzz.FrameJudge.Verdict;
import org.pmhxb.pm.Counter;
import org.pmhxb.pm.DropReason;
import org.pmhxb.pm.FrameKey;
import org.pmhxb.pm.NodeCounters;
import org.pmhxb.pm.PeerState;
import org.pmhxb.pm.PeerStatus;
import org.pmhxb.pm.PmNode;
import org.pmhxb.pm.wire.FrameHeader;
import org.pmhxb.pm.wire.FrameTag;

/**
 * One fuzz run: no input from the wire may crash a node or damage another. The node under test
 * relays, has lower and higher peers, and all sessions up. Frames that must be dropped arrive while
 * its clock stands still: afterwards its state, its pool and its counters are what they were, but
 * for the counts that were foretold. Frames that are right as far as a stranger's may be are given
 * in the name of two nodes whose sessions may suffer; all others must not. Owner: one thread.
 */
final class Fuzzer {
  /** (2,0) of 3x2: frames from (x,0) to (2,1) turn here. */
  private static final int TARGET = 2;

  /** One lower and one higher node: both sides of the handshake. */
  private static final boolean[] BORROWED = {false, true, false, false, true, false};

  /** With tags nobody's name can be borrowed. */
  private static final boolean[] NONE = new boolean[6];

  private static final long K0 = 0x0706_0504_0302_0100L;
  private static final long K1 = 0x0f0e_0d0c_0b0a_0908L;

  private static final int ROUND_FRAMES = 64;
  private static final int BURST = 32;
  private static final int WARM_UP_STEPS = 4_000;
  private static final int DRAIN_STEPS = 400_000;
  private static final long PROGRESS_NS = 500_000_000L;
  private static final long STUCK_NS = 20_000_000_000L;
  private static final int VIOLATIONS_MAX = 5;
  private static final int EXAMPLE_BYTES_MAX = 400;

  /** What a JVM's own book-keeping on the thread may cost; a slip costs 16 B or more a frame. */
  private static final double ALLOCATION_MAX = 0.5;

  private static final long HEAP_GROWTH_MAX = 8L << 20;

  private final FrameKey.Mode mode;
  private final long seed;
  private final long wanted;
  private final Consumer<String> progress;
  private final Stuck stuck;
  private final SplittableRandom random;
  private final FrameMutator mutator;
  private final FuzzNet net;
  private final PmNode target;
  private final FrameJudge judge;
  private final FuzzTraffic traffic;
  private final StateHash state = new StateHash();
  private final Captures ofBorrowed = new Captures();
  private final Captures ofOthers = new Captures();
  private final List<byte[]> sentByTarget = new ArrayList<>();
  private final int[] sessions = new int[FuzzNet.SHAPE.nodes()];
  private final boolean[] borrowed;
  private final boolean[] candidates;
  private final List<String> violations = new ArrayList<>();
  private final ThreadMXBean memory = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  // This round's frames by fate.
  private final List<byte[]> toDrop = new ArrayList<>();
  private final List<Integer> toDropRails = new ArrayList<>();
  private final long[] foretold = new long[DropReason.values().length];
  private final List<byte[]> toRelay = new ArrayList<>();
  private final List<Integer> toRelayRails = new ArrayList<>();
  private final List<byte[]> stateful = new ArrayList<>();
  private final List<Integer> statefulRails = new ArrayList<>();

  private final Map<String, String> examples = new TreeMap<>();
  private long frames;
  private long dropped;
  private long relayed;
  private long judgedByState;
  private long allocatedBytes;
  private long allocatingFrames;
  private long heapBytes;
  private boolean watching;

  /** Rounds done; written by the fuzzing thread, read by the watchdog. */
  private volatile long rounds;

  /** Hears of a frame that makes the node loop for ever, and where; has to end the process. */
  interface Stuck {
    void accept(String what, StackTraceElement[] where);
  }

  Fuzzer(long seed, long frames, FrameKey.Mode mode, Consumer<String> progress, Stuck stuck) {
    boolean tagged = mode != FrameKey.Mode.OFF;
    this.mode = mode;
    this.borrowed = tagged ? NONE : BORROWED;
    this.candidates = borrowed.clone();
    this.seed = seed;
    this.wanted = frames;
    this.progress = progress;
    this.stuck = stuck;
    this.random = new SplittableRandom(seed);
    this.mutator = new FrameMutator(random);
    this.net = new FuzzNet(seed, tagged ? new FrameKey(mode, K0, K1, 1) : FrameKey.NONE);
    this.target = net.nodes.get(TARGET);
    this.judge =
        new FrameJudge(
            FuzzNet.SHAPE,
            net.layout,
            TARGET,
            FuzzNet.KEY,
            tagged ? new FrameTag(K0, K1) : null,
            mode == FrameKey.Mode.REPLAY);
    this.traffic = new FuzzTraffic(net, borrowed);
    net.watch(new Watcher());
  }

  private final class Watcher implements FuzzNet.Watcher {
    @Override
    public void onArrival(int node, int rail, byte[] frame) {
      if (node == TARGET) {
        int src = FrameBytes.get24(frame, 29);
        (src < borrowed.length && borrowed[src] ? ofBorrowed : ofOthers).add(frame);
      }
    }

    @Override
    public void onSent(int node, int rail, byte[] frame) {
      if (watching && node == TARGET) {
        sentByTarget.add(frame);
      }
    }
  }

  FuzzReport run() {
    long startNs = System.nanoTime();
    Thread watchdog = watchdog(Thread.currentThread());
    try {
      warmUp();
      long progressNs = startNs;
      long heapFrom = wanted / 10;
      while (frames < wanted && violations.size() < VIOLATIONS_MAX) {
        round();
        rounds++;
        long roundNs = System.nanoTime();
        if (heapBytes == 0 && frames >= heapFrom) {
          heapBytes = usedHeap();
        }
        if (roundNs - progressNs >= 0) {
          progressNs = roundNs + PROGRESS_NS;
          progress.accept("fuzz: %,d of %,d frames".formatted(frames, wanted));
        }
      }
      drain();
    } finally {
      watchdog.interrupt();
    }
    return report(startNs);
  }

  /**
   * A frame that makes the node loop for ever fails the run, with the place. What counts is the
   * thread's processor time: a process that is stopped for a while is not stuck.
   */
  private Thread watchdog(Thread fuzzing) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    return Thread.ofPlatform()
        .daemon()
        .name("fuzz-watchdog")
        .start(
            () -> {
              try {
                long round = rounds;
                long usedNs = threads.getThreadCpuTime(fuzzing.threadId());
                while (threads.getThreadCpuTime(fuzzing.threadId()) - usedNs < STUCK_NS) {
                  Thread.sleep(200);
                  if (rounds != round) {
                    round = rounds;
                    usedNs = threads.getThreadCpuTime(fuzzing.threadId());
                  }
                }
                stuck.accept("stuck; " + replay(), fuzzing.getStackTrace());
              } catch (InterruptedException e) {
                // The run has ended.
                Thread.currentThread().interrupt();
              }
            });
  }

  private String replay() {
    return "replay: hxb fuzz --tag "
        + mode
        + " --seed "
        + seed
        + " --frames "
        + (frames + ROUND_FRAMES);
  }

  private void violation(String what) {
    violations.add(what + "; " + replay());
  }

  private void warmUp() {
    for (int i = 0; i < WARM_UP_STEPS; i++) {
      traffic.send();
      net.step();
      traffic.poll();
    }
    for (int n = 0; n < BORROWED.length; n++) {
      if (n != TARGET && target.peerState(n) != PeerState.UP) {
        throw new IllegalStateException("no session with node " + n + " before the fuzz began");
      }
    }
  }

  // --- one round ------------------------------------------------------------------------------

  private void round() {
    readSessions();
    toDrop.clear();
    toDropRails.clear();
    toRelay.clear();
    toRelayRails.clear();
    stateful.clear();
    statefulRails.clear();
    java.util.Arrays.fill(foretold, 0);
    for (int i = 0; i < ROUND_FRAMES; i++) {
      byte[] frame = hostile();
      int rail = random.nextInt(net.layout.count());
      Verdict verdict = judge.judge(frame, rail, sessions, candidates);
      keepExample(frame, rail, verdict);
      switch (verdict.fate()) {
        case DROPPED, NO_SESSION, IGNORED -> {
          toDrop.add(frame);
          toDropRails.add(rail);
          if (verdict.fate() != Fate.IGNORED) {
            foretold[verdict.reason().ordinal()]++;
          }
        }
        case RELAYED -> {
          toRelay.add(frame);
          toRelayRails.add(rail);
        }
        case STATEFUL -> {
          stateful.add(frame);
          statefulRails.add(rail);
        }
      }
    }
    try {
      dropAll();
      relayAll();
      giveStateful();
    } catch (RuntimeException | AssertionError e) {
      violation("frame made the node throw " + e + " at " + e.getStackTrace()[0]);
    }
    traffic.send();
    net.step();
    traffic.poll();
    net.step();
    if (!traffic.wrong().isEmpty()) {
      traffic.wrong().forEach(this::violation);
      traffic.wrong().clear();
    }
  }

  private void keepExample(byte[] frame, int rail, Verdict verdict) {
    int kind = frame.length > FrameHeader.KIND_SRC ? frame[FrameHeader.KIND_SRC] & 0xFF : 255;
    String label =
        verdict.fate() + (verdict.reason() == null ? "" : "-" + verdict.reason()) + "-" + kind;
    if (kind < 16 && frame.length < EXAMPLE_BYTES_MAX && !examples.containsKey(label)) {
      examples.put(label, label + " " + rail + " " + HexFormat.of().formatHex(frame));
    }
  }

  /** One frame of each fate, reason and kind: {@code label rail hex}. */
  List<String> examples() {
    return List.copyOf(examples.values());
  }

  private void readSessions() {
    for (PeerStatus peer : target.peerStatus()) {
      sessions[peer.node()] = peer.state() == PeerState.UP ? peer.session() : 0;
    }
  }

  private byte[] hostile() {
    frames++;
    byte[] others = mutator.pick(ofOthers.some(random.nextInt(16)));
    Captures models = mode == FrameKey.Mode.OFF ? ofBorrowed : ofOthers;
    byte[] model = mutator.pick(models.some(random.nextInt(16)));
    return switch (random.nextInt(16)) {
      case 0 -> mutator.fromNothing();
      case 1 -> mutator.foreign(others);
      case 2, 3 -> mutator.damaged(others);
      case 4 -> mutator.resized(others, false);
      case 5 -> mutator.resized(model, true);
      case 6, 7 -> mutator.lyingToRelays(random.nextBoolean() ? others : model);
      case 8 -> mutator.opening(model, random.nextInt(8), TARGET);
      case 9, 10, 11 -> mutator.spliced(model, others);
      case 12 -> others.clone();
      default -> mutator.lying(model);
    };
  }

  // --- frames that must leave no trace --------------------------------------------------------

  private void dropAll() {
    net.settle(TARGET);
    target.pool().flush();
    checkBounds();
    long before = state.of(target);
    int buffers = target.pool().available();
    long[] counts = counts();
    sentByTarget.clear();
    watching = true;
    for (int from = 0; from < toDrop.size(); from += BURST) {
      int to = Math.min(from + BURST, toDrop.size());
      for (int i = from; i < to; i++) {
        net.arrive(TARGET, toDropRails.get(i), toDrop.get(i));
      }
      work();
      allocatingFrames += to - from;
    }
    net.settle(TARGET);
    watching = false;
    target.pool().flush();
    dropped += toDrop.size();
    checkCounts(counts);
    checkSent();
    if (target.pool().available() != buffers) {
      violation("free buffers " + buffers + " -> " + target.pool().available());
    }
    checkBounds();
    if (state.of(target) != before) {
      violation("dropped frames changed the node's state: " + narrowed());
    }
  }

  /**
   * Windows and credits. It also brings what puts frames in order up to date, which lags behind
   * while none is missing: whoever looks does that, so it is no trace of a frame.
   */
  private void checkBounds() {
    String broken = target.brokenBound();
    if (broken != null) {
      violation("out of bounds: " + broken);
    }
  }

  /** The node's work, with what it allocates. */
  private void work() {
    long before = memory.getCurrentThreadAllocatedBytes();
    target.doWork(net.nowNs);
    allocatedBytes += memory.getCurrentThreadAllocatedBytes() - before;
  }

  /** Gives the frames once more, one by one, and names the first that changes something. */
  private String narrowed() {
    for (int i = 0; i < toDrop.size(); i++) {
      Map<String, String> was = state.describe(target);
      net.arrive(TARGET, toDropRails.get(i), toDrop.get(i));
      net.settle(TARGET);
      List<String> changes = StateHash.difference(was, state.describe(target));
      if (!changes.isEmpty()) {
        return changes + " by " + hex(toDrop.get(i));
      }
    }
    return "not by any frame given once more";
  }

  private long[] counts() {
    DropReason[] reasons = DropReason.values();
    Counter[] counters = Counter.values();
    NodeCounters of = target.counters();
    long[] counts = new long[reasons.length + counters.length];
    for (int i = 0; i < reasons.length; i++) {
      counts[i] = of.dropped(reasons[i]);
    }
    for (int i = 0; i < counters.length; i++) {
      counts[reasons.length + i] = of.get(counters[i]);
    }
    return counts;
  }

  private void checkCounts(long[] before) {
    long[] after = counts();
    DropReason[] reasons = DropReason.values();
    for (int i = 0; i < after.length; i++) {
      long delta = after[i] - before[i];
      if (i < reasons.length) {
        if (delta != foretold[i]) {
          violation(reasons[i] + " counted " + delta + ", foretold " + foretold[i] + mismatch(i));
        }
      } else {
        Counter counter = Counter.values()[i - reasons.length];
        long expected =
            counter == Counter.FRAMES_RECEIVED
                ? toDrop.size()
                : counter == Counter.FRAMES_SENT ? sentByTarget.size() : 0;
        if (delta != expected) {
          violation(counter + " counted " + delta + ", not " + expected);
        }
      }
    }
  }

  /** The first frame of that reason, for a look. */
  private String mismatch(int reason) {
    for (int i = 0; i < toDrop.size(); i++) {
      Verdict v = judge.judge(toDrop.get(i), toDropRails.get(i), sessions, candidates);
      if (v.reason() != null && v.reason().ordinal() == reason) {
        return ", as by rail " + toDropRails.get(i) + " " + hex(toDrop.get(i));
      }
    }
    return "";
  }

  /** Nothing is sent but a RESET now and then. */
  private void checkSent() {
    for (byte[] frame : sentByTarget) {
      if (frame[FrameHeader.KIND_SRC] != FrameHeader.RESET) {
        violation("a frame that must be dropped was answered with " + hex(frame));
      }
    }
    if (sentByTarget.size() > FuzzNet.SHAPE.nodes()) {
      violation(sentByTarget.size() + " RESETs at one moment");
    }
  }

  // --- transit --------------------------------------------------------------------------------

  private void relayAll() {
    for (int i = 0; i < toRelay.size(); i++) {
      byte[] frame = toRelay.get(i);
      sentByTarget.clear();
      watching = true;
      net.arrive(TARGET, toRelayRails.get(i), frame);
      net.settle(TARGET);
      watching = false;
      if (sentByTarget.size() != 1 || !isForwarded(frame, sentByTarget.getFirst())) {
        violation("transit frame was not forwarded as it is: " + hex(frame));
      } else {
        relayed++;
      }
    }
  }

  /** One hop less and other addresses; every other byte as it came. */
  private boolean isForwarded(byte[] in, byte[] out) {
    if (in.length != out.length) {
      return false;
    }
    for (int i = 12; i < in.length; i++) {
      boolean rewritten =
          i == FrameHeader.HOP_LIMIT
              || i == FrameHeader.HOP_CHECK
              || i == FrameHeader.HOP_CHECK + 1;
      if (!rewritten && in[i] != out[i]) {
        return false;
      }
    }
    long from = FrameBytes.srcMac(out);
    return (in[FrameHeader.HOP_LIMIT] & 0xFF) - 1 == (out[FrameHeader.HOP_LIMIT] & 0xFF)
        && FrameBytes.get16(out, FrameHeader.HOP_CHECK) == FrameBytes.hopCheck(out)
        && from >>> 8 == FuzzNet.mac(TARGET, 0) >>> 8;
  }

  // --- frames that a session or discovery judges ----------------------------------------------

  private void giveStateful() {
    for (int i = 0; i < stateful.size(); i++) {
      byte[] frame = stateful.get(i);
      net.arrive(TARGET, statefulRails.get(i), frame);
      if (i % 4 == 3) {
        target.doWork(net.nowNs);
      }
    }
    target.doWork(net.nowNs);
    judgedByState += stateful.size();
  }

  // --- the end --------------------------------------------------------------------------------

  private void drain() {
    for (int i = 0; i < DRAIN_STEPS && traffic.missing() > 0; i++) {
      net.step();
      traffic.poll();
      rounds++;
    }
    traffic.wrong().forEach(this::violation);
  }

  private static long usedHeap() {
    System.gc();
    Runtime runtime = Runtime.getRuntime();
    return runtime.totalMemory() - runtime.freeMemory();
  }

  private static String hex(byte[] frame) {
    return HexFormat.of().formatHex(frame, 0, Math.min(frame.length, 160));
  }

  private FuzzReport report(long startNs) {
    double seconds = (System.nanoTime() - startNs) / 1e9;
    long growth = Math.max(0, usedHeap() - heapBytes);
    Map<String, Long> drops = new HashMap<>();
    target.counters().snapshot().entrySet().stream()
        .filter(e -> e.getKey().startsWith("drop."))
        .forEach(e -> drops.put(e.getKey().substring("drop.".length()), e.getValue()));
    net.close();
    long leaked = net.leakedBuffers();
    net.free();
    double allocated = (double) allocatedBytes / Math.max(1, allocatingFrames);
    if (allocated > ALLOCATION_MAX && allocatingFrames > 100_000) {
      violation("dropped frames allocate %.3f B each".formatted(allocated));
    }
    if (growth > HEAP_GROWTH_MAX) {
      violation("the heap grew by " + growth + " B");
    }
    if (traffic.missing() > 0 || leaked > 0) {
      violation("good messages lost " + traffic.missingByPair() + ", buffers leaked " + leaked);
    }
    return new FuzzReport(
        violations.isEmpty(),
        seed,
        frames,
        dropped,
        relayed,
        judgedByState,
        drops,
        traffic.delivered(),
        traffic.missing(),
        leaked,
        allocated,
        growth,
        seconds,
        frames / seconds,
        violations);
  }
}
