package org.pmhxb.pm.port;

import org.pmhxb.bufpool.DpdkPool;
import org.pmhxb.ffi.Hxb;

/**
 * Drivers whose bursts make no system call (net_ring, net_memif, hardware): critical calls, which
 * leave the thread in Java state.
 */
final class PollModePort extends DpdkPort {
  /** The ring that frames are sent to, where room can be asked for; else 0. */
  private final long txRing;

  private final boolean hidesQueue;

  /** {@code queue:32 | port:32}, as native calls for several queues name this one. */
  final long queueWord;

  /** Frames that fit at least: what the ring had room for, less what went into it since. */
  private int knownRoom;

  PollModePort(
      DpdkDevice device,
      int queue,
      DpdkPool pool,
      String name,
      long macAddress,
      int maxFrameBytes,
      long txRing,
      boolean hidesQueue) {
    super(device, queue, pool, name, macAddress, maxFrameBytes);
    this.txRing = txRing;
    this.hidesQueue = hidesQueue;
    this.queueWord = (long) queue << 32 | number;
  }

  @Override
  public int rxBurst(Burst burst, int max) {
    return taken(Hxb.rxBurst(number, queue, poolHandle, wordAt(burst, 0, max), max));
  }

  @Override
  public int txBurst(Burst burst, int from, int count) {
    int taken = taken(Hxb.txBurst(number, queue, poolHandle, wordAt(burst, from, count), count));
    handedOver(taken);
    return taken;
  }

  /** A burst took so many frames, or may. */
  void handedOver(int frames) {
    knownRoom -= frames;
  }

  /**
   * These drivers take what fits and never wait, so without a ring to ask a whole burst may try. A
   * ring is asked when less than a burst is known to fit.
   */
  @Override
  public int txRoom() {
    return txRing == 0 || knownRoom >= BURST_MAX ? BURST_MAX : askRoom();
  }

  private int askRoom() {
    knownRoom = Hxb.ringFreeCount(txRing);
    return Math.min(BURST_MAX, knownRoom);
  }

  @Override
  public long txBacklogBytes() {
    return 0;
  }

  @Override
  public boolean hidesQueue() {
    return hidesQueue;
  }

  @Override
  public boolean isInProcess() {
    return txRing != 0;
  }

  @Override
  public int wakeFd() {
    return -1;
  }
}
