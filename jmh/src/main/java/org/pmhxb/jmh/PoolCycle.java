package org.pmhxb.jmh;

import java.util.concurrent.TimeUnit;
import net.openhft.chronicle.bytes.Bytes;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.bufpool.BytesView;
import org.pmhxb.bufpool.DpdkPool;
import org.pmhxb.bufpool.LoanBudget;
import org.pmhxb.bufpool.Owner;
import org.pmhxb.ffi.Eal;
import org.pmhxb.ffi.EalOptions;
import org.pmhxb.ffi.Hugepages;
import org.pmhxb.ffi.Threads;

/** A buffer's life without a frame: allocation and release, loan and return, the program's view. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 3, time = 1)
@Fork(1)
public class PoolCycle {
  private static final int BUFFERS = 2_048;
  private static final int CYCLES = 1_024;

  /** Buffers out at a time: a divisor of {@value #CYCLES}. */
  @Param({"32", "1"})
  int burst;

  private DpdkPool pool;
  private LoanBudget loans;
  private BytesView view;
  private int[] ids;
  private int[] loan;

  @Setup(Level.Trial)
  public void open() {
    if (burst < 1 || CYCLES % burst != 0) {
      throw new IllegalArgumentException("burst is " + burst + "; must divide " + CYCLES);
    }
    Eal.init(EalOptions.defaults());
    Threads.register();
    pool = DpdkPool.create("cycle", BufferPool.JUMBO_STRIDE_BYTES, BUFFERS, Hugepages.AUTO);
    loans = new LoanBudget(pool, Owner.of(Owner.LOAN, 1), BUFFERS / 2, 0);
    view = new BytesView(pool.memory());
    ids = new int[burst];
    loan = new int[burst];
  }

  @Benchmark
  @OperationsPerInvocation(CYCLES)
  public int allocateAndRelease() {
    int sum = 0;
    for (int done = 0; done < CYCLES; done += burst) {
      for (int i = 0; i < burst; i++) {
        ids[i] = pool.allocate(Owner.NODE);
      }
      for (int i = 0; i < burst; i++) {
        sum += ids[i];
        pool.release(ids[i], Owner.NODE);
      }
    }
    return sum;
  }

  /** The same with a loan that is given back in between, which is what the difference costs. */
  @Benchmark
  @OperationsPerInvocation(CYCLES)
  public int loanAndReturn() {
    int sum = 0;
    for (int done = 0; done < CYCLES; done += burst) {
      for (int i = 0; i < burst; i++) {
        loan[i] = loans.take(pool.allocate(Owner.NODE), Owner.NODE);
      }
      for (int i = 0; i < burst; i++) {
        sum += loan[i];
        loans.giveBack(loan[i]);
      }
      loans.drain(burst);
    }
    return sum;
  }

  /** A Chronicle Bytes view bound to a message of 64 B, and a long read through it. */
  @Benchmark
  @OperationsPerInvocation(CYCLES)
  public long chronicleView() {
    long sum = 0;
    for (int i = 1; i <= CYCLES; i++) {
      Bytes<?> bytes = view.forRead(pool.frameAt(i), 64);
      sum += bytes.readLong();
      view.unbind();
    }
    return sum;
  }
}
