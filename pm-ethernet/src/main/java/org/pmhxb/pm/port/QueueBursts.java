package org.pmhxb.pm.port;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.function.ToLongFunction;
import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.bufpool.Memory;
import org.pmhxb.ffi.Hxb;
import org.pmhxb.pm.wire.FrameHeader;

/**
 * Bursts of several ports: in one native call where all of them are drivers whose bursts make no
 * system call, or all of them packet sockets, else port by port. A node of nine rails that polls
 * each by a call of its own spends more on calls than on the frames that came. Owner: the poll
 * thread.
 */
public final class QueueBursts {
  // Of a burst's words; see hxb_rx_bursts.
  private static final long QUEUE = 0;
  private static final long DESCRIPTORS = 8;
  private static final long MOST = 16;
  private static final long NUMBER = 20;
  private static final long MOVED = 24;

  private static final int WORDS_LOG2 = 5;

  // Of what is to be found out of an only frame; see hxb_rx_bursts. Zeros: nothing.
  private static final long ONLY_BYTES = 16;

  /** Ports at most; what an index is masked with, so that none can leave the block. */
  public static final int PORTS_MAX = 32;

  /**
   * Bursts of one native call, which keeps the JVM's other threads from a safepoint as long as it
   * lasts: memif copies within it, 9 times 32 frames of 9 KB in about half a millisecond.
   */
  private static final int AT_ONCE = 9;

  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;

  /** By number. */
  private final Port[] ports;

  private final Consumer<RuntimeException> faults;

  /** The same, where they are all drivers of one pool; else none. */
  private final PollModePort[] drivers;

  /** The same, where they are all packet sockets of one pool; else none. */
  private final PacketPort[] sockets;

  /** What native calls name them by: nine of them in two cache lines. */
  private final long[] queueWords;

  /** Their pool, or 0 when they are not. */
  private final long poolHandle;

  /** {@link PollModePort#bells} of those that have some. */
  private final long bells;

  /** Where ports are asked one by one. */
  private final Burst[] burst;

  private final int[] from;
  private final long block;

  /** Where the words stand that say what is to be found out of an only frame. */
  private final long only;

  private int count;

  /** Keeps the memory as long as the bursts: simulations make many nodes. */
  @SuppressWarnings("unused")
  private final MemorySegment keepAlive;

  /**
   * @param ports 1 to {@value #PORTS_MAX}
   * @param faults takes what a port throws. It moved nothing then, and the others their bursts:
   *     what one has taken must not be offered again because another failed
   * @throws IllegalArgumentException there are more ports
   */
  public QueueBursts(List<? extends Port> ports, Consumer<RuntimeException> faults) {
    int n = ports.size();
    if (n > PORTS_MAX) {
      throw new IllegalArgumentException(n + " ports; a node polls at most " + PORTS_MAX);
    }
    this.ports = ports.toArray(Port[]::new);
    this.faults = faults;
    this.drivers = ofOnePool(PollModePort.class, PollModePort[]::new, p -> p.poolHandle);
    this.sockets = ofOnePool(PacketPort.class, PacketPort[]::new, p -> p.poolHandle);
    if (sockets.length > 0) {
      this.poolHandle = sockets[0].poolHandle;
      this.queueWords = Arrays.stream(sockets).mapToLong(p -> p.queueWord).toArray();
    } else {
      this.poolHandle = drivers.length > 0 ? drivers[0].poolHandle : 0;
      this.queueWords = Arrays.stream(drivers).mapToLong(p -> p.queueWord).toArray();
    }
    this.bells = Arrays.stream(drivers).mapToLong(p -> p.bells).max().orElse(0);
    this.burst = new Burst[n];
    this.from = new int[n];
    long burstBytes = (long) PORTS_MAX << WORDS_LOG2;
    this.keepAlive = Arena.ofAuto().allocate(burstBytes + ONLY_BYTES, 64);
    this.block = keepAlive.address();
    this.only = block + burstBytes;
  }

  /** The ports, when all are of this kind and of one pool; else none. */
  private <P extends Port> P[] ofOnePool(
      Class<P> kind, IntFunction<P[]> array, ToLongFunction<P> pool) {
    P[] some = Arrays.stream(ports).filter(kind::isInstance).map(kind::cast).toArray(array);
    boolean all = some.length == ports.length;
    return all && Arrays.stream(some).mapToLong(pool).distinct().count() == 1
        ? some
        : array.apply(0);
  }

  /**
   * {@link Port#txRoom} of a port: no call by what kind of port it is, where they are all of one
   * kind.
   */
  public int txRoom(int number) {
    return number < drivers.length ? drivers[number].txRoom() : ports[number].txRoom();
  }

  /**
   * {@link #txRoom} of a port for a burst that needs no look at {@link #txBacklogBytes} before, for
   * all that is known; 0 when it does. {@link #areNative} only.
   *
   * @param bytes of the burst
   */
  public int usualRoom(int number, int bytes) {
    return number < drivers.length ? drivers[number].txRoom() : sockets[number].unaskedRoom(bytes);
  }

  /** {@link Port#txBacklogBytes} of a port, likewise. */
  public long txBacklogBytes(int number) {
    return number < drivers.length
        ? drivers[number].txBacklogBytes()
        : ports[number].txBacklogBytes();
  }

  /** Begins with no burst. */
  public void clear() {
    count = 0;
  }

  /** Bursts that were added. */
  public int count() {
    return count;
  }

  /**
   * Adds a send burst of a port, each port once at most: descriptors {@code words[first, first +
   * most)}.
   *
   * @param number of the port
   * @return which burst it is
   */
  public int add(int number, Burst words, int first, int most) {
    if (number < drivers.length) {
      drivers[number].handedOver(most);
    }
    return enter(number, words, first, most);
  }

  /**
   * Adds a receive burst of a port: {@link #receive} writes up to half as many descriptors as the
   * burst holds words, and in its second half where their frames begin.
   *
   * @return which burst it is
   */
  public int addReceive(int number, Burst words) {
    int i = enter(number, words, 0, words.capacity() / 2);
    Memory.ALL.set(LONG, wordsAt(i) + DESCRIPTORS, words.address());
    return i;
  }

  /**
   * From now on {@link #receive} looks, where it is one native call, at the CRC of a frame that is
   * all that one such call brought and is for a node, and marks it with {@link Burst#INTACT} when
   * it holds: the frame's steps need not wait for another call.
   *
   * @param wireNode {@link FrameHeader#wireInt(int)} of the node's number
   * @param bytesMax longest frame that is looked at, 0 to 65535: what bounds the native call
   */
  public void checkOnly(int wireNode, int bytesMax) {
    Memory.ALL.set(
        LONG,
        only,
        FrameHeader.CRC_FROM
            | (long) FrameHeader.CRC << 16
            | (long) FrameHeader.FLAGS_DST << 32
            | (long) bytesMax << 48);
    Memory.ALL.set(
        LONG, only + Long.BYTES, FrameHeader.WIRE_DST_MASK & 0xFFFF_FFFFL | (long) wireNode << 32);
  }

  private int enter(int number, Burst words, int first, int most) {
    int i = count;
    long at = wordsAt(i);
    if (poolHandle != 0) {
      Memory.ALL.set(LONG, at + QUEUE, queueWords[number]);
      Memory.ALL.set(LONG, at + DESCRIPTORS, DpdkPort.wordAt(words, first, most));
    } else {
      burst[i] = words;
      from[i] = first;
    }
    // As one: C reads both, and would wait for two stores to be in the cache.
    Memory.ALL.set(LONG, at + MOST, (long) number << 32 | most);
    count = i + 1;
    return i;
  }

  /**
   * Receives all of them, each added by {@link #addReceive}; frames that came.
   *
   * @param pool whose buffers the frames are in
   */
  public int receive(BufferPool pool) {
    if (poolHandle != 0) {
      if (count <= AT_ONCE) {
        return Hxb.rxBursts(poolHandle, block, count, only);
      }
      int all = 0;
      for (int i = 0; i < count; i += AT_ONCE) {
        all += Hxb.rxBursts(poolHandle, wordsAt(i), Math.min(AT_ONCE, count - i), only);
      }
      return all;
    }
    return receiveOneByOne(pool);
  }

  private int receiveOneByOne(BufferPool pool) {
    int all = 0;
    for (int i = 0; i < count; i++) {
      int n = rxBurst(i);
      moved(i, n);
      for (int k = 0; k < n; k++) {
        burst[i].set(most(i) + k, pool.addressOf(Burst.id(burst[i].get(k))));
      }
      all += n;
    }
    return all;
  }

  /** Sends all of them; frames that were taken. */
  public int send() {
    if (poolHandle == 0) {
      return sendOneByOne();
    }
    if (sockets.length > 0) {
      return sendToSockets();
    }
    int taken = sendAtOnce();
    PollModePort.ringBells(bells, poolHandle);
    return taken;
  }

  /** Whether {@link #sendSealed} may be called. */
  public boolean areNative() {
    return poolHandle != 0;
  }

  /**
   * Sends a burst of one port, descriptors {@code words[first, first + most)}, and no other; those
   * with {@link Burst#SEAL} are given their CRCs before that.
   *
   * @param number of the port
   * @param sealing {@link Hxb#txSealed}; 0: none is sealed
   * @return frames that were taken
   */
  public int sendSealed(int number, Burst words, int first, int most, long sealing) {
    long at = DpdkPort.wordAt(words, first, most);
    if (number >= drivers.length) {
      return sendSealedToSocket(sockets[number], at, most, sealing);
    }
    PollModePort port = drivers[number];
    port.handedOver(most);
    int taken = DpdkPort.taken(Hxb.txSealed(poolHandle, port.queueWord, at, most, sealing));
    PollModePort.ringBells(bells, poolHandle);
    return taken;
  }

  private int sendSealedToSocket(PacketPort port, long at, int most, long sealing) {
    int taken = DpdkPort.taken(Hxb.txSealedBlocking(poolHandle, port.queueWord, at, most, sealing));
    port.took(Memory.known(at), taken);
    return taken;
  }

  private int sendToSockets() {
    int all = Hxb.txBurstsBlocking(poolHandle, block, count);
    for (int i = 0; i < count; i++) {
      sockets[port(i)].took(descriptors(i), moved(i));
    }
    return all;
  }

  private int sendAtOnce() {
    if (count <= AT_ONCE) {
      return Hxb.txBursts(poolHandle, block, count);
    }
    int taken = 0;
    for (int i = 0; i < count; i += AT_ONCE) {
      taken += Hxb.txBursts(poolHandle, wordsAt(i), Math.min(AT_ONCE, count - i));
    }
    return taken;
  }

  private int sendOneByOne() {
    int all = 0;
    for (int i = 0; i < count; i++) {
      int n = txBurst(i);
      moved(i, n);
      all += n;
    }
    return all;
  }

  private int rxBurst(int i) {
    try {
      return ports[port(i)].rxBurst(burst[i], most(i));
    } catch (RuntimeException e) {
      faults.accept(e);
      return 0;
    }
  }

  private int txBurst(int i) {
    try {
      return ports[port(i)].txBurst(burst[i], from[i], most(i));
    } catch (RuntimeException e) {
      faults.accept(e);
      return 0;
    }
  }

  /** The number of the i-th burst's port. */
  public int port(int i) {
    return Memory.ALL.get(INT, wordsAt(i) + NUMBER);
  }

  /** Frames that the i-th burst moved. */
  public int moved(int i) {
    return DpdkPort.taken(Memory.ALL.get(INT, wordsAt(i) + MOVED));
  }

  /** Address of the i-th burst's words. */
  public long descriptors(int i) {
    return Memory.known(Memory.ALL.get(LONG, wordsAt(i) + DESCRIPTORS));
  }

  private void moved(int i, int frames) {
    Memory.ALL.set(LONG, wordsAt(i) + MOVED, frames);
  }

  private int most(int i) {
    return Memory.ALL.get(INT, wordsAt(i) + MOST);
  }

  private long wordsAt(int i) {
    return Memory.known(block) + ((long) (i & PORTS_MAX - 1) << WORDS_LOG2);
  }
}
