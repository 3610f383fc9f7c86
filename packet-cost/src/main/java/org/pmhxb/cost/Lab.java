package org.pmhxb.cost;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.stream.IntStream;
import org.pmhxb.bufpool.BufferPool;
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
import org.pmhxb.pm.wire.FrameCrc;
import org.pmhxb.pm.wire.FrameHeader;

/**
 * The surroundings of a node under test: its pool, and rails whose far ends are bare rings in the
 * hands of the benchmark. Frames on the rings are the benchmark's alone; it takes and returns them
 * below {@code BufferPool}, as a driver does. Owner: the benchmark's thread.
 */
final class Lab implements AutoCloseable {
  static final int KEY = 0x68_78_62_31;
  static final int WINDOW_FRAMES = 256;

  /** Frames that move between the benchmark and a ring at a time. */
  static final int BURST = 64;

  private static final int RING_FRAMES = 1_024;

  /**
   * A path's first window is two of the longest frames (PROTOCOL.md section 5.3): so long that a
   * burst, and what waits for its acknowledgement, fit from the first batch on.
   */
  private static final int LEAST_PAYLOAD_BYTES = 10_000;

  private static int made;

  final DpdkPool pool;
  final MemorySegment frames;
  final FrameCrc crc;

  /** Descriptors on their way to and from the rings. */
  final Burst burst = new Burst(BURST);

  /** Descriptors of frames that are only returned. */
  private final Burst leaving = new Burst(BURST);

  private final MemorySegment ids = Arena.global().allocate(BURST * (long) Integer.BYTES, 64);
  private final long[] toNode;
  private final long[] fromNode;
  private final DpdkPort[] ports;

  /** What left the node since the last look: see {@link #emitted()}. */
  private long emitted;

  Lab(int rails, int buffers) {
    Eal.init(EalOptions.defaults());
    // As a poll thread does: pools then serve it from a cache of its own.
    Threads.register();
    String name = "cost" + made++;
    pool = DpdkPool.create(name, BufferPool.JUMBO_STRIDE_BYTES, buffers, Hugepages.AUTO);
    frames = pool.memory();
    crc = new FrameCrc(frames);
    toNode = new long[rails];
    fromNode = new long[rails];
    ports = new DpdkPort[rails];
    for (int r = 0; r < rails; r++) {
      toNode[r] = Rings.create(name + "i" + r, RING_FRAMES, true, true);
      fromNode[r] = Rings.create(name + "o" + r, RING_FRAMES, true, true);
      ports[r] = DpdkPorts.ring(name + "p" + r, toNode[r], fromNode[r], pool, mac(0, r));
    }
  }

  /** Of so many nodes' ends of one rail. */
  static long[] macs(int nodes, int rail) {
    return IntStream.range(0, nodes).mapToLong(n -> mac(n, rail)).toArray();
  }

  static long mac(int node, int rail) {
    return 0x0200_0000_0000L | (long) node << 8 | rail;
  }

  /**
   * Protocol parameters of the node under test.
   *
   * @param nodes of the shape
   * @param grantFrames credit for each peer: it acknowledges after a quarter of that
   */
  static NodeConfig config(int nodes, int grantFrames, int payloadBytes) {
    // The ledger divides among all nodes and keeps an eighth back.
    int creditBuffers = (grantFrames * nodes * 8 + 6) / 7;
    return new NodeConfig(
        KEY,
        1,
        1,
        WINDOW_FRAMES,
        creditBuffers,
        1,
        grantFrames,
        64,
        16,
        60_000_000_000L,
        maxPayloadBytes(payloadBytes),
        0);
  }

  /** Of a frame, where the scenario's have so many. */
  static int maxPayloadBytes(int payloadBytes) {
    return Math.max(LEAST_PAYLOAD_BYTES, payloadBytes);
  }

  /** Credit for each of so many peers: the whole window of one, a share of the pool of many. */
  static int grantFrames(int peers) {
    return peers == 1 ? WINDOW_FRAMES : peers <= 100 ? 64 : 16;
  }

  int rails() {
    return ports.length;
  }

  DpdkPort port(int rail) {
    return ports[rail];
  }

  // --- buffers ------------------------------------------------------------------------------

  /** Takes free buffers with a reference each; IDs come by {@link #id}. */
  void allocate(int count) {
    int n = Hxb.poolAlloc(pool.handle(), ids.address(), count);
    if (n != count) {
      throw new IllegalStateException("pool gave " + n + " of " + count + " buffers");
    }
  }

  int id(int i) {
    return ids.getAtIndex(ValueLayout.JAVA_INT, i);
  }

  private void release(Burst of, int n) {
    for (int i = 0; i < n; i++) {
      ids.setAtIndex(ValueLayout.JAVA_INT, i, Burst.id(of.get(i)));
    }
    Hxb.poolRelease(pool.handle(), ids.address(), n);
  }

  /** Drops one reference of one frame. */
  void release(long descriptor) {
    releaseBuffer(Burst.id(descriptor));
  }

  void releaseBuffer(int id) {
    ids.setAtIndex(ValueLayout.JAVA_INT, 0, id);
    Hxb.poolRelease(pool.handle(), ids.address(), 1);
  }

  // --- frames -------------------------------------------------------------------------------

  /** Passes {@code burst[0, n)} with its references to the node, frame i on rail i mod rails. */
  void toNode(int n) {
    if (ports.length == 1) {
      toNode(0, n);
    } else {
      spread(n, ports.length);
    }
  }

  /** The same over the first rails. */
  void spread(int n, int rails) {
    for (int r = 0; r < rails && r < n; r++) {
      int count = 0;
      for (int i = r; i < n; i += rails) {
        leaving.set(count++, burst.get(i));
      }
      put(r, leaving, count);
    }
  }

  /** Passes {@code burst[0, n)} to one rail. */
  void toNode(int rail, int n) {
    put(rail, burst, n);
  }

  private void put(int rail, Burst from, int n) {
    int put = Hxb.ringEnqueue(toNode[rail], pool.handle(), from.address(), n);
    if (put != n) {
      throw new IllegalStateException("ring took " + put + " of " + n + " frames");
    }
  }

  /** Takes what the node has sent on a rail into {@link #burst}; the references are ours. */
  int fromNode(int rail) {
    return Math.max(0, Hxb.ringDequeue(fromNode[rail], pool.handle(), burst.address(), BURST));
  }

  /** Takes back and returns what was passed to rails that no node polls. */
  void echo() {
    for (int r = 0; r < ports.length; r++) {
      int n = Hxb.ringDequeue(toNode[r], pool.handle(), leaving.address(), BURST);
      release(leaving, Math.max(0, n));
    }
  }

  /** Takes back, without returning it to the pool, what was passed to the first rails. */
  void takeBack(int rails) {
    for (int r = 0; r < rails; r++) {
      Hxb.ringDequeue(toNode[r], pool.handle(), leaving.address(), BURST);
    }
  }

  /**
   * Takes, judges and returns all that the node has sent; {@link #burst} stays as it is.
   *
   * @return data frames among it
   */
  int drain() {
    int data = 0;
    for (int r = 0; r < ports.length; r++) {
      int n = Hxb.ringDequeue(fromNode[r], pool.handle(), leaving.address(), BURST);
      while (n > 0) {
        for (int i = 0; i < n; i++) {
          long at = pool.frameAt(Burst.id(leaving.get(i)));
          data += FrameHeader.kind(frames, at) == FrameHeader.DATA ? 1 : 0;
          note(at);
        }
        release(leaving, n);
        n = Hxb.ringDequeue(fromNode[r], pool.handle(), leaving.address(), BURST);
      }
    }
    return data;
  }

  // --- judgement ----------------------------------------------------------------------------

  /**
   * Adds an emitted frame to the digest: what is immutable end to end. Of a data frame that is the
   * header and the word that the program wrote: the rest of its payload is what lay there before.
   */
  private void note(long at) {
    switch (FrameHeader.kind(frames, at)) {
      case FrameHeader.DISCOVER -> {
        // When a relay announces itself is not what is compared.
      }
      case FrameHeader.DATA -> {
        checked(at);
        long digest = FrameHeader.payloadLong(frames, at, 0);
        for (int i = FrameHeader.KIND_SRC; i < FrameHeader.BYTES; i += Integer.BYTES) {
          digest = mix(digest + FrameHeader.payloadInt(frames, at, i - FrameHeader.BYTES));
        }
        emitted += digest;
      }
      default -> emitted += mix(checked(at));
    }
  }

  /** The same with addresses and hop part: for a relay, whose work they are. */
  void noteWhole(long at) {
    long front =
        FrameHeader.dstMac(frames, at) ^ Long.rotateLeft(FrameHeader.srcMac(frames, at), 7);
    emitted += mix(mix(front ^ FrameHeader.pathWord(frames, at)) + checked(at));
  }

  private int checked(long at) {
    int field = FrameHeader.crc(frames, at);
    if (field != crc.of(at, FrameHeader.length(frames, at))) {
      throw new IllegalStateException("the node under test emitted a frame with a wrong CRC");
    }
    return field;
  }

  /** SplittableRandom's mixing (Steele et al. 2014). */
  private static long mix(long value) {
    long z = value;
    z = (z ^ z >>> 30) * 0xBF58_476D_1CE4_E5B9L;
    z = (z ^ z >>> 27) * 0x94D0_49BB_1331_11EBL;
    return z ^ z >>> 31;
  }

  /** Digest of the frames that left the node since the last call, whatever their order. */
  long emitted() {
    long digest = emitted;
    emitted = 0;
    return digest;
  }

  /** After the node was closed. */
  @Override
  public void close() {
    drain();
    for (int r = 0; r < ports.length; r++) {
      ports[r].close();
      Rings.free(toNode[r]);
      Rings.free(fromNode[r]);
    }
    pool.close();
    Threads.unregister();
  }
}
