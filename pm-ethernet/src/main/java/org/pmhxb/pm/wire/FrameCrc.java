package org.pmhxb.pm.wire;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * The end-to-end CRC32C of frames in one region: bytes 28 to 64 + length (PROTOCOL.md section 2.2).
 *
 * <p>Owner: one thread (the poll thread; each endpoint has its own). No allocation per frame: one
 * buffer view is re-bound, and the JDK's intrinsic runs over the region's memory.
 */
public final class FrameCrc {
  private final CRC32C crc = new CRC32C();
  private final ByteBuffer view;

  /**
   * @param region the pool's memory, at most 2 GiB - 1 (a ByteBuffer's reach)
   */
  public FrameCrc(MemorySegment region) {
    if (region.byteSize() > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          "region of " + region.byteSize() + " bytes is above the limit of 2147483647 bytes");
    }
    this.view = region.asByteBuffer();
  }

  /** CRC of the frame at {@code at} with {@code lengthBytes} payload bytes. */
  public int of(long at, int lengthBytes) {
    int from = (int) at + FrameHeader.CRC_FROM;
    view.limit((int) at + FrameHeader.BYTES + lengthBytes).position(from);
    crc.reset();
    crc.update(view);
    return (int) crc.getValue();
  }
}
