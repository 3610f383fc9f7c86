package org.pmhxb.cost;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import org.pmhxb.pm.wire.FrameCrc;
import org.pmhxb.pm.wire.FrameHeader;

/**
 * A prebuilt data frame of one peer. Writing it is a copy, the sequence number, and the CRC, which
 * is linear: the CRC of a changed frame is that of the frame, xor one table entry per changed byte.
 */
final class FrameTemplate {
  private final MemorySegment memory;
  private final SeqCrc change;
  private final int frameBytes;
  private final int crcAtSeqZero;
  private int seq = FarPeers.FIRST_SEQ;

  /** What a sequence number changes of the CRC; the same for all frames of one length. */
  static final class SeqCrc {
    private final int[] ofByte = new int[4 * 256];

    SeqCrc(int payloadBytes) {
      MemorySegment frame = Arena.ofAuto().allocate(FrameHeader.BYTES + (long) payloadBytes, 64);
      FrameCrc crc = new FrameCrc(frame);
      int none = crc.of(0, payloadBytes);
      for (int place = 0; place < 4; place++) {
        for (int value = 0; value < 256; value++) {
          FrameHeader.seqAck(frame, 0, value << (place << 3), 0);
          ofByte[place << 8 | value] = crc.of(0, payloadBytes) ^ none;
        }
      }
    }

    int of(int seq) {
      return ofByte[seq & 0xFF]
          ^ ofByte[1 << 8 | seq >>> 8 & 0xFF]
          ^ ofByte[2 << 8 | seq >>> 16 & 0xFF]
          ^ ofByte[3 << 8 | seq >>> 24];
    }
  }

  /** A peer's frames from its first sequence number on, without news beside their data. */
  FrameTemplate(Lab lab, int peer, int session, int endpoint, int payloadBytes, SeqCrc change) {
    this.change = change;
    frameBytes = FrameHeader.BYTES + payloadBytes;
    memory = Arena.ofAuto().allocate(frameBytes, 64);
    lab.allocate(1);
    int id = lab.id(0);
    long at = lab.pool.frameAt(id);
    FarPeers.header(lab, at, FrameHeader.DATA, peer, session, 0, payloadBytes);
    FrameHeader.endpointsLengthBeyond(lab.frames, at, endpoint, endpoint, payloadBytes, 0);
    SplittableRandom random = new SplittableRandom(peer);
    for (int i = 0; i + Long.BYTES <= payloadBytes; i += Long.BYTES) {
      FrameHeader.payloadLong(lab.frames, at, i, random.nextLong());
    }
    MemorySegment.copy(lab.frames, at, memory, 0, frameBytes);
    crcAtSeqZero = lab.crc.of(at, payloadBytes);
    lab.releaseBuffer(id);
  }

  int frameBytes() {
    return frameBytes;
  }

  /** Writes the next frame of the sequence. */
  void write(MemorySegment frames, long at) {
    int s = seq++;
    MemorySegment.copy(memory, 0, frames, at, frameBytes);
    FrameHeader.seqAck(frames, at, s, FarPeers.FIRST_SEQ);
    FrameHeader.crc(frames, at, crcAtSeqZero ^ change.of(s));
  }
}
