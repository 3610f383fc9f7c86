package org.pmhxb.cost;

import java.lang.foreign.MemorySegment;
import org.pmhxb.pm.port.Burst;
import org.pmhxb.pm.wire.FrameHeader;

/** Acknowledges what the node under test sent to one peer, with credit for as much again. */
final class AckTemplate {
  /** Fixed part and one credit entry (PROTOCOL.md section 3). */
  private static final int PAYLOAD_BYTES = 16 + 8;

  private final Lab lab;
  private final int peer;
  private final int session;
  private final int endpoint;
  private final int limit;
  private int ack = FarPeers.FIRST_SEQ;

  /** Frames that came since the last acknowledgement. */
  int unanswered;

  /**
   * @param limit credit beyond what is acknowledged
   */
  AckTemplate(Lab lab, int peer, int session, int endpoint, int limit) {
    this.lab = lab;
    this.peer = peer;
    this.session = session;
    this.endpoint = endpoint;
    this.limit = limit;
  }

  /** Writes an acknowledgement of all that came into a buffer; returns its descriptor. */
  long write(int id) {
    ack += unanswered;
    unanswered = 0;
    long at = lab.pool.frameAt(id);
    MemorySegment frames = lab.frames;
    FarPeers.header(lab, at, FrameHeader.ACK_KIND, peer, session, 0, PAYLOAD_BYTES);
    FrameHeader.seqAck(frames, at, 0, ack);
    FrameHeader.payloadInt(frames, at, 0, ack);
    FrameHeader.payloadInt(frames, at, 4, 0);
    FrameHeader.payloadInt(frames, at, 8, 0);
    FrameHeader.payloadInt(frames, at, 12, 1);
    FrameHeader.payloadInt(frames, at, 16, endpoint << 16 | endpoint);
    FrameHeader.payloadInt(frames, at, 20, ack + limit);
    FrameHeader.crc(frames, at, lab.crc.of(at, PAYLOAD_BYTES));
    return Burst.descriptor(id, FrameHeader.BYTES + PAYLOAD_BYTES);
  }
}
