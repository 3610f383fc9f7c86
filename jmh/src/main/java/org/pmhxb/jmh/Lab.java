package org.pmhxb.jmh;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.pmhxb.bufpool.DpdkPool;
import org.pmhxb.ffi.Eal;
import org.pmhxb.ffi.EalOptions;
import org.pmhxb.ffi.Hugepages;
import org.pmhxb.ffi.Hxb;
import org.pmhxb.ffi.Rings;
import org.pmhxb.ffi.Threads;
import org.pmhxb.pm.NodeConfig;
import org.pmhxb.pm.port.Burst;
import org.pmhxb.pm.port.DpdkPort;
import org.pmhxb.pm.port.DpdkPorts;
import org.pmhxb.pm.wire.FrameHeader;

/**
 * The surroundings of a node under test: its pool, and rails whose far ends are bare rings in the
 * hands of the benchmark. Frames on the rings are the benchmark's alone; it takes and returns them
 * below {@code BufferPool}, as a driver does. Owner: the benchmark's thread.
 */
final class Lab implements AutoCloseable {
  static final int KEY = 0x68_78_62_31;
  static final int BURST = 32;
  private static final int STRIDE_BYTES = 16_384;
  private static final int RING_FRAMES = 1_024;
  private static int made;

  final DpdkPool pool;
  final MemorySegment frames;

  /** Descriptors and buffer IDs on their way to and from the rings. */
  final Burst burst = new Burst(BURST);

  /** Descriptors of frames that are only returned. */
  private final Burst leaving = new Burst(BURST);

  private final MemorySegment ids = Arena.global().allocate(BURST * (long) Integer.BYTES, 64);
  private final long[] toNode;
  private final long[] fromNode;
  private final DpdkPort[] ports;

  Lab(int rails, int buffers) {
    Eal.init(EalOptions.defaults());
    // As a poll thread does: pools then serve it from a cache of its own.
    Threads.register();
    String name = "jmh" + made++;
    pool = DpdkPool.create(name, STRIDE_BYTES, buffers, Hugepages.AUTO);
    frames = pool.memory();
    toNode = new long[rails];
    fromNode = new long[rails];
    ports = new DpdkPort[rails];
    for (int r = 0; r < rails; r++) {
      toNode[r] = Rings.create(name + "i" + r, RING_FRAMES, true, true);
      fromNode[r] = Rings.create(name + "o" + r, RING_FRAMES, true, true);
      ports[r] = DpdkPorts.ring(name + "p" + r, toNode[r], fromNode[r], pool, mac(0, r));
    }
  }

  static long mac(int node, int rail) {
    return 0x0200_0000_0000L | (long) node << 8 | rail;
  }

  static NodeConfig config(int node, int creditBuffers) {
    return new NodeConfig(
        KEY, node + 1, node + 1, 256, creditBuffers, 1, 128, 64, 16, 60_000_000_000L, 1_024, 0);
  }

  DpdkPort port(int rail) {
    return ports[rail];
  }

  /** Takes free buffers with a reference each; IDs come by {@link #id}. */
  int allocate(int count) {
    int n = Hxb.poolAlloc(pool.handle(), ids.address(), count);
    if (n != count) {
      throw new IllegalStateException("pool gave " + n + " of " + count + " buffers");
    }
    return n;
  }

  int id(int i) {
    return ids.getAtIndex(ValueLayout.JAVA_INT, i);
  }

  /** Passes {@code burst[0, n)} with its references to the node's rail. */
  void toNode(int rail, int n) {
    int put = Hxb.ringEnqueue(toNode[rail], pool.handle(), burst.address(), n);
    if (put != n) {
      throw new IllegalStateException("ring took " + put + " of " + n + " frames");
    }
  }

  /**
   * Takes what the node has sent on a rail into {@link #burst}; the references are the caller's.
   */
  int fromNode(int rail) {
    return Hxb.ringDequeue(fromNode[rail], pool.handle(), burst.address(), BURST);
  }

  /** Drops one reference of each frame in {@code burst[0, n)}. */
  void release(int n) {
    release(burst, n);
  }

  private void release(Burst of, int n) {
    for (int i = 0; i < n; i++) {
      ids.setAtIndex(ValueLayout.JAVA_INT, i, Burst.id(of.get(i)));
    }
    Hxb.poolRelease(pool.handle(), ids.address(), n);
  }

  /** Drops one reference of one frame. */
  void release(long descriptor) {
    ids.setAtIndex(ValueLayout.JAVA_INT, 0, Burst.id(descriptor));
    Hxb.poolRelease(pool.handle(), ids.address(), 1);
  }

  /** Takes back and returns what was passed to a rail that no node polls. */
  void echo(int rail) {
    release(leaving, Hxb.ringDequeue(toNode[rail], pool.handle(), leaving.address(), BURST));
  }

  /**
   * Takes and returns all that the node has sent on a rail; {@link #burst} stays as it is.
   *
   * @return data frames among it
   */
  int drain(int rail) {
    int data = 0;
    while (true) {
      int n = Hxb.ringDequeue(fromNode[rail], pool.handle(), leaving.address(), BURST);
      if (n <= 0) {
        return data;
      }
      for (int i = 0; i < n; i++) {
        long at = pool.frameAt(Burst.id(leaving.get(i)));
        data += FrameHeader.kind(frames, at) == FrameHeader.DATA ? 1 : 0;
      }
      release(leaving, n);
    }
  }

  /** After the node was closed. */
  @Override
  public void close() {
    for (int r = 0; r < ports.length; r++) {
      Rings.free(toNode[r]);
      Rings.free(fromNode[r]);
    }
    pool.close();
    Threads.unregister();
  }
}
