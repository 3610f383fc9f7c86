package org.pmhxb.pm.port;

import java.lang.foreign.ValueLayout;
import org.pmhxb.bufpool.DpdkPool;
import org.pmhxb.bufpool.Memory;
import org.pmhxb.ffi.Hxb;

/**
 * Drivers whose bursts make no system call (net_ring, hardware, lines of the shim's own): critical
 * calls, which leave the thread in Java state.
 */
final class PollModePort extends DpdkPort {
  /**
   * How who sleeps at an end of a line of the shim's own is woken.
   *
   * @param fd readable when the peer rang for this end; -1: this process cannot sleep that way
   * @param words where {@code Pools.bells} stand, by which the peer is rung for; 0: never
   */
  record Bell(int fd, long words) {
    /** Of other ports. */
    static final Bell NONE = new Bell(-1, 0);
  }

  /** The ring that frames are sent to, where room can be asked for; else 0. */
  private final long txRing;

  private final boolean hidesQueue;

  /** {@link Bell#fd}. */
  private final int wakeFd;

  /** {@link Bell#words}. */
  final long bells;

  /** {@link #missed} when it fell asleep. */
  private long missedBefore;

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
      boolean hidesQueue,
      Bell bell) {
    super(device, queue, pool, name, macAddress, maxFrameBytes);
    this.txRing = txRing;
    this.hidesQueue = hidesQueue;
    this.wakeFd = bell.fd;
    this.bells = bell.words;
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
    ringBells(bells, poolHandle);
    return taken;
  }

  /** Who was sent frames and sleeps is woken: by a call of its own, since it is a system call. */
  static void ringBells(long bells, long poolHandle) {
    if (bells != 0 && Memory.ALL.get(ValueLayout.JAVA_LONG, Memory.known(bells)) != 0) {
      Hxb.ringBells(poolHandle);
    }
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
    return wakeFd;
  }

  @Override
  public boolean fallAsleep() {
    if (wakeFd < 0) {
      return false;
    }
    missedBefore = missed();
    return Hxb.portSleep(number) == 1;
  }

  @Override
  public boolean missedFrames() {
    return wakeFd >= 0 && missed() != missedBefore;
  }

  private long missed() {
    return Memory.ALL.get(ValueLayout.JAVA_LONG, Memory.known(bells) + Long.BYTES);
  }

  @Override
  public void wakeUp(boolean rung) {
    if (wakeFd >= 0) {
      Hxb.portWake(number, rung ? 1 : 0);
    }
  }

  @Override
  public void stayAwake() {
    if (wakeFd >= 0) {
      Hxb.portRouse(number);
    }
  }
}
