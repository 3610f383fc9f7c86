package org.pmhxb.router.node;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.pmhxb.pm.Message;
import org.pmhxb.pm.PmEndpoint;
import org.pmhxb.pm.SendBuffer;

/**
 * Messages numbered from 0, whose length and every byte follow from the number; verified on
 * arrival. Owner: the thread of the endpoint.
 */
final class NumberedTraffic {
  private static final int BYTES_MAX = 4096;

  private final PmEndpoint endpoint;
  private final int peer;
  private long sent;
  private long received;
  private boolean anyNumber = true;
  private String wrong;

  NumberedTraffic(PmEndpoint endpoint, int peer) {
    this.endpoint = endpoint;
    this.peer = peer;
  }

  private static int lengthBytes(long number) {
    return Long.BYTES + (int) (number * 1_103 % (BYTES_MAX - Long.BYTES));
  }

  private static byte at(long number, int index) {
    return (byte) (number * 31 + index);
  }

  /** Sends as many messages as there is credit for, at most {@code limit}. */
  int send(int limit) {
    int n = 0;
    for (; n < limit; n++) {
      int length = lengthBytes(sent);
      SendBuffer buffer = endpoint.claim(peer, length);
      if (buffer == null) {
        break;
      }
      MemorySegment memory = buffer.memory();
      memory.set(ValueLayout.JAVA_LONG_UNALIGNED, buffer.offset(), sent);
      for (int i = Long.BYTES; i < length; i++) {
        memory.set(ValueLayout.JAVA_BYTE, buffer.offset() + i, at(sent, i));
      }
      endpoint.send(buffer);
      sent++;
    }
    return n;
  }

  int receive() {
    return endpoint.poll(this::verify, 64);
  }

  private void verify(Message m) {
    long number = m.memory().get(ValueLayout.JAVA_LONG_UNALIGNED, m.offset());
    if (number != received && !anyNumber) {
      wrong = "message " + number + " came where " + received + " was due";
    }
    anyNumber = false;
    received = number + 1;
    if (m.lengthBytes() != lengthBytes(number)) {
      wrong = "message " + number + " has " + m.lengthBytes() + " B";
      return;
    }
    for (int i = Long.BYTES; i < m.lengthBytes(); i++) {
      if (m.memory().get(ValueLayout.JAVA_BYTE, m.offset() + i) != at(number, i)) {
        wrong = "message " + number + " differs in byte " + i;
      }
    }
  }

  /** A session has ended: the next message may have any number. */
  void newSession() {
    anyNumber = true;
  }

  /** Whether a message of the session has arrived. */
  boolean begun() {
    return !anyNumber;
  }

  /** The number due next, of the peer's messages. */
  long received() {
    return received;
  }

  /** What is wrong with a message that arrived, or null. */
  String wrong() {
    return wrong;
  }
}
