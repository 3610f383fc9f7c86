package org.pmhxb.jmh;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.pmhxb.pm.wire.FrameCrc;
import org.pmhxb.pm.wire.FrameHeader;

/**
 * A prebuilt frame of one peer. Writing it is a copy, the sequence number, and the CRC, which is
 * linear: the CRC of a changed frame is that of the frame, xor one table entry per changed byte.
 */
final class FrameTemplate {
  private final MemorySegment memory = Arena.global().allocate(256, 64);
  private final int frameBytes;
  private final int crcAtSeqZero;
  private final int[] crcOfSeqByte = new int[4 * 256];
  private int seq;

  /** From a frame that its sender has sealed: the next one continues its sequence. */
  FrameTemplate(MemorySegment sealed) {
    MemorySegment.copy(sealed, 0, memory, 0, sealed.byteSize());
    frameBytes = FrameHeader.BYTES + FrameHeader.length(memory, 0);
    seq = FrameHeader.seq(memory, 0) + 1;
    int ack = FrameHeader.ack(memory, 0);
    FrameCrc crc = new FrameCrc(memory);
    int length = frameBytes - FrameHeader.BYTES;
    FrameHeader.seqAck(memory, 0, 0, ack);
    crcAtSeqZero = crc.of(0, length);
    for (int place = 0; place < 4; place++) {
      for (int value = 0; value < 256; value++) {
        FrameHeader.seqAck(memory, 0, value << (place << 3), ack);
        crcOfSeqByte[place << 8 | value] = crc.of(0, length) ^ crcAtSeqZero;
      }
    }
  }

  int frameBytes() {
    return frameBytes;
  }

  /** Without credit and with this acknowledgement: what it carries beside its data is no news. */
  static MemorySegment plain(MemorySegment sealed, int ack) {
    MemorySegment frame = Arena.global().allocate(sealed.byteSize(), 64).copyFrom(sealed);
    FrameHeader.flagsDst(frame, 0, 0, FrameHeader.dst(frame, 0));
    FrameHeader.seqAck(frame, 0, FrameHeader.seq(frame, 0), ack);
    FrameHeader.crc(frame, 0, new FrameCrc(frame).of(0, FrameHeader.length(frame, 0)));
    return frame;
  }

  /** Writes the next frame of the sequence. */
  void write(MemorySegment frames, long at) {
    int s = seq++;
    MemorySegment.copy(memory, 0, frames, at, frameBytes);
    FrameHeader.seqAck(frames, at, s, FrameHeader.ack(memory, 0));
    int crc =
        crcAtSeqZero
            ^ crcOfSeqByte[s & 0xFF]
            ^ crcOfSeqByte[1 << 8 | s >>> 8 & 0xFF]
            ^ crcOfSeqByte[2 << 8 | s >>> 16 & 0xFF]
            ^ crcOfSeqByte[3 << 8 | s >>> 24];
    FrameHeader.crc(frames, at, crc);
  }
}
