package org.pmhxb.cli.demo;

import java.lang.foreign.MemorySegment;
import org.pmhxb.pm.FrameTap;
import org.pmhxb.pm.Message;
import org.pmhxb.pm.wire.FrameHeader;

/**
 * Proves for one node that nothing is copied between receive burst and callback: it notes which
 * buffer the burst filled with which frame, and the callback must look at that frame in that
 * buffer. Owner: the poll thread, which is also the program's (inline).
 */
final class CopyWatch implements FrameTap {
  private final int self;
  private final long[] frameOfBuffer;
  private final long[] beginOfBuffer;
  private final int[] bytesOfBuffer;
  private final MemorySegment region;
  private long copies;

  CopyWatch(int self, int buffers, MemorySegment region) {
    this.self = self;
    this.frameOfBuffer = new long[buffers + 1];
    this.beginOfBuffer = new long[buffers + 1];
    this.bytesOfBuffer = new int[buffers + 1];
    this.region = region;
  }

  @Override
  public void onFrame(int rail, int bufferId, MemorySegment frames, long at, int lengthBytes) {
    if (lengthBytes >= FrameHeader.BYTES && FrameHeader.dst(frames, at) == self) {
      frameOfBuffer[bufferId] = frame(frames, at);
      beginOfBuffer[bufferId] = at;
      bytesOfBuffer[bufferId] = lengthBytes;
    }
  }

  /** Several small messages may lie in one frame. */
  void onMessage(Message message) {
    int id = message.bufferId();
    long begin = beginOfBuffer[id];
    long end = begin + bytesOfBuffer[id];
    boolean inPlace =
        message.memory() == region
            && message.offset() >= begin + FrameHeader.BYTES
            && message.offset() + message.lengthBytes() <= end
            && frameOfBuffer[id] == frame(region, begin);
    if (!inPlace) {
      copies++;
    }
  }

  private static long frame(MemorySegment frames, long at) {
    return (long) FrameHeader.src(frames, at) << 32 | FrameHeader.seq(frames, at) & 0xFFFF_FFFFL;
  }

  /** Messages that the callback saw elsewhere than where the burst put them. */
  long copies() {
    return copies;
  }
}
