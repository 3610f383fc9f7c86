package org.pmhxb.pm.port;

import org.pmhxb.bufpool.DpdkPool;
import org.pmhxb.ffi.Errno;
import org.pmhxb.ffi.Hxb;

/**
 * A rail over a DPDK port: one of its queue pairs. Made by {@link DpdkPorts}.
 *
 * <p>Owner: one poll thread, for bursts and room; the control-path methods may be called by any
 * thread. Ports do not touch the pool's owner entries: what a burst gave or took, the caller enters
 * by {@code BufferPool.transfer} from or to {@code Owner.PORT}, but for what goes on as it came
 * ({@code BufferPool.isOfPort}).
 */
public abstract sealed class DpdkPort implements Port permits PollModePort, AfPacketPort {
  /** Frames that one call moves at most; longer requests are cut. */
  static final int BURST_MAX = Hxb.BURST_MAX;

  final int number;
  final int queue;
  final long poolHandle;

  private final DpdkDevice device;
  private final String name;
  private final long macAddress;
  private final int maxFrameBytes;
  private volatile boolean closed;

  DpdkPort(
      DpdkDevice device,
      int queue,
      DpdkPool pool,
      String name,
      long macAddress,
      int maxFrameBytes) {
    this.device = device;
    this.number = device.number;
    this.queue = queue;
    this.poolHandle = pool.handle();
    this.name = name;
    this.macAddress = macAddress;
    this.maxFrameBytes = maxFrameBytes;
  }

  /** DPDK's number of the port, for tools. */
  public final int portNumber() {
    return number;
  }

  @Override
  public final String name() {
    return name;
  }

  @Override
  public final long macAddress() {
    return macAddress;
  }

  @Override
  public final int maxFrameBytes() {
    return maxFrameBytes;
  }

  @Override
  public boolean linkUp() {
    return !closed && device.linkUp();
  }

  /** Of the whole device: drivers count per port, not per queue. */
  @Override
  public final PortCounters counters() {
    return device.counters(this::dropsBeside);
  }

  /**
   * Received frames that were lost and that the driver does not count, cumulative. Asked while the
   * port is open, by one thread at a time.
   */
  long dropsBeside() {
    return 0;
  }

  /** After this no burst may be called; frames in the driver's rings are freed. */
  @Override
  public final void close() {
    if (!closed) {
      closed = true;
      device.railClosed();
    }
  }

  /**
   * A burst's result as the contract has it: what was not taken, or an interface that is down, is
   * 0. A first descriptor that no pool could have made is the caller's defect.
   */
  static int taken(int result) {
    assert result != -Errno.EINVAL : "burst begins with a buffer ID or length out of range";
    return Math.max(result, 0);
  }

  static long wordAt(Burst burst, int from, int count) {
    if ((from | count | from + count | burst.capacity() - (from + count)) < 0) {
      throw outside(burst, from, count);
    }
    return burst.address() + (long) from * Long.BYTES;
  }

  private static IndexOutOfBoundsException outside(Burst burst, int from, int count) {
    return new IndexOutOfBoundsException(
        "descriptors %d + %d of a burst of %d".formatted(from, count, burst.capacity()));
  }

  @Override
  public final String toString() {
    return name;
  }
}
