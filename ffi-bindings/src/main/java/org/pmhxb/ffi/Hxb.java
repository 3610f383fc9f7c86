package org.pmhxb.ffi;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;

/**
 * The packet-path calls into libpmhxb, over primitives only: no segment, no boxing, no allocation.
 * Pools and rings are handles from {@link Pools} and {@link Rings}; memory arguments are native
 * addresses that must stay valid for the call. Results below zero are negative errno ({@link
 * Errno}); nothing here throws in operation. The full contracts stand in native/include/pmhxb.h.
 *
 * <p>Each queue and each single-producer or single-consumer end of a ring belongs to one thread.
 *
 * <p>Why two variants of the burst calls: a <em>critical</em> call skips the transition of the
 * thread's state (about 3.5 ns a call) but holds up every safepoint of the JVM until it returns. So
 * it is right for bounded calls without system calls (net_ring, lines of shared memory, hardware
 * drivers), and wrong for drivers that make system calls in their bursts (af_packet, tap, af_xdp):
 * those take the {@code Blocking} variant.
 */
public final class Hxb {
  /** Most frames that one burst call moves (HXB_BURST_MAX). */
  public static final int BURST_MAX = 256;

  /** Most descriptors that {@link #waitReadable} waits for (HXB_WAIT_MAX). */
  public static final int WAIT_MAX = 128;

  private static final Linker LINKER = Linker.nativeLinker();
  private static final SymbolLookup SYMBOLS = symbols();

  // Every argument is declared as JAVA_LONG, so that calls of as many arguments are of one shape:
  // the JVM writes ten classes
  // for each shape that a process links, and they were a quarter of those of a node's start
  // (docs/DECISIONS.md). A C pointer
  // and a 64-bit integer travel alike in the System V and AAPCS64 calling conventions, and a 32-bit
  // one in the lower half of
  // what a 64-bit one takes. No MemorySegment is made per call.

  // Bounded, no system call: safe to delay a safepoint for.
  private static final MethodHandle RX_BURST = critical("hxb_rx_burst", 5);
  private static final MethodHandle TX_BURST = critical("hxb_tx_burst", 5);
  private static final MethodHandle RX_BURSTS = critical("hxb_rx_bursts", 4);
  private static final MethodHandle TX_BURSTS = critical("hxb_tx_bursts", 3);
  private static final MethodHandle TX_SEALED = critical("hxb_tx_sealed", 5);
  private static final MethodHandle PACKET_RX_BURST = critical("hxb_packet_rx_burst", 3);
  private static final MethodHandle RING_DEQUEUE = critical("hxb_ring_dequeue", 4);
  private static final MethodHandle RING_ENQUEUE = critical("hxb_ring_enqueue", 4);
  private static final MethodHandle WIRE_CARRY = critical("hxb_wire_carry", 2);
  private static final MethodHandle RING_COUNT = critical("hxb_ring_count", 1);
  private static final MethodHandle RING_FREE_COUNT = critical("hxb_ring_free_count", 1);
  private static final MethodHandle POOL_ALLOC = critical("hxb_pool_alloc_bulk", 3);
  private static final MethodHandle POOL_RELEASE = critical("hxb_pool_release_bulk", 3);
  private static final MethodHandle POOL_RECYCLE = critical("hxb_pool_recycle", 4);
  private static final MethodHandle POOL_REF = critical("hxb_pool_ref", 3);
  private static final MethodHandle POOL_REFCNT = critical("hxb_pool_refcnt", 2);
  private static final MethodHandle CRC32C_HOLDS = critical("hxb_crc32c_holds", 6);
  private static final MethodHandle SEAL = critical("hxb_seal", 6);

  // System calls: a safepoint must not wait for them.
  private static final MethodHandle TX_BURST_BLOCKING = blocking("hxb_tx_burst", 5);
  private static final MethodHandle TX_BURSTS_BLOCKING = blocking("hxb_tx_bursts", 3);
  private static final MethodHandle TX_SEALED_BLOCKING = blocking("hxb_tx_sealed", 5);
  private static final MethodHandle PACKET_TX_BURST = blocking("hxb_packet_tx_burst", 3);
  private static final MethodHandle AFPACKET_OUTQ = blocking("hxb_afpacket_outq", 1);
  private static final MethodHandle AFPACKET_KICK = blocking("hxb_afpacket_kick", 1);
  private static final MethodHandle EVENT_SIGNAL = blocking("hxb_event_signal", 1);
  private static final MethodHandle PORT_SLEEP = blocking("hxb_port_sleep", 1);
  private static final MethodHandle PORT_WAKE = blocking("hxb_port_wake", 2);
  private static final MethodHandle PORT_ROUSE = blocking("hxb_port_rouse", 1);
  private static final MethodHandle BARRIER = blocking("hxb_barrier", 0);
  private static final MethodHandle RING_BELLS = blocking("hxb_ring_bells", 1);
  private static final MethodHandle WAIT = blocking("hxb_wait", 4);

  private Hxb() {}

  /** Receives up to {@code n} frames into {@code descs} (n 64-bit words); see hxb_rx_burst. */
  public static int rxBurst(int port, int queue, long pool, long descs, int n) {
    try {
      return (int) RX_BURST.invokeExact((long) port, (long) queue, pool, descs, (long) n);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /** Sends a prefix of {@code descs} and returns its length; the caller keeps the rest. */
  public static int txBurst(int port, int queue, long pool, long descs, int n) {
    try {
      return (int) TX_BURST.invokeExact((long) port, (long) queue, pool, descs, (long) n);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /**
   * {@link #rxBurst} of each of {@code count} queues, of ports or of packet sockets; returns all
   * frames that came. The words at addresses {@code bursts} and {@code only} are hxb_rx_bursts'.
   */
  public static int rxBursts(long pool, long bursts, int count, long only) {
    try {
      return (int) RX_BURSTS.invokeExact(pool, bursts, (long) count, only);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /** {@link #txBurst} of each of {@code count} queues; returns all frames that were taken. */
  public static int txBursts(long pool, long bursts, int count) {
    try {
      return (int) TX_BURSTS.invokeExact(pool, bursts, (long) count);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /**
   * {@link #txBurst} of a queue, {@code port | queue << 32}, behind {@link #seal} of the same
   * frames: {@code sealing} is {@code from:16 | at << 16}, without a trailer, or 0 when none is to
   * be sealed.
   */
  public static int txSealed(long pool, long queue, long descs, int n, long sealing) {
    try {
      return (int) TX_SEALED.invokeExact(pool, queue, descs, (long) n, sealing);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /** {@link #txBursts} of packet sockets ({@link PacketSocket#queue}). */
  public static int txBurstsBlocking(long pool, long bursts, int count) {
    try {
      return (int) TX_BURSTS_BLOCKING.invokeExact(pool, bursts, (long) count);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /** {@link #txSealed} of a packet socket ({@link PacketSocket#queue}). */
  public static int txSealedBlocking(long pool, long queue, long descs, int n, long sealing) {
    try {
      return (int) TX_SEALED_BLOCKING.invokeExact(pool, queue, descs, (long) n, sealing);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /** {@link #txBurst} for drivers that make system calls in their send burst. */
  public static int txBurstBlocking(int port, int queue, long pool, long descs, int n) {
    try {
      return (int) TX_BURST_BLOCKING.invokeExact((long) port, (long) queue, pool, descs, (long) n);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /**
   * How many of {@code n} frames of the pool, from the first on, carry at byte {@code at} the
   * CRC32C of their bytes from {@code from} on. Their lengths are in the descriptors at {@code
   * descs}, their addresses in as many 64-bit words at {@code frames}. For short frames: it delays
   * safepoints until all are done.
   */
  public static int crc32cHolds(long pool, long descs, long frames, int n, int from, int at) {
    try {
      return (int) CRC32C_HOLDS.invokeExact(pool, descs, frames, (long) n, (long) from, (long) at);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /**
   * Writes the CRC32C of bytes {@code from} to {@code trailer} before its end into each of those of
   * {@code n} frames of the pool whose descriptor says that it has none, at byte {@code at};
   * returns n. For short frames: it delays safepoints until all are done.
   */
  public static int seal(long pool, long descs, int n, int from, int trailer, int at) {
    try {
      return (int) SEAL.invokeExact(pool, descs, (long) n, (long) from, (long) trailer, (long) at);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /** Takes frames of {@code pool} out of a ring; contract of {@link #rxBurst}. */
  public static int ringDequeue(long ring, long pool, long descs, int n) {
    try {
      return (int) RING_DEQUEUE.invokeExact(ring, pool, descs, (long) n);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /** Puts frames of {@code pool} into a ring; contract of {@link #txBurst}. */
  public static int ringEnqueue(long ring, long pool, long descs, int n) {
    try {
      return (int) RING_ENQUEUE.invokeExact(ring, pool, descs, (long) n);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /**
   * Carries up to 32 frames from each station of one node of a wire ({@link Wires}); returns how
   * many left it.
   */
  public static int wireCarry(long wire, int node) {
    try {
      return (int) WIRE_CARRY.invokeExact(wire, (long) node);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /** Frames in the ring now. */
  public static int ringCount(long ring) {
    try {
      return (int) RING_COUNT.invokeExact(ring);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /** Frames that fit into the ring now. */
  public static int ringFreeCount(long ring) {
    try {
      return (int) RING_FREE_COUNT.invokeExact(ring);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /**
   * Takes up to {@code n} buffers; writes their IDs as 32-bit words at address {@code ids}; returns
   * how many.
   */
  public static int poolAlloc(long pool, long ids, int n) {
    try {
      return (int) POOL_ALLOC.invokeExact(pool, ids, (long) n);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /** Drops one reference of each of the {@code n} IDs at address {@code ids}; returns how many. */
  public static int poolRelease(long pool, long ids, int n) {
    try {
      return (int) POOL_RELEASE.invokeExact(pool, ids, (long) n);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /**
   * {@link #poolRelease}, but up to {@code keep} of the buffers that came free stay the caller's:
   * their IDs are the first at address {@code ids}; returns how many.
   */
  public static int poolRecycle(long pool, long ids, int n, int keep) {
    try {
      return (int) POOL_RECYCLE.invokeExact(pool, ids, (long) n, (long) keep);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /** Adds {@code delta} references to a buffer that the caller holds; returns the new count. */
  public static int poolRef(long pool, int id, int delta) {
    try {
      return (int) POOL_REF.invokeExact(pool, (long) id, (long) delta);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /** References of a buffer that somebody holds; 1 also for a free one (DPDK keeps it so). */
  public static int poolRefcnt(long pool, int id) {
    try {
      return (int) POOL_REFCNT.invokeExact(pool, (long) id);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /** {@link #rxBurst} from a packet socket ({@link PacketSocket}); no system call. */
  public static int packetRxBurst(long socket, long descs, int n) {
    try {
      return (int) PACKET_RX_BURST.invokeExact(socket, descs, (long) n);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /** {@link #txBurst} to a packet socket: system calls, but none that waits; 0 while it is full. */
  public static int packetTxBurst(long socket, long descs, int n) {
    try {
      return (int) PACKET_TX_BURST.invokeExact(socket, descs, (long) n);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /** Bytes of the packet socket's frames that the kernel still holds, about 1 KB extra each. */
  public static int afPacketOutq(int fd) {
    try {
      return (int) AFPACKET_OUTQ.invokeExact((long) fd);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /** Sends what earlier bursts left in the packet socket's ring; 0 or -EAGAIN (not all left). */
  public static int afPacketKick(int fd) {
    try {
      return (int) AFPACKET_KICK.invokeExact((long) fd);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /**
   * From now on who sends to this end of a line of the shim's own rings behind its frames; before
   * the last look for frames of who will sleep. 1: {@link #barrier} has to follow, 0: it need not.
   */
  public static int portSleep(int port) {
    try {
      return (int) PORT_SLEEP.invokeExact((long) port);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /**
   * Whoever sends need not ring, but may have to again soon.
   *
   * @param rung 1: the port's descriptor may be readable, and is not any more
   */
  public static int portWake(int port, int rung) {
    try {
      return (int) PORT_WAKE.invokeExact((long) port, (long) rung);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /** Whoever sends need not look whether it is to ring. */
  public static int portRouse(int port) {
    try {
      return (int) PORT_ROUSE.invokeExact((long) port);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /** A memory barrier on the threads of all processes that have lines of the shim's own. */
  public static int barrier() {
    try {
      return (int) BARRIER.invokeExact();
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /** Wakes who sleeps at the other ends of the pool's lines and was sent frames; how many. */
  public static int ringBells(long pool) {
    try {
      return (int) RING_BELLS.invokeExact(pool);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /** Rings an eventfd doorbell. Any thread. */
  public static int eventSignal(int fd) {
    try {
      return (int) EVENT_SIGNAL.invokeExact((long) fd);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /**
   * Sleeps until one of {@code n} descriptors (32-bit words at address {@code fds}; negative ones
   * are passed over; at most {@link #WAIT_MAX}) is readable, or the doorbell {@code event}
   * (negative: none) was rung, which it unsets; or for {@code timeoutUs} microseconds (below 0: for
   * ever). Returns how many are readable or rung; 0 also when a signal came.
   */
  public static int waitReadable(long fds, int n, int event, long timeoutUs) {
    try {
      return (int) WAIT.invokeExact(fds, (long) n, (long) event, timeoutUs);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  private static SymbolLookup symbols() {
    NativeLibrary.load();
    return SymbolLookup.loaderLookup();
  }

  private static MethodHandle critical(String name, int arguments) {
    return bind(name, arguments, Linker.Option.critical(false));
  }

  private static MethodHandle blocking(String name, int arguments) {
    return bind(name, arguments);
  }

  private static MethodHandle bind(String name, int arguments, Linker.Option... options) {
    MemoryLayout[] words = new MemoryLayout[arguments];
    Arrays.fill(words, JAVA_LONG);
    FunctionDescriptor type = FunctionDescriptor.of(JAVA_INT, words);
    return SYMBOLS
        .find(name)
        .map(address -> LINKER.downcallHandle(address, type, options))
        .orElseThrow(() -> new NativeLoadException(name + " is not in " + NativeLibrary.path()));
  }

  /** A downcall over primitives throws nothing of its own: what arrives here is an error. */
  static RuntimeException unexpected(Throwable t) {
    if (t instanceof Error e) {
      throw e;
    }
    return t instanceof RuntimeException e ? e : new IllegalStateException(t);
  }
}
