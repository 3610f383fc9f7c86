package org.pmhxb.pm.port;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.bufpool.Owner;

/**
 * A port that loses, repeats, reorders and damages some of the frames it receives, by a seed: for
 * tests over every fabric. What it holds back comes after a few other frames, or after a while
 * without any. Owner: the node's poll thread.
 */
public final class FaultyPort implements Port {
  /** Frames held back at a time; one more goes straight on. */
  private static final int HELD_MAX = 16;

  /** How many frames may overtake one that is held. */
  private static final int OVERTAKEN_MAX = 8;

  /** Empty polls after which a held frame counts as overtaken once more. */
  private static final int PATIENCE_POLLS = 64;

  private final Port port;
  private final BufferPool pool;
  private final PortFaults faults;
  private final SplittableRandom random;
  private final Burst in;
  private final long[] held = new long[HELD_MAX];
  private final int[] toOvertake = new int[HELD_MAX];
  private int heldCount;
  private int emptyPolls;
  private final AtomicLong lost = new AtomicLong();

  private FaultyPort(Port port, BufferPool pool, PortFaults faults, long seed) {
    this.port = port;
    this.pool = pool;
    this.faults = faults;
    this.random = new SplittableRandom(seed);
    this.in = new Burst(64);
  }

  /**
   * The port itself where there are no faults.
   *
   * @param pool where the port's frames lie
   * @param number makes the ports of a node differ
   */
  public static Port over(Port port, BufferPool pool, PortFaults faults, int number) {
    return faults.isNone()
        ? port
        : new FaultyPort(port, pool, faults, faults.seed() * 1_000_003L + number);
  }

  @Override
  public int rxBurst(Burst burst, int max) {
    int n = takeDue(burst, max);
    // Each frame may come twice: never more are taken than that leaves room for.
    int wanted = Math.min(in.capacity(), (max - n) / 2);
    int taken = wanted > 0 ? port.rxBurst(in, wanted) : 0;
    for (int i = 0; i < taken; i++) {
      n = pass(in.get(i), burst, n);
    }
    if (taken == 0 && ++emptyPolls == PATIENCE_POLLS) {
      emptyPolls = 0;
      overtakeAll();
    }
    return n;
  }

  /** Frames that this port has lost. Any thread. */
  public long framesLost() {
    return lost.get();
  }

  private int pass(long frame, Burst burst, int count) {
    int n = count;
    int id = Burst.id(frame);
    if (random.nextDouble() < faults.loss()) {
      discard(id);
      lost.incrementAndGet();
      return n;
    }
    if (random.nextDouble() < faults.corrupt()) {
      flipBit(id, Burst.lengthBytes(frame));
    }
    if (random.nextDouble() < faults.duplicate()) {
      hold(copy(frame));
    }
    if (heldCount < HELD_MAX && random.nextDouble() < faults.reorder()) {
      hold(frame);
    } else {
      burst.set(n++, frame);
      overtakeAll();
    }
    return n;
  }

  private void flipBit(int id, int lengthBytes) {
    long at = pool.frameAt(id) + random.nextInt(lengthBytes);
    byte was = pool.memory().get(ValueLayout.JAVA_BYTE, at);
    pool.memory().set(ValueLayout.JAVA_BYTE, at, (byte) (was ^ 1 << random.nextInt(8)));
  }

  /** A frame of its own with the same bytes, or 0 when no buffer is free. */
  private long copy(long frame) {
    int id = heldCount < HELD_MAX ? pool.allocate(Owner.NODE) : 0;
    if (id == 0) {
      return 0;
    }
    MemorySegment memory = pool.memory();
    int bytes = Burst.lengthBytes(frame);
    MemorySegment.copy(memory, pool.frameAt(Burst.id(frame)), memory, pool.frameAt(id), bytes);
    pool.transfer(id, Owner.NODE, Owner.PORT);
    return Burst.descriptor(id, bytes);
  }

  /** As a node does it: a received frame becomes known to the pool by its transfer. */
  private void discard(int id) {
    pool.transfer(id, Owner.PORT, Owner.NODE);
    pool.release(id, Owner.NODE);
  }

  private void hold(long frame) {
    if (frame != 0) {
      held[heldCount] = frame;
      toOvertake[heldCount++] = 1 + random.nextInt(OVERTAKEN_MAX);
    }
  }

  private void overtakeAll() {
    for (int i = 0; i < heldCount; i++) {
      toOvertake[i]--;
    }
  }

  private int takeDue(Burst burst, int max) {
    int n = 0;
    int kept = 0;
    for (int i = 0; i < heldCount; i++) {
      if (toOvertake[i] <= 0 && n < max) {
        burst.set(n++, held[i]);
      } else {
        held[kept] = held[i];
        toOvertake[kept++] = toOvertake[i];
      }
    }
    heldCount = kept;
    return n;
  }

  @Override
  public int txBurst(Burst burst, int from, int count) {
    return port.txBurst(burst, from, count);
  }

  @Override
  public int txRoom() {
    return port.txRoom();
  }

  @Override
  public long txBacklogBytes() {
    return port.txBacklogBytes();
  }

  @Override
  public long macAddress() {
    return port.macAddress();
  }

  @Override
  public int maxFrameBytes() {
    return port.maxFrameBytes();
  }

  @Override
  public boolean linkUp() {
    return port.linkUp();
  }

  @Override
  public boolean hidesQueue() {
    return port.hidesQueue();
  }

  @Override
  public boolean isInProcess() {
    return port.isInProcess();
  }

  /** None: what is held back comes by polling only. */
  @Override
  public int wakeFd() {
    return -1;
  }

  @Override
  public PortCounters counters() {
    return port.counters().plusDropped(lost.get());
  }

  @Override
  public String name() {
    return port.name();
  }

  @Override
  public void close() {
    while (heldCount > 0) {
      discard(Burst.id(held[--heldCount]));
    }
    port.close();
  }
}
