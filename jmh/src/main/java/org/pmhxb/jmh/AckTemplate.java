package org.pmhxb.jmh;

import java.lang.foreign.MemorySegment;
import org.pmhxb.pm.port.Burst;
import org.pmhxb.pm.wire.FrameCrc;
import org.pmhxb.pm.wire.FrameHeader;

/** Acknowledges what the node under test sent to one peer, with credit for as much again. */
final class AckTemplate {
  /** Cumulative part and one credit entry (PROTOCOL.md section 5.4). */
  private static final int PAYLOAD_BYTES = 16 + 8;

  private static final int CREDIT_FRAMES = 128;

  private final Lab lab;
  private final FrameCrc crc;
  private final MemorySegment sealed;
  private final int endpoints;
  private int ack;

  /** Frames that came since the last acknowledgement. */
  int unanswered;

  /** From a data frame of that peer: session, key, addresses. */
  AckTemplate(Lab lab, MemorySegment data, int endpoint) {
    this.lab = lab;
    this.crc = new FrameCrc(lab.frames);
    this.sealed = data;
    this.endpoints = endpoint << 16 | endpoint;
    this.ack = 1;
  }

  /** Writes an acknowledgement into a buffer of its own; returns its descriptor. */
  long write() {
    ack += unanswered;
    unanswered = 0;
    lab.allocate(1);
    int id = lab.id(0);
    long at = lab.pool.frameAt(id);
    MemorySegment frames = lab.frames;
    MemorySegment.copy(sealed, 0, frames, at, FrameHeader.BYTES);
    FrameHeader.kindSrc(frames, at, FrameHeader.ACK_KIND, FrameHeader.src(sealed, 0));
    FrameHeader.flagsDst(frames, at, 0, FrameHeader.dst(sealed, 0));
    FrameHeader.seqAck(frames, at, 0, ack);
    FrameHeader.endpointsLengthEcho(frames, at, 0, 0, PAYLOAD_BYTES, 0);
    FrameHeader.payloadInt(frames, at, 0, ack);
    FrameHeader.payloadInt(frames, at, 4, 0);
    FrameHeader.payloadInt(frames, at, 8, 0);
    FrameHeader.payloadInt(frames, at, 12, 1);
    FrameHeader.payloadInt(frames, at, 16, endpoints);
    FrameHeader.payloadInt(frames, at, 20, ack + CREDIT_FRAMES);
    FrameHeader.crc(frames, at, crc.of(at, PAYLOAD_BYTES));
    return Burst.descriptor(id, FrameHeader.BYTES + PAYLOAD_BYTES);
  }
}
