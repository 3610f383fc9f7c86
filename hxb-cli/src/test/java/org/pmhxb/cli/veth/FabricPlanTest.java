package org.pmhxb.cli.veth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashSet;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.pmhxb.router.Shape;

class FabricPlanTest {
  private static final LinkRate RATE = LinkRate.parse("200mbit");

  private static FabricPlan plan(int x, int y, int z, int rails) {
    return new FabricPlan("t", Shape.of(x, y, z), rails, RATE);
  }

  @Test
  void eightNodesWithTwoRailsNeedTwentyFourPairsAndNoSwitch() {
    FabricPlan plan = plan(2, 2, 2, 2);

    assertThat(plan.pairs()).isEqualTo(24);
    assertThat(plan.creationBatch().lines().filter(line -> line.startsWith("link"))).hasSize(24);
    assertThat(plan.namespaces()).hasSize(8).contains("hxb-t-0-0-0", "hxb-t-1-1-1");
    assertThat(plan.interfaces(5))
        .extracting(FabricPlan.Interface::name)
        .containsExactly("x0", "x1", "y0", "y1", "z0", "z1");
  }

  @Test
  void joinsTheTwoNodesOfALineDirectly() {
    assertThat(plan(1, 2, 2, 1).creationBatch())
        .contains(
            "link add name z0 address 02:68:78:00:01:30 mtu 9000 netns hxb-t-0-1-0 type veth"
                + " peer name z0 address 02:68:78:00:03:30 mtu 9000 netns hxb-t-0-1-1\n");
  }

  @Test
  void longerLinesGetABridgePerLineAndRail() {
    FabricPlan plan = plan(3, 2, 2, 2);

    assertThat(plan.namespaces()).hasSize(13).contains("hxb-t-sw");
    String batch = plan.linkBatches().get("hxb-t-sw");
    assertThat(batch.lines().filter(line -> line.contains("type bridge"))).hasSize(8);
    assertThat(batch).contains("link set dev n5x1 master bx1--1-0\n");
    assertThat(plan.pairs()).isEqualTo(12 * 2 + 2 * (6 * 2));
  }

  @Test
  void shapesBothDirectionsAndTheSwitchOutputs() {
    FabricPlan plan = plan(3, 1, 1, 1);

    assertThat(plan.shapingBatches().keySet())
        .containsExactlyInAnyOrder("hxb-t-0-0-0", "hxb-t-1-0-0", "hxb-t-2-0-0", "hxb-t-sw");
    assertThat(plan.shapingBatches().get("hxb-t-sw").lines())
        .hasSize(3)
        .allMatch(line -> line.contains("tbf rate 200000000bit"));
    assertThat(new FabricPlan("t", Shape.of(2), 9, null).shapingBatches()).isEmpty();
  }

  @Property(tries = 200)
  void namesFitTheKernelAndAreUnique(
      @ForAll @IntRange(min = 1, max = 64) int x,
      @ForAll @IntRange(min = 1, max = 8) int y,
      @ForAll @IntRange(min = 1, max = 8) int z,
      @ForAll @IntRange(min = 1, max = 9) int rails) {
    if (x * y * z > FabricPlan.MAX_NODES) {
      assertThatThrownBy(() -> plan(x, y, z, rails))
          .hasMessageContaining(" nodes; a veth fabric has at most 64, each is a process");
      return;
    }
    FabricPlan plan = plan(x, y, z, rails);
    Set<String> ends = new HashSet<>();
    plan.creationBatch()
        .lines()
        .filter(line -> line.startsWith("link add"))
        .forEach(
            line -> {
              String[] words = line.split(" ");
              String peer = line.substring(line.indexOf("peer name ") + 10).split(" ")[0];
              assertThat(ends.add(words[8 + 1] + "/" + words[3])).as(line).isTrue();
              assertThat(ends.add(words[words.length - 1] + "/" + peer)).as(line).isTrue();
            });
    assertThat(ends).hasSize(2 * plan.pairs()).allMatch(end -> end.split("/")[1].length() <= 15);
  }

  @Test
  void aKernelWithoutIpv6IsToldNothingOfIt() {
    StringBuilder with = new StringBuilder();
    FabricPlan.appendUp(with, "x0", true);
    assertThat(with).hasToString("link set dev x0 arp off addrgenmode none up\n");
    StringBuilder without = new StringBuilder();
    FabricPlan.appendUp(without, "x0", false);
    assertThat(without).hasToString("link set dev x0 arp off up\n");
  }

  @Test
  void refusesWhatCannotBeBuilt() {
    assertThatThrownBy(() -> plan(2, 2, 2, 10)).hasMessageContaining("10 rails");
    assertThatThrownBy(() -> new FabricPlan("a-b", Shape.of(2), 1, null))
        .hasMessageContaining("--cluster is \"a-b\"");
  }

  @Test
  void theTokenBucketHoldsSeveralFramesAtAnyRate() {
    assertThat(FabricPlan.burstBytes(LinkRate.parse("1mbit"))).isEqualTo(64 * 1024);
    assertThat(FabricPlan.burstBytes(LinkRate.parse("1gbit"))).isEqualTo(312_500);
    assertThat(FabricPlan.burstBytes(LinkRate.parse("100gbit"))).isEqualTo(1024 * 1024);
  }
}
