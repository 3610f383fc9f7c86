package org.pmhxb.cost;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.zip.CRC32C;
import org.pmhxb.pm.Counter;
import org.pmhxb.pm.DropReason;
import org.pmhxb.pm.Message;
import org.pmhxb.pm.MessageHandler;
import org.pmhxb.pm.PmEndpoint;
import org.pmhxb.pm.PmNode;
import org.pmhxb.pm.SendBuffer;

/** The production node, as a program uses it inline. */
final class JavaNode implements Subject {
  private static final DropReason[] REASONS = DropReason.values();

  private static final int CYCLE_FRAMES = 32;
  private static final int POLL_LIMIT = 64;

  private final PmNode node;
  private final PmEndpoint endpoint;
  private final int payloadBytes;
  private final Digest digest = new Digest();
  private final Map<String, Long> before;

  /** A program that looks at each message, and on request at its contents. */
  private static final class Digest implements MessageHandler {
    long value;
    boolean contents;
    private final CRC32C crc = new CRC32C();

    @Override
    public void onMessage(Message message) {
      value = Long.rotateLeft(value, 5) + ((long) message.source() << 16 | message.lengthBytes());
      if (contents) {
        crc.reset();
        crc.update(
            message.memory().asSlice(message.offset(), message.lengthBytes()).asByteBuffer());
        value ^= crc.getValue();
      }
    }
  }

  /**
   * @param endpoint the one that is open; null for a relay
   */
  JavaNode(PmNode node, PmEndpoint endpoint, int payloadBytes) {
    this.node = node;
    this.endpoint = endpoint;
    this.payloadBytes = payloadBytes;
    this.before = all();
  }

  @Override
  public int receive(long nowNs, int messages) {
    int got = 0;
    for (int cycles = 0; got < messages && cycles < messages; cycles++) {
      node.doWork(nowNs);
      got += endpoint.poll(digest, POLL_LIMIT);
    }
    return got;
  }

  @Override
  public int send(long nowNs, Turns order, int from, int messages, long first) {
    // As arguments are in C: not read anew for each message.
    PmEndpoint endpoint = this.endpoint;
    int payloadBytes = this.payloadBytes;
    int[] nodes = order.nodes();
    int sent = 0;
    for (; sent < messages; sent++) {
      SendBuffer buffer = endpoint.claim(nodes[from + sent], payloadBytes);
      if (buffer == null) {
        break;
      }
      buffer.putLong(0, first + sent);
      endpoint.send(buffer);
    }
    for (int i = 0; i < messages; i += CYCLE_FRAMES) {
      node.doWork(nowNs);
    }
    return sent;
  }

  @Override
  public void cycle(long nowNs) {
    node.doWork(nowNs);
  }

  @Override
  public long digest() {
    return digest.value;
  }

  @Override
  public void readContents(boolean contents) {
    digest.contents = contents;
  }

  @Override
  public Map<String, Long> counters() {
    Map<String, Long> now = all();
    now.replaceAll((name, value) -> value - before.get(name));
    return now;
  }

  @Override
  public boolean isClean() {
    return dropped() == before.get(DROPPED) && trouble() == before.get(TROUBLE);
  }

  private long dropped() {
    long dropped = 0;
    for (DropReason reason : REASONS) {
      dropped += node.counters().dropped(reason);
    }
    return dropped;
  }

  private long trouble() {
    return node.counters().get(Counter.PROBES_SENT)
        + node.counters().get(Counter.RESENT)
        + node.counters().get(Counter.PEERS_DOWN)
        + node.counters().get(Counter.FATE_UNKNOWN);
  }

  private Map<String, Long> all() {
    Map<String, Long> counters = new LinkedHashMap<>();
    for (Counter counter : COMPARED) {
      counters.put(counter.name(), node.counters().get(counter));
    }
    counters.put(DROPPED, dropped());
    counters.put(TROUBLE, trouble());
    return counters;
  }

  @Override
  public String details() {
    return node.counters().snapshot().toString();
  }

  @Override
  public String toString() {
    return "the Java node";
  }

  @Override
  public void close() {
    node.close();
  }
}
