package org.pmhxb.cli.workload;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Sends one stream: numbered messages to one node, then their end. Owner: the sending thread. */
final class StreamSender {
  private final MessageLink link;
  private final int dst;
  private final int sizeBytes;
  private final PayloadPattern pattern;
  private long seq;
  private long lastTicket;
  private boolean ended;
  private boolean down;

  /** Where a message is made that no frame takes; null when messages fit. */
  private final MemorySegment large;

  private long madeSeq = -1;

  /** What of it has been sent. */
  private int largeSentBytes;

  StreamSender(MessageLink link, int dst, int sizeBytes) {
    this.link = link;
    this.dst = dst;
    this.sizeBytes = sizeBytes;
    this.pattern = new PayloadPattern(link.self(), dst);
    this.large =
        sizeBytes > link.maxMessageBytes() ? Arena.ofAuto().allocate(sizeBytes, Long.BYTES) : null;
  }

  /**
   * Sends up to {@code limit} messages, or parts of one, while there is credit; returns how many.
   */
  int send(int limit, long nowNs) {
    if (large != null) {
      return sendParts(limit, nowNs);
    }
    int count = 0;
    while (count < limit && !down && link.claim(dst, sizeBytes)) {
      pattern.write(claimed(sizeBytes), sizeBytes, PayloadPattern.DATA, seq, nowNs);
      lastTicket = link.send();
      seq++;
      count++;
    }
    return count;
  }

  private long claimed(int lengthBytes) {
    return PayloadPattern.addressOf(link.memory(), link.offset(), lengthBytes);
  }

  private int sendParts(int limit, long nowNs) {
    int count = 0;
    while (count < limit && !down) {
      if (largeSentBytes == 0 && madeSeq != seq) {
        madeSeq = seq;
        long address = PayloadPattern.addressOf(large, 0, sizeBytes);
        pattern.write(address, sizeBytes, PayloadPattern.DATA, seq, nowNs);
      }
      int part = link.claimFragment(dst, sizeBytes, largeSentBytes);
      if (part == 0) {
        break;
      }
      MemorySegment.copy(large, largeSentBytes, link.memory(), link.offset(), part);
      lastTicket = link.send();
      largeSentBytes += part;
      count++;
      if (largeSentBytes == sizeBytes) {
        largeSentBytes = 0;
        seq++;
      }
    }
    return count;
  }

  /** Announces how many there were; true once that is sent, or nobody is there to hear it. */
  boolean end(long nowNs) {
    while (largeSentBytes > 0 && sendParts(1, nowNs) > 0) {
      // The message that was begun comes first.
    }
    if (largeSentBytes == 0 && !ended && !down && link.claim(dst, PayloadPattern.HEADER_BYTES)) {
      int bytes = PayloadPattern.HEADER_BYTES;
      pattern.write(claimed(bytes), bytes, PayloadPattern.END, seq, nowNs);
      lastTicket = link.send();
      ended = true;
    }
    return ended || down;
  }

  /** Whether the peer's node has stored everything, or is gone. */
  boolean settled() {
    return down || ended && unacknowledged() == 0;
  }

  /** The session ended; what follows would belong to another. */
  void peerDown() {
    down = true;
  }

  int destination() {
    return dst;
  }

  long messages() {
    return seq;
  }

  long unacknowledged() {
    return lastTicket - link.acknowledged(dst);
  }
}
