package org.pmhxb.jmh;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.pmhxb.cost.Bench;
import org.pmhxb.cost.Pace;
import org.pmhxb.cost.PacketLoop;
import org.pmhxb.cost.Path;
import org.pmhxb.cost.Scenario;

/**
 * What the benchmarks of packet paths share. The score includes the generator and, once a batch, a
 * look how fast the machine is; {@code path.median} is the node's share. Nothing is closed before
 * the fork's JVM ends: JMH would count what a closing allocates to the last iteration. An iteration
 * takes three seconds, as JMH itself allocates some 30 KB in each, whatever its length.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 4, time = 3)
@Fork(2)
public abstract class PathState {
  static final int PACKETS = PacketLoop.BATCH_PACKETS;

  /** Of 1, 4, 8, 32, 64; any divisor of the batch up to 64. */
  @Param({"32", "1"})
  int burst;

  /** 1 to 9. */
  @Param("1")
  int rails;

  /** 8 to 8,192. */
  @Param("64")
  int payload;

  private Bench bench;
  private Pace pace;

  /** Called by the benchmark's set-up: parameters are in place then. */
  final void open(Path path, int peers) {
    Scenario scenario = new Scenario(path, burst, rails, peers, payload);
    if (PACKETS % burst != 0) {
      throw new IllegalArgumentException(
          "burst is %d; must divide the batch of %d packets, as 1, 2, 4, 8, 16, 32 and 64 do"
              .formatted(burst, PACKETS));
    }
    bench = Bench.open(scenario);
    pace = new Pace();
    pace.warmUp();
  }

  /** One batch of the production node. */
  final int inJava() {
    return timed(bench.java());
  }

  /** One batch of its twin in C. */
  final int inC() {
    return timed(bench.twin());
  }

  private int timed(PacketLoop loop) {
    PhaseProfiler.watch(loop.times(), pace);
    return pace.batch(loop);
  }

  /** The frames themselves: made, passed through the rings, taken and returned. */
  final int generatorOnly() {
    return bench.java().generatorBatch();
  }

  /** All that was generated must have passed, or the figure means nothing. */
  @TearDown(Level.Iteration)
  public void check() {
    bench.java().check();
    bench.twin().check();
  }
}
