package org.pmhxb.collectives;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Calls that all ranks of a group make, with inputs that follow from a seed, and a reference that
 * says what each rank must get: plain loops over all ranks' inputs.
 */
final class Script {
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
  private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED;
  private static final ValueLayout.OfDouble DOUBLE = ValueLayout.JAVA_DOUBLE_UNALIGNED;
  private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;

  /**
   * One call.
   *
   * @param algorithm or null for the one that is chosen
   */
  record Call(
      int number,
      Collective collective,
      int blockBytes,
      ElementType type,
      ReduceOp op,
      int root,
      String algorithm,
      boolean inPlace,
      boolean onHeap) {}

  private final long seed;
  private final int ranks;
  private final List<Call> calls = new ArrayList<>();

  Script(long seed, int ranks) {
    this.seed = seed;
    this.ranks = ranks;
  }

  /** Random calls of all kinds, 0 B to so many a rank. */
  static Script random(long seed, int ranks, int count, int mostBytes) {
    Script script = new Script(seed, ranks);
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < count; i++) {
      Collective collective = Collective.values()[random.nextInt(Collective.values().length)];
      script.add(collective, size(random, mostBytes), null, random);
    }
    return script;
  }

  /** Every standard algorithm of every collective once, if it can do it. */
  static Script everyAlgorithm(
      long seed, Group group, Topology topology, AlgorithmRegistry registry, int mostBytes) {
    Script script = new Script(seed, group.size());
    SplittableRandom random = new SplittableRandom(seed);
    for (Collective collective : Collective.values()) {
      for (Algorithm algorithm : registry.of(collective)) {
        int bytes = size(random, mostBytes);
        Problem problem = new Problem(collective, group, topology, bytes, 1, 0, false);
        if (algorithm.objection(problem) == null) {
          script.add(collective, bytes, algorithm.name(), random);
        }
      }
    }
    return script;
  }

  private static int size(SplittableRandom random, int most) {
    return random.nextInt(8) == 0
        ? 0
        : (int) Math.min(most, Math.exp(random.nextDouble() * Math.log(most + 1.0)));
  }

  private void add(Collective collective, int bytes, String algorithm, SplittableRandom random) {
    ElementType type = ElementType.values()[random.nextInt(4)];
    ReduceOp op = ReduceOp.values()[random.nextInt(type.isFloating() ? 3 : 6)];
    int root = random.nextInt(ranks);
    boolean inPlace = random.nextInt(3) == 0;
    boolean onHeap = random.nextBoolean();
    int block = collective.isReducing() ? bytes / 8 * 8 + random.nextInt(2) * 8 : bytes;
    calls.add(
        new Call(
            calls.size(),
            collective,
            block,
            type,
            op,
            collective.isRooted() ? root : 0,
            algorithm,
            inPlace && collective.isReducing(),
            onHeap));
  }

  /** The same calls with other inputs. */
  Script withSeed(long other) {
    Script script = new Script(other, ranks);
    script.calls.addAll(calls);
    return script;
  }

  void add(Call call) {
    calls.add(call);
  }

  List<Call> calls() {
    return calls;
  }

  // --- inputs and results -----------------------------------------------------------------------

  static MemorySegment memory(Call call, long bytes) {
    return call.onHeap()
        ? MemorySegment.ofArray(new byte[(int) bytes])
        : Arena.ofAuto().allocate(Math.max(1, bytes), 8).asSlice(0, bytes);
  }

  int blocksIn(Call call, int rank) {
    return switch (call.collective()) {
      case SCATTER -> rank == call.root() ? ranks : 0;
      case ALLTOALL -> ranks;
      default -> 1;
    };
  }

  int blocksOut(Call call, int rank) {
    return switch (call.collective()) {
      case REDUCE -> rank == call.root() ? 1 : 0;
      case GATHER -> rank == call.root() ? ranks : 0;
      case ALLGATHER, ALLTOALL -> ranks;
      default -> 1;
    };
  }

  MemorySegment input(Call call, int rank) {
    int blocks = blocksIn(call, rank);
    MemorySegment memory = memory(call, (long) blocks * call.blockBytes());
    for (int b = 0; b < blocks; b++) {
      fill(call, rank, b, memory.asSlice((long) b * call.blockBytes(), call.blockBytes()));
    }
    return memory;
  }

  /** Block b of a rank's input. */
  private void fill(Call call, int rank, int block, MemorySegment to) {
    long key = mix(seed * 31 + call.number()) + rank * 0x9E37_79B9_7F4A_7C15L + block * 77L;
    long bytes = to.byteSize();
    if (call.collective().isReducing() && call.type() == ElementType.FLOAT) {
      for (long i = 0; i < bytes; i += 4) {
        to.set(FLOAT, i, (int) (mix(key + i) >>> 40) * 0x1p-20f - 8);
      }
    } else if (call.collective().isReducing() && call.type() == ElementType.DOUBLE) {
      for (long i = 0; i < bytes; i += 8) {
        to.set(DOUBLE, i, (mix(key + i) >>> 11) * 0x1p-50 - 4);
      }
    } else {
      long i = 0;
      for (; i + 8 <= bytes; i += 8) {
        to.set(LONG, i, mix(key + i));
      }
      for (; i < bytes; i++) {
        to.set(BYTE, i, (byte) mix(key + i));
      }
    }
  }

  private static long mix(long value) {
    long z = (value ^ value >>> 30) * 0xBF58_476D_1CE4_E5B9L;
    z = (z ^ z >>> 27) * 0x94D0_49BB_1331_11EBL;
    return z ^ z >>> 31;
  }

  /** What is wrong with a rank's output, or null. */
  String judge(Call call, int rank, MemorySegment output) {
    int blocks = blocksOut(call, rank);
    if (call.collective().isReducing()) {
      return blocks == 0 ? null : judgeReduction(call, rank, output);
    }
    MemorySegment expected = MemorySegment.ofArray(new byte[call.blockBytes()]);
    for (int b = 0; b < blocks; b++) {
      switch (call.collective()) {
        case BROADCAST -> fill(call, call.root(), 0, expected);
        case SCATTER -> fill(call, call.root(), rank, expected);
        case ALLTOALL -> fill(call, b, rank, expected);
        default -> fill(call, b, 0, expected);
      }
      long at = output.asSlice((long) b * call.blockBytes(), call.blockBytes()).mismatch(expected);
      if (at >= 0) {
        return "%s at rank %d: block %d differs at byte %d".formatted(call, rank, b, at);
      }
    }
    return null;
  }

  private String judgeReduction(Call call, int rank, MemorySegment output) {
    MemorySegment[] in = new MemorySegment[ranks];
    for (int r = 0; r < ranks; r++) {
      in[r] = MemorySegment.ofArray(new byte[call.blockBytes()]);
      fill(call, r, 0, in[r]);
    }
    for (long i = 0; i < call.blockBytes(); i += call.type().bytes()) {
      if (!isRight(call, in, i, output)) {
        return "%s at rank %d: the element at byte %d is wrong".formatted(call, rank, i);
      }
    }
    return null;
  }

  private static boolean isRight(Call call, MemorySegment[] in, long at, MemorySegment out) {
    return switch (call.type()) {
      case INT -> {
        int v = in[0].get(INT, at);
        for (int r = 1; r < in.length; r++) {
          v = (int) whole(call.op(), v, in[r].get(INT, at));
        }
        yield v == out.get(INT, at);
      }
      case LONG -> {
        long v = in[0].get(LONG, at);
        for (int r = 1; r < in.length; r++) {
          v = whole(call.op(), v, in[r].get(LONG, at));
        }
        yield v == out.get(LONG, at);
      }
      case FLOAT -> {
        double v = in[0].get(FLOAT, at);
        double size = Math.abs(v);
        for (int r = 1; r < in.length; r++) {
          v = floating(call.op(), v, in[r].get(FLOAT, at));
          size += Math.abs(in[r].get(FLOAT, at));
        }
        yield Math.abs(v - out.get(FLOAT, at)) <= bound(call, in.length, size, 0x1p-23);
      }
      case DOUBLE -> {
        double v = in[0].get(DOUBLE, at);
        double size = Math.abs(v);
        for (int r = 1; r < in.length; r++) {
          v = floating(call.op(), v, in[r].get(DOUBLE, at));
          size += Math.abs(in[r].get(DOUBLE, at));
        }
        yield Math.abs(v - out.get(DOUBLE, at)) <= bound(call, in.length, size, 0x1p-52);
      }
    };
  }

  /** Any order of additions is within this; minima and maxima are exact. */
  private static double bound(Call call, int n, double size, double epsilon) {
    return call.op() == ReduceOp.SUM ? n * epsilon * size : 0;
  }

  private static long whole(ReduceOp op, long a, long b) {
    return switch (op) {
      case SUM -> a + b;
      case MIN -> Math.min(a, b);
      case MAX -> Math.max(a, b);
      case AND -> a & b;
      case OR -> a | b;
      case XOR -> a ^ b;
    };
  }

  private static double floating(ReduceOp op, double a, double b) {
    return switch (op) {
      case SUM -> a + b;
      case MIN -> Math.min(a, b);
      default -> Math.max(a, b);
    };
  }
}
