package org.pmhxb.cli.veth;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.List;

/**
 * The queue in front of a link, as the kernel accounts for it.
 *
 * @param kind tbf where the link is shaped
 * @param bitsPerSecond its rate; 0 when the queue has none
 * @param sentBytes frames that left it, since it was made
 * @param dropped frames that it dropped
 * @param overlimits how often it had to hold a frame back
 */
public record LinkQueue(
    String device, String kind, long bitsPerSecond, long sentBytes, long dropped, long overlimits) {

  private static final ObjectMapper MAPPER = new ObjectMapper();

  /** All queues of a namespace's interfaces. */
  public static List<LinkQueue> of(String namespace) {
    return parse(
        Tool.run("", VethFabric.inside(namespace, "tc", "-json", "-statistics", "qdisc", "show")));
  }

  /** Reads what {@code tc -json -statistics qdisc show} prints. */
  static List<LinkQueue> parse(String json) {
    List<LinkQueue> queues = new ArrayList<>();
    try {
      for (JsonNode queue : MAPPER.readTree(json)) {
        if (!queue.path("dev").asText().equals("lo")) {
          queues.add(
              new LinkQueue(
                  queue.path("dev").asText(),
                  queue.path("kind").asText(),
                  // tc gives bytes per second.
                  8 * queue.path("options").path("rate").asLong(),
                  queue.path("bytes").asLong(),
                  queue.path("drops").asLong(),
                  queue.path("overlimits").asLong()));
        }
      }
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("tc printed no JSON: " + e.getOriginalMessage(), e);
    }
    return queues;
  }
}
