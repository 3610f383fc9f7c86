package org.pmhxb.cli.bench;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.pmhxb.cli.veth.LinkQueue;
import org.pmhxb.cli.veth.LinkRate;

/**
 * Shows that shaped links shape: each end of a link has a token bucket of the wanted rate, and all
 * the payload of a measurement went through these. A driver that goes round the queue (as {@code
 * net_af_packet} does unless told otherwise, DESIGN section 5) is found out here, however slow it
 * is.
 */
public final class ShapingCheck {
  private final Collection<String> namespaces;
  private final LinkRate rate;
  private final long sentBefore;

  /** Looks at the queues before the measurement. */
  public ShapingCheck(Collection<String> namespaces, LinkRate rate) {
    this.namespaces = List.copyOf(namespaces);
    this.rate = rate;
    this.sentBefore = sentBytes(queues());
  }

  /**
   * Looks at them again.
   *
   * @param payloadBytes what certainly travelled in between
   * @return what is wrong, for people; empty when the links are shaped
   */
  public List<String> objections(long payloadBytes) {
    return objections(queues(), rate, sentBefore, payloadBytes);
  }

  static List<String> objections(
      List<LinkQueue> queues, LinkRate rate, long sentBefore, long payloadBytes) {
    List<String> objections = new ArrayList<>();
    for (LinkQueue queue : queues) {
      if (!queue.kind().equals("tbf") || queue.bitsPerSecond() != rate.bitsPerSecond()) {
        objections.add(
            "link "
                + queue.device()
                + " has a queue '"
                + queue.kind()
                + "' of "
                + queue.bitsPerSecond()
                + " bit/s, not a tbf of "
                + rate.bitsPerSecond());
      }
    }
    long sent = sentBytes(queues) - sentBefore;
    if (sent < payloadBytes) {
      objections.add(
          "only "
              + sent
              + " bytes went through the links' queues while "
              + payloadBytes
              + " bytes of payload arrived: the shaping is gone round, the figure is void");
    }
    return objections;
  }

  private List<LinkQueue> queues() {
    return namespaces.stream().flatMap(name -> LinkQueue.of(name).stream()).toList();
  }

  private static long sentBytes(List<LinkQueue> queues) {
    return queues.stream().mapToLong(LinkQueue::sentBytes).sum();
  }
}
