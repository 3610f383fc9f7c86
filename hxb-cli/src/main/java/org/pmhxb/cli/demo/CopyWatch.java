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
  private final MemorySegment region;
  private long copies;

  CopyWatch(int self, int buffers, MemorySegment region) {
    this.self = self;
    this.frameOfBuffer = new long[buffers + 1];
    this.region = region;
  }

  @Override
  public void onFrame(int rail, int bufferId, MemorySegment frames, long at, int lengthBytes) {
    if (lengthBytes >= FrameHeader.BYTES && FrameHeader.dst(frames, at) == self) {
      frameOfBuffer[bufferId] = frame(frames, at);
    }
  }

  void onMessage(Message message) {
    long at = message.offset() - FrameHeader.BYTES;
    int id = message.bufferId();
    boolean inPlace =
        message.memory() == region && frameOfBuffer[id] == frame(message.memory(), at);
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
