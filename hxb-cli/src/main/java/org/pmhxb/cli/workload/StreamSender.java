package org.pmhxb.cli.workload;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.BooleanSupplier;

/** Sends one stream: numbered messages to one node, then their end. Owner: the sending thread. */
final class StreamSender {
  private final MessageLink link;
  private final int dst;
  private final int sizeBytes;
  private long seq;
  private long lastTicket;
  private boolean ended;
  private boolean down;

  /** Where a message is made that no frame takes; null when messages fit. */
  private final MemorySegment large;

  StreamSender(MessageLink link, int dst, int sizeBytes) {
    this.link = link;
    this.dst = dst;
    this.sizeBytes = sizeBytes;
    this.large =
        sizeBytes > link.maxMessageBytes() ? Arena.ofAuto().allocate(sizeBytes, Long.BYTES) : null;
  }

  /**
   * Sends up to {@code limit} messages while there is credit; returns how many.
   *
   * @param meanwhile called while a large message waits for credit; false gives up
   */
  int send(int limit, long nowNs, BooleanSupplier meanwhile) {
    if (large != null) {
      return sendLarge(nowNs, meanwhile);
    }
    int count = 0;
    while (count < limit && !down && link.claim(dst, sizeBytes)) {
      PayloadPattern.write(
          link.memory(),
          link.offset(),
          sizeBytes,
          PayloadPattern.DATA,
          link.self(),
          dst,
          seq,
          nowNs);
      lastTicket = link.send();
      seq++;
      count++;
    }
    return count;
  }

  private int sendLarge(long nowNs, BooleanSupplier meanwhile) {
    if (down) {
      return 0;
    }
    PayloadPattern.write(large, 0, sizeBytes, PayloadPattern.DATA, link.self(), dst, seq, nowNs);
    long ticket = link.sendLarge(dst, large, sizeBytes, meanwhile);
    if (ticket == 0) {
      down = true;
      return 0;
    }
    lastTicket = ticket;
    seq++;
    return 1;
  }

  /** Announces how many there were; true once that is sent, or nobody is there to hear it. */
  boolean end(long nowNs) {
    if (!ended && !down && link.claim(dst, PayloadPattern.HEADER_BYTES)) {
      PayloadPattern.write(
          link.memory(),
          link.offset(),
          PayloadPattern.HEADER_BYTES,
          PayloadPattern.END,
          link.self(),
          dst,
          seq,
          nowNs);
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
