package org.pmhxb.sim.net;

import java.lang.foreign.MemorySegment;
import org.pmhxb.pm.wire.FrameHeader;

/** A frame between two ports: the wire's own copy. */
final class WireFrame implements Comparable<WireFrame> {
  byte[] bytes;
  int length;

  /** When it is in the receiving port's ring, and its place among those of the same instant. */
  long arrivalNs;

  long order;

  WireFrame(byte[] bytes, int length) {
    this.bytes = bytes;
    this.length = length;
  }

  WireFrame copy() {
    return new WireFrame(bytes.clone(), length);
  }

  long dstMac() {
    return mac(0);
  }

  private long mac(int from) {
    long mac = 0;
    for (int i = from; i < from + 6; i++) {
      mac = mac << 8 | bytes[i] & 0xFF;
    }
    return mac;
  }

  /** For logs: kind, ends, sequence, acknowledgement, path and copy. */
  String describe() {
    MemorySegment frame = MemorySegment.ofArray(bytes);
    if (length < FrameHeader.BYTES) {
      return "short " + length;
    }
    return "kind=%d %d>%d seq=%x ack=%x path=%x copy=%d session=%x length=%d"
        .formatted(
            FrameHeader.kind(frame, 0),
            FrameHeader.src(frame, 0),
            FrameHeader.dst(frame, 0),
            FrameHeader.seq(frame, 0),
            FrameHeader.ack(frame, 0),
            FrameHeader.path(frame, 0),
            FrameHeader.copy(frame, 0),
            FrameHeader.session(frame, 0),
            length);
  }

  @Override
  public int compareTo(WireFrame o) {
    return arrivalNs != o.arrivalNs
        ? Long.compare(arrivalNs, o.arrivalNs)
        : Long.compare(order, o.order);
  }
}
