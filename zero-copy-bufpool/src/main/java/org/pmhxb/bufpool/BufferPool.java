package org.pmhxb.bufpool;

import java.lang.foreign.MemorySegment;

/**
 * Equally spaced buffers in one region, known by their ID.
 *
 * <p>Buffer {@code id} (1 to {@link #capacity()}) begins at {@code id * strideBytes} of {@link
 * #memory()}; its frame begins {@link #FRAME_OFFSET} later, on receive and send alike: {@link
 * #frameAt}. ID 0 means "none". A stride that is an odd multiple of {@link #STRIDE_UNIT_BYTES}
 * spreads the headers over every second line of a page and over all sets of a translation buffer;
 * with a power of two those of a burst lie in one set of the first-level cache
 * (docs/performance/send.md, "Translation").
 *
 * <p>Each buffer has a reference count and one owner entry. The named owner has one of the
 * references; those beyond it are anonymous ({@link #retain}, a driver's hold). Every hand-over
 * passes {@link #transfer}; what an owner left behind comes home by {@link #reclaim}.
 *
 * <p>Owner: the node's poll thread, asserted; {@link #handOver()} passes the pool to another
 * thread. Other threads may read {@link #memory()} and the geometry. They hand buffers back over
 * rings ({@link LoanBudget}).
 *
 * <p>Errors: misuse throws {@link PoolMisuseError}, always for releases and hand-overs that the
 * entry contradicts. Writes after release are found under assertions (first bytes of the frame) and
 * with {@code -Dhxb.pool.debug=true} (whole frame, with the stack trace of the release) when the
 * batch of releases goes home.
 */
public abstract class BufferPool implements AutoCloseable {
  /** Bytes before the frame in each buffer: RTE_PKTMBUF_HEADROOM of every DPDK that we build on. */
  public static final int FRAME_OFFSET = 128;

  /** IDs are 24 bits wide in descriptors. */
  public static final int CAPACITY_MAX = 0xFF_FFFF;

  /** Strides are multiples of this, so each frame begins at a pair of cache lines. */
  public static final int STRIDE_UNIT_BYTES = 128;

  public static final int STRIDE_BYTES_MIN = 256;

  /** DPDK's buffer size has 16 bits. */
  public static final int STRIDE_BYTES_MAX = 1 << 15;

  /** For an MTU of 9,000, and for what a net_af_packet port may write of such a frame. */
  public static final int JUMBO_STRIDE_BYTES = 81 * STRIDE_UNIT_BYTES;

  /**
   * References of one buffer here at most: half of what an mbuf's 16 bits count, the other is for
   * what drivers hold.
   */
  public static final int REFERENCES_MAX = (1 << 15) - 1;

  /**
   * Releases kept back, and IDs stashed of those, at most: one cache line of IDs several times
   * over.
   */
  static final int BATCH_MAX = 64;

  private static final int REFERENCE_SHIFT = 32;
  private static final long ONE_REFERENCE = 1L << REFERENCE_SHIFT;
  private static final long ENTRY_MASK = ONE_REFERENCE - 1;

  /** No bit of these in an entry: it is FREE or a PORT. */
  private static final int ABOVE = ~(Owner.PORT | Owner.HOLDER_MAX);

  /** Nor of these in a state: and Java has no reference to the buffer. */
  private static final long NOT_BELOW = ~((long) Owner.PORT | Owner.HOLDER_MAX);

  private final MemorySegment memory;
  private final long base;
  private final int strideBytes;
  private final int capacity;

  /** Ports are drivers: what {@link Owner#PORT} has is out of Java's reach. */
  private final boolean driverOwnsSent;

  /** No bit of these in the state of a buffer that is a port's. */
  private final long above;

  /**
   * Per buffer, at {@link #indexOf}: references that Java holds in bits 32-63, owner entry in bits
   * 0-31. Written by whoever owns the buffer; an ID changes threads only through a ring, whose
   * release and acquire order these plain accesses too.
   */
  private final long[] state;

  /**
   * What the next allocations take: a batch of what came from the backing or was released, and what
   * was sent and nobody has any more, up to what a pool has for frames held for resend ({@link
   * PoolBudget#resendHolds}): drivers receive into the others.
   */
  private final int[] stash;

  /** What came from the backing, until it is found to be free. */
  private final int[] refilled;

  private int stashed;

  /** {@link #takeStashed} takes none of so many: all where a guard wants to see each. */
  private final int stashLeft;

  private final int[] returns;
  private int returned;

  /** Null when neither assertions nor debug mode are on. */
  private final PoolGuard guard;

  private Thread pollThread;
  private boolean closed;

  /**
   * @param memory the region: (capacity + 1) strides
   * @param strideBytes multiple of {@link #STRIDE_UNIT_BYTES}
   * @param sentKept buffers that were sent and are free, kept for the next allocations at most; a
   *     batch at least is
   * @param driverOwnsSent a buffer given to {@link Owner#PORT} is released by a driver, not here
   */
  protected BufferPool(
      MemorySegment memory, int strideBytes, int capacity, int sentKept, boolean driverOwnsSent) {
    checkGeometry(strideBytes, capacity);
    if (memory.byteSize() < regionBytes(strideBytes, capacity)) {
      throw new IllegalArgumentException(
          "region of " + memory.byteSize() + " B is smaller than " + (capacity + 1L) + " buffers");
    }
    this.memory = memory;
    this.base = memory.address();
    this.strideBytes = strideBytes;
    this.capacity = capacity;
    this.driverOwnsSent = driverOwnsSent;
    this.above = driverOwnsSent ? NOT_BELOW : NOT_BELOW & ENTRY_MASK;
    this.state = new long[capacity];
    // A small pool keeps its batches small, or most of it would sit in them.
    int batch = Math.clamp(capacity / 8, 1, BATCH_MAX);
    this.stash = new int[Math.clamp(sentKept, batch, capacity)];
    this.refilled = new int[batch];
    this.returns = new int[batch];
    this.guard = PoolGuard.ifEnabled(this);
    this.stashLeft = guard == null ? 0 : Integer.MAX_VALUE;
  }

  /** Refuses sizes that descriptors or drivers could not carry. */
  protected static void checkGeometry(int strideBytes, int capacity) {
    if (strideBytes % STRIDE_UNIT_BYTES != 0
        || strideBytes < STRIDE_BYTES_MIN
        || strideBytes > STRIDE_BYTES_MAX) {
      throw new IllegalArgumentException(
          "stride of %d B is not a multiple of %d B in %d..%d B"
              .formatted(strideBytes, STRIDE_UNIT_BYTES, STRIDE_BYTES_MIN, STRIDE_BYTES_MAX));
    }
    if (capacity < 1 || capacity > CAPACITY_MAX) {
      throw new IllegalArgumentException(
          "pool capacity of " + capacity + " buffers is not in 1.." + CAPACITY_MAX);
    }
  }

  /**
   * Bytes of a pool's memory. Stride 0 belongs to no buffer: offset 0 and ID 0 stay free to mean
   * "none".
   */
  public static long regionBytes(int strideBytes, int capacity) {
    return (capacity + 1L) * strideBytes;
  }

  // ---- geometry: any thread -------------------------------------------------------------------

  /** The whole region; offset 0 is its base. Do not touch it after {@link #close()}. */
  public final MemorySegment memory() {
    return memory;
  }

  public final int strideBytes() {
    return strideBytes;
  }

  /** Buffers; their IDs are 1 to this, inclusive. */
  public final int capacity() {
    return capacity;
  }

  /** Offset into {@link #memory()} of a buffer's frame (byte 0 of its Ethernet header). */
  public final long frameAt(int id) {
    return (long) id * strideBytes + FRAME_OFFSET;
  }

  /** Address of a buffer's frame, for {@link Memory#ALL}: of an ID that is known to be ours. */
  public final long addressOf(int id) {
    return Memory.known(base + frameAt(id));
  }

  /** Longest frame that a buffer holds. */
  public final int frameCapacityBytes() {
    return frameCapacityBytes(strideBytes);
  }

  /** Longest frame that buffers of a stride hold. */
  public static int frameCapacityBytes(int strideBytes) {
    return strideBytes - FRAME_OFFSET;
  }

  /**
   * The least stride for frames of a length that is an odd multiple of {@link #STRIDE_UNIT_BYTES}.
   *
   * @param frameBytes 0 to {@code STRIDE_BYTES_MAX - 256}
   * @throws IllegalArgumentException for other lengths
   */
  public static int strideBytesFor(int frameBytes) {
    if (frameBytes < 0 || frameBytes > STRIDE_BYTES_MAX - 256) {
      throw new IllegalArgumentException(
          "frame of " + frameBytes + " B is not in 0.." + (STRIDE_BYTES_MAX - 256));
    }
    int units = Math.ceilDiv(FRAME_OFFSET + frameBytes, STRIDE_UNIT_BYTES) | 1;
    return Math.max(units * STRIDE_UNIT_BYTES, 3 * STRIDE_UNIT_BYTES);
  }

  /** The buffer that an offset into {@link #memory()} lies in. */
  public final int idOf(long offset) {
    return (int) (offset / strideBytes);
  }

  // ---- allocation and release: poll thread ----------------------------------------------------

  /** Buffers free right now, the stash included. Approximate while drivers work. Control path. */
  public final int available() {
    checkOpen();
    return stashed + freeInBacking();
  }

  /** Takes one buffer with one reference: its ID, or 0 when none is free. */
  public final int allocate(int owner) {
    assert onPollThread();
    return owner != Owner.FREE && hasStashed() ? takeStashed(solely(owner)) : allocateOther(owner);
  }

  /** Whether there is a buffer for {@link #takeStashed}. */
  public final boolean hasStashed() {
    return stashed > stashLeft;
  }

  /**
   * What the pool keeps of a buffer whose only reference is its owner's: {@link #takeStashed} and
   * {@link #passUsual} take it so, because to be made of an owner costs them as much as to be
   * compared. Any thread.
   *
   * @param owner not {@link Owner#FREE}
   */
  public static long solely(int owner) {
    return ONE_REFERENCE | owner;
  }

  /**
   * {@link #allocate(int)} of a buffer that is at hand, as {@link #hasStashed} has said.
   *
   * @param owner {@link #solely}
   */
  public final int takeStashed(long owner) {
    assert onPollThread() && hasStashed() && entry(owner) != Owner.FREE && references(owner) == 1;
    int left = stashed - 1;
    // That it is free was found when it came into the stash.
    int id = stash[left];
    stashed = left;
    state[id - 1] = owner;
    return id;
  }

  private int allocateOther(int owner) {
    if (owner == Owner.FREE) {
      throw misuse("allocation needs an owner", 0);
    }
    if (stashed == 0 && refill() == 0) {
      return 0;
    }
    int id = stash[--stashed];
    state[id - 1] = ONE_REFERENCE | owner;
    if (guard != null) {
      guard.received(id);
    }
    return id;
  }

  /**
   * Takes buffers with one reference each.
   *
   * @return how many were written to {@code ids[from, from + n)}; fewer than asked when the pool
   *     runs out
   */
  public final int allocate(int owner, int[] ids, int from, int count) {
    int taken = 0;
    while (taken < count) {
      int id = allocate(owner);
      if (id == 0) {
        break;
      }
      ids[from + taken++] = id;
    }
    return taken;
  }

  /**
   * Drops one reference: the owner's own, or an anonymous one if {@code owner} is not the owner. At
   * most {@value #BATCH_MAX} are kept back; {@link #flush()} hands them home.
   */
  public final void release(int id, int owner) {
    if (keepRelease(id, owner)) {
      flush();
    }
  }

  /**
   * {@link #release(int, int)} for a loop that must not contain a call: the caller calls {@link
   * #flush()} when there is no room for another, before anything else is released.
   *
   * @return whether there is no more room
   */
  public final boolean keepRelease(int id, int owner) {
    assert onPollThread();
    int index = indexOf(id);
    long was = state[index];
    // Nearly always the owner's is the one reference: one comparison for both.
    state[index] = was == (ONE_REFERENCE | owner) ? 0 : afterRelease(id, owner, was);
    if (guard != null) {
      guard.released(id, owner, references(was) == 1);
    }
    return keep(id);
  }

  /**
   * {@link #release(int, int)} of buffers that descriptors side by side name, of some at least: a
   * loop for the usual ones, which nobody else holds.
   *
   * @param slot of the first descriptor, as {@link SpscDescriptorRing#slot} gives it
   * @param count descriptors, 1 or more
   * @return buffers that were released, from the first on, 1 or more
   */
  public final int release(long slot, int count, int owner) {
    int n = guard == null ? keepReleases(slot, count, owner) : 0;
    if (returned == returns.length) {
      flush();
    } else if (n < count) {
      release(
          Descriptor.bufferId(SpscDescriptorRing.hi(SpscDescriptorRing.behind(slot, n))), owner);
      n++;
    }
    return n;
  }

  /** A loop without a call: up to what there is room for, or what is none of the usual. */
  private int keepReleases(long slot, int count, int owner) {
    assert onPollThread();
    long[] entries = state;
    int[] batch = returns;
    int first = returned;
    long usual = ONE_REFERENCE | owner;
    long slots = Memory.known(slot);
    int n = Math.min(count, batch.length - first);
    int i = 0;
    while (i < n) {
      long hi = SpscDescriptorRing.hi(SpscDescriptorRing.behind(slots, i));
      int id = Descriptor.bufferId(hi);
      int index = id - 1;
      if (Integer.compareUnsigned(index, entries.length) >= 0 || entries[index] != usual) {
        break;
      }
      entries[index] = Owner.FREE;
      batch[first + i] = id;
      i++;
    }
    returned = first + i;
    return i;
  }

  private boolean keep(int id) {
    int[] batch = returns;
    int n = returned;
    batch[n] = id;
    returned = n + 1;
    return n + 1 == batch.length;
  }

  /**
   * Releases a buffer that a receive burst gave and that nobody had since: a {@link #transfer} from
   * {@link Owner#PORT} to {@link Owner#NODE} and its {@link #release(int, int)} in one.
   */
  public final void releaseReceived(int id) {
    assert onPollThread();
    int index = indexOf(id);
    if ((state[index] & NOT_BELOW) != 0 || guard != null) {
      transfer(id, Owner.PORT, Owner.NODE);
      release(id, Owner.NODE);
    } else {
      state[index] = Owner.FREE;
      if (keep(id)) {
        flush();
      }
    }
  }

  private long afterRelease(int id, int owner, long was) {
    if (entry(was) == owner && references(was) > 0) {
      return was - ONE_REFERENCE & ~ENTRY_MASK;
    }
    if (references(was) > (entry(was) == Owner.FREE ? 0 : 1)) {
      return was - ONE_REFERENCE;
    }
    throw badRelease(id, owner, was);
  }

  /**
   * {@link #release(int, int)} of a buffer that was sent: see {@link #release(int[], int, int)}.
   */
  public final void releaseSent(int id, int owner) {
    assert onPollThread();
    int index = indexOf(id);
    if (guard == null
        && state[index] == (ONE_REFERENCE | owner)
        && stashed < stash.length
        && referencesInBacking(id) == 1) {
      state[index] = 0;
      stash[stashed++] = id;
    } else {
      release(id, owner);
    }
  }

  /**
   * {@link #release(int, int)} of {@code ids[0, count)}, which were sent: when no driver has them
   * any more they are what the next allocations take.
   */
  public final void release(int[] ids, int count, int owner) {
    assert onPollThread();
    int done = 0;
    while (done < count) {
      int stays = guard == null ? restash(ids, done, count, owner) : done;
      if (stays == done) {
        release(ids[done++], owner);
      } else {
        done = stays;
      }
    }
  }

  /**
   * Releases of {@code ids[from, to)} those that nobody but the owner has, drivers included, up to
   * the first other, and as many as the stash takes: what is free is what the next allocations
   * take, so it need not go home in between.
   */
  private int restash(int[] ids, int from, int to, int owner) {
    long[] states = state;
    int[] free = stash;
    int n = stashed;
    long owned = ONE_REFERENCE | owner;
    int end = Math.min(to, from + free.length - n);
    int i = from;
    for (; i < end; i++) {
      int id = ids[i];
      int index = id - 1;
      if (Integer.compareUnsigned(index, states.length) >= 0
          || states[index] != owned
          || referencesInBacking(id) != 1) {
        break;
      }
      states[index] = 0;
      free[n++] = id;
    }
    stashed = n;
    return i;
  }

  /** Hands the kept-back releases home. Call when idle, and before counting. */
  public final void flush() {
    assert onPollThread();
    int count = returned;
    if (count == 0) {
      return;
    }
    returned = 0;
    PoolMisuseError writtenAfterRelease =
        guard == null ? null : guard.checkBeforeHome(returns, count);
    // What nobody has any more is what the next allocations take: it need not go home in between.
    stash(returns, recycle(returns, count, Math.max(0, returns.length - stashed)));
    if (writtenAfterRelease != null) {
      throw writtenAfterRelease;
    }
  }

  /** Adds one anonymous reference to a buffer that is in use, {@link #REFERENCES_MAX} in all. */
  public final void retain(int id) {
    assert onPollThread();
    int index = indexOf(id);
    int before = references(state[index]);
    if (before == 0) {
      throw misuse("retain of buffer " + id + ", which is not in use", id);
    }
    if (before >= REFERENCES_MAX) {
      throw misuse("retain of buffer " + id + ", which has " + before + " references", id);
    }
    state[index] += ONE_REFERENCE;
    addReference(id);
  }

  /**
   * References of a buffer that Java code has, drivers' included: 1 means that no driver has it any
   * more. 0 when no Java code has it (it is free, or a driver's alone). Exact for what the caller's
   * thread does, a moment's view of what drivers do. Not for each packet: it looks through the
   * kept-back releases.
   */
  public final int references(int id) {
    if (references(state[indexOf(id)]) == 0) {
      return 0;
    }
    int found = referencesInBacking(id);
    for (int i = 0; i < returned; i++) {
      found -= returns[i] == id ? 1 : 0;
    }
    return found;
  }

  // ---- ownership: whoever owns the buffer -----------------------------------------------------

  /** The owner entry; {@link Owner#FREE} when nobody here answers for the buffer. */
  public final int owner(int id) {
    return entry(state[indexOf(id)]);
  }

  /**
   * The one function through which every hand-over passes.
   *
   * <p>From {@link Owner#PORT} or {@link Owner#FREE}: a receive burst gave the buffer; any rail
   * matches, since drivers move buffers among themselves. To {@link Owner#PORT}: a transmit burst
   * took it, with the reference.
   */
  public final void transfer(int id, int fromOwner, int toOwner) {
    int index = indexOf(id);
    long was = state[index];
    // Nearly always there is no reference yet, or the owner's alone: one comparison tells.
    if (isBelow(fromOwner)) {
      boolean usual = (was & NOT_BELOW) == 0 && !isBelow(toOwner) && guard == null;
      state[index] = usual ? ONE_REFERENCE | toOwner : fromBelow(id, was, fromOwner, toOwner);
    } else if (was == (ONE_REFERENCE | fromOwner)) {
      boolean goes = driverOwnsSent && isBelow(toOwner);
      state[index] = goes ? toOwner : ONE_REFERENCE | toOwner;
    } else {
      state[index] = fromAbove(id, was, fromOwner, toOwner);
    }
  }

  /**
   * {@link #transfer} between two owners of which neither is {@link Owner#FREE} nor a port: what
   * nearly every frame does between claim and release.
   */
  public final void pass(int id, int fromOwner, int toOwner) {
    if (!passUsual(id, solely(fromOwner), solely(toOwner))) {
      transfer(id, fromOwner, toOwner);
    }
  }

  /**
   * {@link #pass} of a buffer that has no reference but its owner's.
   *
   * @param from {@link #solely} of its owner
   * @param to {@link #solely} of its next owner
   * @return false when it has, or the owner is another one, or the ID is foreign: nothing was done
   */
  public final boolean passUsual(int id, long from, long to) {
    assert !isBelow(entry(from)) && !isBelow(entry(to));
    assert references(from) == 1 && references(to) == 1;
    long[] states = state;
    int index = id - 1;
    if (Integer.compareUnsigned(index, states.length) >= 0 || states[index] != from) {
      return false;
    }
    states[index] = to;
    return true;
  }

  /**
   * {@link #transfer} from a port to a port, which changes nothing: of a frame that goes on in the
   * round in which it came.
   *
   * <p>A buffer that a driver brings twice in one burst is not found so: its entry is as it was.
   *
   * @return false when the buffer is not a port's alone, or the ID is foreign: {@link #transfer}
   *     has the last word then
   */
  public final boolean isOfPort(int id) {
    long[] states = state;
    int index = id - 1;
    return Integer.compareUnsigned(index, states.length) < 0 && (states[index] & above) == 0;
  }

  private long fromAbove(int id, long was, int fromOwner, int toOwner) {
    if (entry(was) != fromOwner || references(was) == 0) {
      throw badTransfer(id, fromOwner, toOwner, was);
    }
    // To a driver goes the owner's reference too; anonymous ones stay countable.
    long stays = driverOwnsSent && isBelow(toOwner) ? was - ONE_REFERENCE : was;
    return stays & ~ENTRY_MASK | toOwner;
  }

  private long fromBelow(int id, long was, int fromOwner, int toOwner) {
    if (!isBelow(entry(was))) {
      throw badTransfer(id, fromOwner, toOwner, was);
    }
    if (isBelow(toOwner) && driverOwnsSent || references(was) != 0 && !driverOwnsSent) {
      return was & ~ENTRY_MASK | toOwner;
    }
    if (guard != null) {
      guard.received(id);
    }
    return ONE_REFERENCE | toOwner;
  }

  /**
   * Releases all that an owner owns, for example after a client died. Walks the whole table.
   *
   * @return buffers released
   */
  public final int reclaim(int owner) {
    if (owner == Owner.FREE) {
      throw new IllegalArgumentException("what is free has no owner to reclaim from");
    }
    int count = 0;
    for (int id = 1; id <= capacity; id++) {
      if (entry(state[id - 1]) == owner && references(state[id - 1]) > 0) {
        release(id, owner);
        count++;
      }
    }
    flush();
    return count;
  }

  /** Buffers that an owner of this kind or exactly this owner has. Control path. */
  public final int ownedBy(int owner) {
    boolean wholeKind = Owner.holder(owner) == 0;
    int count = 0;
    for (int id = 1; id <= capacity; id++) {
      int entry = entry(state[id - 1]);
      if (entry == owner || wholeKind && entry != Owner.FREE && Owner.kind(entry) == owner) {
        count++;
      }
    }
    return count;
  }

  /** The next thread that uses the pool becomes its poll thread. Call from the present one. */
  public final void handOver() {
    pollThread = null;
  }

  /**
   * Gives the region back, and no buffer any more: to allocate one is refused. Buffers that the
   * application still has (claimed, arrived or on loan) keep it mapped until the process ends: a
   * live view must not fault.
   */
  @Override
  public final void close() {
    if (closed) {
      return;
    }
    closed = true;
    pollThread = null;
    flushQuietly();
    closeBacking(ownedBy(Owner.LOAN) + ownedBy(Owner.APPLICATION) + ownedBy(Owner.INBOX) > 0);
  }

  // ---- backing --------------------------------------------------------------------------------

  /** Takes up to {@code count} free buffers with one reference each, into {@code ids[0, n)}. */
  abstract int takeFree(int[] ids, int count);

  /** Drops one reference of each; an ID may occur more than once. */
  abstract void dropReferences(int[] ids, int count);

  /**
   * {@link #dropReferences}, but up to {@code keep} of the buffers that are free then stay with one
   * reference each, as if taken: in {@code ids[0, n)}. A backing may keep none.
   */
  int recycle(int[] ids, int count, int keep) {
    dropReferences(ids, count);
    return 0;
  }

  abstract void addReference(int id);

  /** Only asked for buffers that Java code has; kept-back releases still count. */
  abstract int referencesInBacking(int id);

  abstract int freeInBacking();

  /**
   * @param viewsLive the application may still look at the region
   */
  abstract void closeBacking(boolean viewsLive);

  // ---- inside ---------------------------------------------------------------------------------

  private int refill() {
    checkOpen();
    int count = takeFree(refilled, refilled.length);
    if (count == 0 && returned > 0) {
      flush();
      count = stashed == 0 ? takeFree(refilled, refilled.length) : 0;
    }
    stash(refilled, count);
    return stashed;
  }

  /** What {@link #close()} leaves is an empty stash: who wants more comes here. */
  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("the pool is closed");
    }
  }

  /** Puts free buffers where allocations take them, if they are; there is room. */
  private void stash(int[] ids, int count) {
    long[] states = state;
    int[] to = stash;
    int n = stashed;
    for (int i = 0; i < count; i++) {
      int id = ids[i];
      int index = id - 1;
      if (Integer.compareUnsigned(index, states.length) >= 0 || (states[index] & NOT_BELOW) != 0) {
        throw cameWhileUsed(id, state[indexOf(id)]);
      }
      to[n++] = id;
    }
    stashed = n;
  }

  /** Hands stash and releases home at close; a misuse found now must not keep the region. */
  private void flushQuietly() {
    while (stashed > 0) {
      int n = Math.min(stashed, refilled.length);
      stashed -= n;
      System.arraycopy(stash, stashed, refilled, 0, n);
      dropReferences(refilled, n);
    }
    int count = returned;
    returned = 0;
    dropReferences(returns, count);
  }

  private static boolean isBelow(int owner) {
    return (owner & ABOVE) == 0;
  }

  private static int entry(long state) {
    return (int) state;
  }

  private static int references(long state) {
    return (int) (state >>> REFERENCE_SHIFT);
  }

  /** Where the state of a buffer lies. One comparison for both ends, and for the array's too. */
  private int indexOf(int id) {
    int index = id - 1;
    if (Integer.compareUnsigned(index, state.length) >= 0) {
      throw foreign(id);
    }
    return index;
  }

  private PoolMisuseError foreign(int id) {
    return new PoolMisuseError(
        "buffer ID " + id + " is foreign: this pool has 1.." + capacity, null);
  }

  /**
   * For assertions of whatever has the same owner as the pool, the node's protocol for one: the
   * first thread that asks becomes the owner.
   *
   * @return true
   * @throws AssertionError in another thread than the poll thread; names both
   */
  public final boolean onPollThread() {
    Thread current = Thread.currentThread();
    if (pollThread == null) {
      pollThread = current;
    }
    if (pollThread != current) {
      throw new AssertionError(
          "pool belongs to thread \"%s\" and was used by \"%s\"; see BufferPool.handOver()"
              .formatted(pollThread.getName(), current.getName()));
    }
    return true;
  }

  private PoolMisuseError badRelease(int id, int owner, long was) {
    if (references(was) == 0) {
      return misuse(
          "double release of buffer %d by %s (a received frame enters by transfer from PORT)"
              .formatted(id, Owner.describe(owner)),
          id);
    }
    return misuse(
        "release of buffer %d by %s, but its owner is %s"
            .formatted(id, Owner.describe(owner), Owner.describe(entry(was))),
        id);
  }

  private PoolMisuseError badTransfer(int id, int fromOwner, int toOwner, long was) {
    return misuse(
        "transfer of buffer %d from %s to %s, but its owner is %s"
            .formatted(
                id, Owner.describe(fromOwner), Owner.describe(toOwner), Owner.describe(entry(was))),
        id);
  }

  private PoolMisuseError cameWhileUsed(int id, long was) {
    return misuse(
        "buffer %d came free while %s owns it with %d references"
            .formatted(id, Owner.describe(entry(was)), references(was)),
        id);
  }

  private PoolMisuseError misuse(String message, int id) {
    return new PoolMisuseError(message, guard == null ? null : guard.lastRelease(id));
  }
}
