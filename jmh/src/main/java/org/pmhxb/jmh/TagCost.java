package org.pmhxb.jmh;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.pmhxb.bufpool.Memory;
import org.pmhxb.bufpool.OffHeapPool;
import org.pmhxb.bufpool.Owner;
import org.pmhxb.pm.wire.FrameHeader;
import org.pmhxb.pm.wire.FrameTag;

/**
 * What the keyed tag adds to a packet of 64 B (PROTOCOL.md section 2.6): making it, as a sender
 * does, and checking it, as a receiver and each relay do. One call is one frame.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class TagCost {
  /** What the tag may add to a packet, ns. */
  static final double MUST_NS = 80;

  /** What it is meant to. */
  static final double AIM_NS = 25;

  private static final int FRAMES = 1_024;
  private static final int PAYLOAD_BYTES = 64;

  private final FrameTag tag = new FrameTag(0x0706_0504_0302_0100L, 0x0f0e_0d0c_0b0a_0908L);
  private final long[] frames = new long[FRAMES];
  private OffHeapPool pool;

  @Setup
  public void open() {
    pool = OffHeapPool.create(2_048, FRAMES);
    for (int i = 0; i < FRAMES; i++) {
      frames[i] = pool.memory().address() + pool.frameAt(pool.allocate(Owner.NODE));
      FrameHeader.seqAck(Memory.ALL, frames[i], i, 0);
      tag.seal(Memory.ALL, frames[i], PAYLOAD_BYTES, 0);
    }
  }

  @Benchmark
  @OperationsPerInvocation(FRAMES)
  public void make() {
    for (long frame : frames) {
      tag.seal(Memory.ALL, frame, PAYLOAD_BYTES, 0);
    }
  }

  @Benchmark
  @OperationsPerInvocation(FRAMES)
  public int check() {
    int right = 0;
    for (long frame : frames) {
      right += tag.holds(Memory.ALL, frame, PAYLOAD_BYTES) ? 1 : 0;
    }
    if (right != FRAMES) {
      throw new IllegalStateException(FRAMES - right + " tags are wrong");
    }
    return right;
  }
}
