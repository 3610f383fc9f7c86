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

  PollModePort(
      DpdkDevice device,
      int queue,
      DpdkPool pool,
      String name,
      long macAddress,
      int maxFrameBytes,
      long txRing) {
    super(device, queue, pool, name, macAddress, maxFrameBytes);
    this.txRing = txRing;
  }

  @Override
  public int rxBurst(Burst burst, int max) {
    return taken(Hxb.rxBurst(number, queue, poolHandle, wordAt(burst, 0, max), max));
  }

  @Override
  public int txBurst(Burst burst, int from, int count) {
    return taken(Hxb.txBurst(number, queue, poolHandle, wordAt(burst, from, count), count));
  }

  /**
   * These drivers take what fits and never wait, so without a ring to ask a whole burst may try.
   */
  @Override
  public int txRoom() {
    return txRing == 0 ? BURST_MAX : Math.min(BURST_MAX, Hxb.ringFreeCount(txRing));
  }

  @Override
  public long txBacklogBytes() {
    return 0;
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
