package org.pmhxb.pm;

import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.bufpool.DpdkPool;
import org.pmhxb.bufpool.Memory;
import org.pmhxb.ffi.Hxb;
import org.pmhxb.pm.port.Burst;
import org.pmhxb.pm.wire.FrameHeader;
import org.pmhxb.pm.wire.FrameTag;

/**
 * Writes what a new frame says of its contents: the CRC, and the tag where there is a key. Owner:
 * the poll thread.
 *
 * <p>Short frames some time after their headers, many at a time: a CRC is a chain of instructions
 * that wait for each other, and a load that spans two fresh stores waits until both are in the
 * cache. So C computes four side by side. Long ones at once, while their payload is in the cache.
 */
final class Sealer {
  /**
   * Longest payload that is short; so a native call over a rail's queue takes some 10 us at most.
   */
  static final int SHORT_BYTES = 448;

  /** Frames of several rails that one native call seals at most. */
  private static final int TOGETHER = 32;

  /** So many of one rail are worth a call of their own. */
  private static final int ALONE = TOGETHER / 2;

  private final NodeCore core;
  private final BufferPool pool;
  private final FrameTag tag;
  private final int tagBytes;

  /** The shim's pool, or 0. */
  private final long handle;

  /** What {@link #gather} was given. */
  private final Burst gathered = new Burst(TOGETHER);

  private int gatheredCount;

  Sealer(NodeCore core) {
    this.core = core;
    this.pool = core.pool;
    this.tag = core.tag;
    this.tagBytes = core.tagBytes;
    this.handle = pool instanceof DpdkPool dpdk ? dpdk.handle() : 0;
  }

  /**
   * What {@link org.pmhxb.pm.port.QueueBursts#sendSealed} is to seal frames by; 0: it cannot, for
   * there is a key, or the pool is not the shim's.
   */
  long inBurst() {
    return handle == 0 || tag != null ? 0 : FrameHeader.CRC_FROM | (long) FrameHeader.CRC << 16;
  }

  /**
   * Nothing is gathered: what was, when something was thrown before {@link #finish}, comes again.
   */
  void begin() {
    gatheredCount = 0;
  }

  /**
   * {@link #seal(Burst, int, int)}, at {@link #finish} at the latest. With many rails each has a
   * few frames in a round: not four to be computed side by side, and a native call for each rail.
   * Until then the frames stay where they are.
   */
  void gather(Burst burst, int from, int count) {
    if (count >= ALONE || core.rails.length == 1) {
      seal(burst, from, count);
      return;
    }
    if (gatheredCount + count > TOGETHER) {
      finish();
    }
    // Whether a frame is sealed already is asked where it would be sealed.
    int n = gatheredCount;
    for (int i = 0; i < count; i++) {
      gathered.set(n + i, burst.get(from + i));
    }
    gatheredCount = n + count;
  }

  /** All that was gathered is sealed then. */
  void finish() {
    int n = gatheredCount;
    if (n > 0) {
      gatheredCount = 0;
      seal(gathered, 0, n);
    }
  }

  /** Those of {@code burst[from, from + count)} that are not sealed yet. */
  void seal(Burst burst, int from, int count) {
    if (handle != 0 && tag == null) {
      long words = burst.address() + (long) from * Long.BYTES;
      int n = Hxb.seal(handle, words, count, FrameHeader.CRC_FROM, tagBytes, FrameHeader.CRC);
      assert n == count : n;
      return;
    }
    for (int i = from; i < from + count; i++) {
      long d = burst.get(i);
      if ((d & Burst.SEAL) != 0) {
        seal(Burst.id(d), Burst.lengthBytes(d) - tagBytes - FrameHeader.BYTES);
      }
    }
  }

  /** One frame. */
  void seal(int id, int payloadBytes) {
    long at = pool.frameAt(id);
    FrameHeader.crc(core.frames, at, core.crc.of(at, payloadBytes));
    if (tag != null) {
      long address = pool.addressOf(id);
      tag.seal(Memory.ALL, address, payloadBytes, core.replay ? wraps(address) : 0);
    }
  }

  /** A data frame's stamp is what its number lacks: so a resend is the same to its last byte. */
  private long wraps(long address) {
    Peer peer = core.peers[FrameHeader.dst(Memory.ALL, address)];
    return peer.wrapsOfSent(FrameHeader.seq(Memory.ALL, address));
  }
}
