package org.pmhxb.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.pmhxb.cli.veth.LinkQueue;
import org.pmhxb.cli.veth.LinkRate;

class ShapingCheckTest {
  private static final LinkRate RATE = LinkRate.parse("200mbit");

  private static LinkQueue queue(String kind, String rate, long sentBytes) {
    return new LinkQueue("x0", kind, LinkRate.parse(rate).bitsPerSecond(), sentBytes, 0, 0);
  }

  @Test
  void bytesThatWentThroughShapedQueuesAreGood() {
    List<LinkQueue> queues = List.of(queue("tbf", "200mbit", 900), queue("tbf", "200mbit", 300));

    assertThat(ShapingCheck.objections(queues, RATE, Map.of(), 100, 1_100)).isEmpty();
  }

  @Test
  void bytesThatWentRoundTheQueueAreSeen() {
    List<LinkQueue> queues = List.of(queue("tbf", "200mbit", 900));

    assertThat(ShapingCheck.objections(queues, RATE, Map.of(), 100, 801))
        .singleElement()
        .asString()
        .contains("only 800 bytes")
        .contains("801 bytes of payload");
  }

  @Test
  void anotherQueueOrRateIsNamed() {
    List<LinkQueue> queues = List.of(queue("noqueue", "200mbit", 9), queue("tbf", "1gbit", 9));

    assertThat(ShapingCheck.objections(queues, RATE, Map.of(), 0, 1))
        .hasSize(2)
        .anyMatch(line -> line.contains("\"noqueue\""))
        .anyMatch(line -> line.contains("1000000000"));
  }

  @Test
  void anEfficiencyAboveTheLinksRateIsRefused() {
    assertThat(Efficiency.of(25e6, 1, RATE).objection()).isEmpty();
    assertThat(Efficiency.of(25.24e6, 1, RATE).objection()).isEmpty();
    assertThat(Efficiency.of(25.26e6, 1, RATE).objection())
        .hasValueSatisfying(line -> assertThat(line).contains("did not bite"));
  }

  @Test
  void aLinkThatWasMadeSlowerIsExpectedToBeSo() {
    Map<String, LinkRate> slow = Map.of("x0", LinkRate.parse("50mbit"));

    assertThat(ShapingCheck.objections(List.of(queue("tbf", "50mbit", 9)), RATE, slow, 0, 1))
        .isEmpty();
    assertThat(ShapingCheck.objections(List.of(queue("tbf", "200mbit", 9)), RATE, slow, 0, 1))
        .singleElement()
        .asString()
        .contains("not a tbf of 50000000");
  }
}
