package org.pmhxb.pm.port;

/**
 * One rail: a transmit and a receive queue of a NIC, so one NIC with several queues is several
 * rails.
 *
 * <p>Owner: one poll thread; a transmit queue has exactly one writer. Burst calls return counts and
 * never throw.
 */
public interface Port extends AutoCloseable {
  /** Name for people: device and queue. */
  String name();

  /**
   * Takes up to {@code max} received frames. Each lies at its buffer's frame offset and belongs to
   * the caller with one reference.
   *
   * @return frames written to {@code burst[0, n)}
   */
  int rxBurst(Burst burst, int max);

  /**
   * Offers {@code burst[from, from + count)} for transmission. The port takes a prefix and owns it;
   * the caller keeps the rest. The words may be a receive burst's, of frames that are relayed,
   * whose buffers have stayed the ports': a port neither writes nor keeps words.
   *
   * @return frames taken
   */
  int txBurst(Burst burst, int from, int count);

  /**
   * Frames that are known to fit now without blocking: who waits in a burst stops every rail of its
   * thread.
   */
  int txRoom();

  /** Bytes accepted but not yet gone from this host; 0 where the driver cannot tell. */
  long txBacklogBytes();

  /** This port's address in the low 48 bits. */
  long macAddress();

  /** Largest frame in bytes, Ethernet header included, FCS excluded. */
  int maxFrameBytes();

  /** Carrier. Control path only: carrier is not connectivity. */
  boolean linkUp();

  /**
   * A descriptor that becomes readable when a frame arrives, or -1. Of some ports only from {@link
   * #fallAsleep} to {@link #wakeUp}, between which who drives has to look for frames once more
   * before it waits.
   */
  int wakeFd();

  /** What passed the port and what was lost there. Control path, any thread; may take a while. */
  PortCounters counters();

  @Override
  void close();

  /**
   * From now on a frame that arrives makes {@link #wakeFd} readable. Poll thread.
   *
   * @return whether {@code Hxb.barrier} has to follow, before the last look for frames
   */
  default boolean fallAsleep() {
    return false;
  }

  /**
   * Whether a burst since {@link #fallAsleep} may have left frames that were there: then nobody
   * sleeps now. Poll thread.
   */
  default boolean missedFrames() {
    return false;
  }

  /**
   * The end of {@link #fallAsleep}; it may come again soon. Poll thread.
   *
   * @param rung the descriptor may be readable
   */
  default void wakeUp(boolean rung) {}

  /** {@link #fallAsleep} will not come again soon. Poll thread. */
  default void stayAwake() {}

  /**
   * Whether a queue in front of a wire may be here and not show: the driver cannot tell of it
   * ({@link #txBacklogBytes}), and takes more while it grows.
   */
  default boolean hidesQueue() {
    return false;
  }

  /**
   * Whether frames pass through memory of this process alone: a round trip then measures how often
   * nodes are polled, not how long a queue is.
   */
  default boolean isInProcess() {
    return false;
  }
}
