package org.pmhxb.cli.bench;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.pmhxb.cli.veth.LinkQueue;
import org.pmhxb.cli.veth.LinkRate;

/**
 * Shows that shaped links shape: each end of a link has a token bucket of the wanted rate, and all
 * the payload of a measurement went through these. A driver that goes round the queue (as {@code
 * net_af_packet} does unless told otherwise) is found out here, however slow it is.
 */
public final class ShapingCheck {
  private final Collection<String> namespaces;
  private final LinkRate rate;
  private final Map<String, LinkRate> exceptions;
  private final long sentBefore;

  /**
   * Looks at the queues before the measurement.
   *
   * @param exceptions rates of devices that have another one, in all namespaces
   */
  public ShapingCheck(
      Collection<String> namespaces, LinkRate rate, Map<String, LinkRate> exceptions) {
    this.namespaces = List.copyOf(namespaces);
    this.rate = rate;
    this.exceptions = Map.copyOf(exceptions);
    this.sentBefore = sentBytes(queues());
  }

  /**
   * Looks at them again.
   *
   * @param payloadBytes what certainly travelled in between
   * @return what is wrong, for people; empty when the links are shaped
   */
  public List<String> objections(long payloadBytes) {
    return objections(queues(), rate, exceptions, sentBefore, payloadBytes);
  }

  static List<String> objections(
      List<LinkQueue> queues,
      LinkRate rate,
      Map<String, LinkRate> exceptions,
      long sentBefore,
      long payloadBytes) {
    List<String> objections = new ArrayList<>();
    for (LinkQueue queue : queues) {
      LinkRate wanted = exceptions.getOrDefault(queue.device(), rate);
      if (!queue.kind().equals("tbf") || queue.bitsPerSecond() != wanted.bitsPerSecond()) {
        objections.add(
            "link "
                + queue.device()
                + " has a queue \""
                + queue.kind()
                + "\" of "
                + queue.bitsPerSecond()
                + " bit/s, not a tbf of "
                + wanted.bitsPerSecond());
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
