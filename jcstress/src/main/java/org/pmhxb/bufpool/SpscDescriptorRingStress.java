package org.pmhxb.bufpool;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIII_Result;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;

/** One producer, one consumer; the results name what the consumer saw. */
public final class SpscDescriptorRingStress {
  private SpscDescriptorRingStress() {}

  /** States come and go by the million: they take turns over slots of one piece of memory. */
  private static final MemorySegment SLOTS = Arena.global().allocate(1L << 26, 128);

  private static final int SLOT_BYTES = 512;

  /** Of its last user the JVM has forgotten all by then: a run keeps a tenth of so many states. */
  private static final AtomicInteger TURN = new AtomicInteger();

  private static SpscDescriptorRing ring(int capacity) {
    long slot = TURN.getAndIncrement() & SLOTS.byteSize() / SLOT_BYTES - 1;
    MemorySegment memory = SLOTS.asSlice(slot * SLOT_BYTES, SLOT_BYTES);
    memory.fill((byte) 0);
    return SpscDescriptorRing.over(memory, capacity);
  }

  /** R1/A1: a descriptor comes whole, with what was written before it was offered. */
  @JCStressTest
  @Outcome(id = "0, 0, 0, 0", expect = ACCEPTABLE, desc = "nothing yet")
  @Outcome(id = "1, 11, 12, 7", expect = ACCEPTABLE, desc = "descriptor and frame bytes")
  @Outcome(expect = FORBIDDEN, desc = "torn, or before its frame")
  @State
  public static class Publication {
    private final SpscDescriptorRing ring = ring(2);
    private int frameByte;

    @Actor
    public void producer() {
      frameByte = 7;
      ring.offer(11, 12);
    }

    @Actor
    public void consumer(IIII_Result r) {
      if (ring.poll()) {
        r.r1 = 1;
        r.r2 = (int) ring.lo();
        r.r3 = (int) ring.hi();
        r.r4 = frameByte;
      }
    }
  }

  /** R2/A2: in a ring of one slot, a slot is overwritten only after it was read. */
  @JCStressTest
  @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "first not yet taken, second refused")
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "first taken, second refused before that")
  @Outcome(id = "1, 2", expect = ACCEPTABLE, desc = "first taken, then second offered")
  @Outcome(expect = FORBIDDEN, desc = "first lost or mixed with second")
  @State
  public static class Reuse {
    private final SpscDescriptorRing ring = ring(1);

    public Reuse() {
      ring.offer(1, 1);
    }

    @Actor
    public void producer(II_Result r) {
      r.r2 = ring.offer(2, 2) ? 2 : 1;
    }

    @Actor
    public void consumer(II_Result r) {
      if (ring.poll()) {
        r.r1 = ring.lo() == ring.hi() ? (int) ring.lo() : -1;
      }
    }
  }

  /** R2/A2: a slot that is freed early is overwritten, those behind it stay as they are. */
  @JCStressTest
  @Outcome(id = "1, 2, 1", expect = ACCEPTABLE, desc = "refused before the first was freed")
  @Outcome(id = "1, 2, 3", expect = ACCEPTABLE, desc = "offered after the first was freed")
  @Outcome(expect = FORBIDDEN, desc = "first or second lost or mixed with third")
  @State
  public static class EarlyFree {
    private final SpscDescriptorRing ring = ring(2);

    public EarlyFree() {
      ring.offer(1, 1);
      ring.offer(2, 2);
    }

    @Actor
    public void producer(III_Result r) {
      r.r3 = ring.offer(3, 3) ? 3 : 1;
    }

    @Actor
    public void consumer(III_Result r) {
      int waiting = ring.size();
      r.r1 = (int) ring.peekLo(0);
      ring.free(1);
      r.r2 = ring.peekLo(1) == ring.peekHi(1) ? (int) ring.peekLo(1) : -1;
      ring.advance(waiting);
    }
  }

  /** A batch appears in order: who sees its second sees its first. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "nothing yet")
  @Outcome(id = "1, 2", expect = ACCEPTABLE, desc = "the batch")
  @Outcome(expect = FORBIDDEN, desc = "a part or out of order")
  @State
  public static class Batch {
    private final SpscDescriptorRing ring = ring(4);
    private final long[] pairs = {1, 1, 2, 2};

    @Actor
    public void producer() {
      ring.offer(pairs, 0, 2);
    }

    @Actor
    public void consumer(II_Result r) {
      int size = ring.size();
      r.r1 = size > 0 ? (int) ring.peekLo(0) : 0;
      r.r2 = size > 1 ? (int) ring.peekHi(1) : 0;
      ring.advance(size);
    }
  }
}
