package org.pmhxb.jmh;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Queue;
import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.bufpool.OffHeapPool;
import org.pmhxb.bufpool.Owner;
import org.pmhxb.pm.port.Burst;
import org.pmhxb.pm.port.Port;

/** A rail in plain memory for the peers that introduce themselves before a benchmark begins. */
final class PeerPort implements Port {
  static final int STRIDE_BYTES = 2_048;
  final Queue<byte[]> sent = new ArrayDeque<>();
  final Queue<byte[]> arriving = new ArrayDeque<>();
  private final BufferPool pool;
  private final long macAddress;

  /** Buffers that are the port's until its next call, as with a driver. */
  private final Queue<Integer> leaving = new ArrayDeque<>();

  PeerPort(OffHeapPool pool, long macAddress) {
    this.pool = pool;
    this.macAddress = macAddress;
  }

  @Override
  public String name() {
    return "peer";
  }

  private void completeSent() {
    for (int id : leaving) {
      pool.release(id, Owner.PORT);
    }
    leaving.clear();
  }

  @Override
  public int rxBurst(Burst burst, int max) {
    completeSent();
    int n = 0;
    while (n < max && !arriving.isEmpty()) {
      byte[] bytes = arriving.remove();
      int id = pool.allocate(Owner.PORT);
      MemorySegment.copy(
          bytes, 0, pool.memory(), ValueLayout.JAVA_BYTE, pool.frameAt(id), bytes.length);
      burst.set(n++, Burst.descriptor(id, bytes.length));
    }
    return n;
  }

  @Override
  public int txBurst(Burst burst, int from, int count) {
    completeSent();
    for (int i = from; i < from + count; i++) {
      long d = burst.get(i);
      int id = Burst.id(d);
      byte[] bytes = new byte[Burst.lengthBytes(d)];
      MemorySegment.copy(
          pool.memory(), ValueLayout.JAVA_BYTE, pool.frameAt(id), bytes, 0, bytes.length);
      sent.add(bytes);
      if ((d & Burst.HOLD) == 0) {
        leaving.add(id);
      }
    }
    return count;
  }

  @Override
  public int txRoom() {
    return Lab.BURST;
  }

  @Override
  public long txBacklogBytes() {
    return 0;
  }

  @Override
  public long macAddress() {
    return macAddress;
  }

  @Override
  public int maxFrameBytes() {
    return 1_900;
  }

  @Override
  public boolean linkUp() {
    return true;
  }

  @Override
  public int wakeFd() {
    return -1;
  }

  @Override
  public long rxDropped() {
    return 0;
  }

  @Override
  public void close() {
    completeSent();
  }
}
