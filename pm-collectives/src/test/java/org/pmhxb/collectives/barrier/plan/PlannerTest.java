package org.pmhxb.collectives.barrier.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.pmhxb.router.Shape;

/** Plans by themselves: each ARRIVE is awaited once, and everyone hears of everyone. */
class PlannerTest {
  @Test
  void theFramesOfEachAlgorithm() {
    Participants eight = Participants.of(Shape.of(8), 1, IntStream.range(0, 8).toArray());
    assertThat(frames(eight, "dissemination")).isEqualTo(8 * 3);
    for (String tree : new String[] {"binary", "ternary", "quaternary", "concurrent"}) {
      assertThat(frames(eight, tree)).as(tree).isEqualTo(7 + 1);
      assertThat(frames(eight, tree + "/unicast")).as(tree).isEqualTo(7 + 7);
    }
    assertThat(frames(eight, "exchange")).isEqualTo(8);
    assertThat(frames(eight, "exchange/unicast")).isEqualTo(8 * 7);
    assertThat(frames(eight, "chassis/k4")).isEqualTo(7 + 1 + 2);
    Participants cube = Participants.of(Shape.of(4, 4, 4), 2, IntStream.range(0, 64).toArray());
    // 63 report; the exit: one frame in Z, four in Y, sixteen in X.
    assertThat(frames(cube, "crossbar")).isEqualTo(63 + 1 + 4 + 16);
    assertThat(frames(cube, "binary")).isEqualTo(63 + 1 + 4 + 16);
    assertThat(frames(cube, "exchange")).isEqualTo(3 * 64);
  }

  private static int frames(Participants group, String spec) {
    return Planner.frames(group, BarrierSpec.parse(spec));
  }

  @ParameterizedTest
  @CsvSource({"7", "16", "31", "3x3", "2x3x4", "1x4x2"})
  void everyoneHearsOfEveryone(String text) {
    Shape shape = Shape.parse(text);
    SplittableRandom random = new SplittableRandom(42);
    for (BarrierAlgorithm algorithm : BarrierAlgorithm.values()) {
      for (int trial = 0; trial < 20; trial++) {
        BitSet mask = new BitSet();
        for (int i = 0; i < shape.nodes(); i++) {
          mask.set(
              i, trial == 0 || algorithm == BarrierAlgorithm.EXCHANGE || random.nextInt(3) > 0);
        }
        mask.set(random.nextInt(shape.nodes()));
        BarrierSpec spec =
            new BarrierSpec(algorithm, 1 + trial % 3, trial % 4 != 3, 2 + random.nextInt(4));
        Participants group = Participants.of(shape, 2, mask.stream().toArray());
        assertThat(knownAtTheEnd(group, spec)).as(spec + " of " + group).isEqualTo(group.size());
      }
    }
  }

  /** Runs all plans at once, each frame at once: how many each member knows of when it leaves. */
  private static int knownAtTheEnd(Participants group, BarrierSpec spec) {
    List<BarrierPlan> plans = Planner.plans(group, spec);
    int n = group.size();
    int[] step = new int[n];
    List<Set<Integer>> knows = new ArrayList<>();
    Set<List<Integer>> sent = new HashSet<>();
    IntStream.range(0, n).forEach(rank -> knows.add(new HashSet<>(Set.of(rank))));
    for (boolean progress = true; progress; ) {
      progress = false;
      for (int rank = 0; rank < n; rank++) {
        BarrierPlan plan = plans.get(rank);
        while (step[rank] < plan.steps().size() && hasAll(plan, step[rank], sent)) {
          BarrierPlan.Step now = plan.steps().get(step[rank]++);
          progress = true;
          for (BarrierPlan.Send send : now.sends()) {
            for (int target : send.targets()) {
              assertThat(awaits(plans.get(group.rank(target)), send.step(), plan.node())).isTrue();
              assertThat(sent.add(List.of(plan.node(), target, send.step()))).isTrue();
              knows.get(group.rank(target)).addAll(knows.get(rank));
            }
          }
        }
      }
    }
    int least = n;
    for (int rank = 0; rank < n; rank++) {
      assertThat(step[rank]).as("steps done").isEqualTo(plans.get(rank).steps().size());
      least = Math.min(least, knows.get(rank).size());
    }
    return least;
  }

  private static boolean hasAll(BarrierPlan plan, int step, Set<List<Integer>> sent) {
    BarrierPlan.Step now = plan.steps().get(step);
    return IntStream.of(now.sources())
        .allMatch(source -> sent.contains(List.of(source, plan.node(), now.number())));
  }

  private static boolean awaits(BarrierPlan plan, int number, int source) {
    return plan.steps().stream()
        .anyMatch(
            s -> s.number() == number && IntStream.of(s.sources()).anyMatch(x -> x == source));
  }

  @Test
  void childrenReportOverDifferentRails() {
    Participants nine = Participants.of(Shape.of(9), 2, IntStream.range(0, 9).toArray());
    BarrierSpec spec = BarrierSpec.parse("ternary/r2");
    List<Integer> ways = new ArrayList<>();
    for (int child : new int[] {1, 2, 3, 6}) {
      ways.add(Planner.plan(nine, spec, child).steps().getFirst().sends().getFirst().way());
    }
    assertThat(ways).containsExactly(0, 1, 0, 1);
  }

  /** All send to the line at once in an exchange. */
  @Test
  void thoseWhoSendToALineTakeDifferentRails() {
    Participants six = Participants.of(Shape.of(6), 3, IntStream.range(0, 6).toArray());
    List<Integer> ways = new ArrayList<>();
    for (BarrierPlan plan : Planner.plans(six, BarrierSpec.parse("exchange/r3"))) {
      BarrierPlan.Send send = plan.steps().getFirst().sends().getFirst();
      assertThat(send.line()).isZero();
      ways.add(send.way());
    }
    assertThat(ways).containsExactly(0, 1, 2, 0, 1, 2);
  }

  /** Whole shapes, boxes in them and groups by lot. */
  @ParameterizedTest
  @CsvSource({"1", "2", "7", "33", "4x5", "1x6x4", "5x1x3", "3x3x3", "2x3x4", "4x4x4"})
  void plansAreThoseThatEachRankMakesAlone(String text) {
    Shape shape = Shape.parse(text);
    SplittableRandom random = new SplittableRandom(42);
    for (int trial = 0; trial < 12; trial++) {
      BitSet[] sides = sides(shape, random);
      BitSet mask = new BitSet();
      for (int i = 0; i < shape.nodes(); i++) {
        boolean inBox =
            sides[0].get(shape.coordinates(i).x())
                && sides[1].get(shape.coordinates(i).y())
                && sides[2].get(shape.coordinates(i).z());
        mask.set(i, trial == 0 || (trial % 2 == 0 ? inBox : random.nextInt(12) < trial));
      }
      if (mask.isEmpty()) {
        mask.set(random.nextInt(shape.nodes()));
      }
      Participants group = Participants.of(shape, 3, mask.stream().toArray());
      for (BarrierAlgorithm algorithm : BarrierAlgorithm.values()) {
        for (int i = 0; i < 4; i++) {
          eachRankAloneMakesTheSame(
              group, new BarrierSpec(algorithm, i < 2 ? 1 : 3, i % 2 == 0, 2 + random.nextInt(4)));
        }
      }
    }
  }

  /** Of each dimension some coordinates, not always neighbours. */
  private static BitSet[] sides(Shape shape, SplittableRandom random) {
    BitSet[] sides = new BitSet[3];
    for (int d = 0; d < sides.length; d++) {
      sides[d] = new BitSet();
      for (int i = 0; i < shape.extent(d); i++) {
        sides[d].set(i, random.nextInt(3) > 0);
      }
      sides[d].set(random.nextInt(shape.extent(d)));
    }
    return sides;
  }

  private static void eachRankAloneMakesTheSame(Participants group, BarrierSpec spec) {
    if (!Planner.suits(group, spec)) {
      for (int member = 0; member < group.size(); member++) {
        int node = group.node(member);
        assertThatThrownBy(() -> PlainPlanner.plan(group, spec, node)).hasMessageContaining("box");
        assertThatThrownBy(() -> Planner.plan(group, spec, node)).hasMessageContaining("box");
      }
      return;
    }
    List<BarrierPlan> plans = Planner.plans(group, spec);
    for (int rank = 0; rank < group.size(); rank++) {
      String plain = text(PlainPlanner.plan(group, spec, group.node(rank)));
      assertThat(text(plans.get(rank))).as(spec + " of " + group).isEqualTo(plain);
      assertThat(text(Planner.plan(group, spec, group.node(rank)))).isEqualTo(plain);
    }
  }

  private static String text(BarrierPlan plan) {
    StringBuilder text = new StringBuilder().append(plan.node());
    for (BarrierPlan.Step step : plan.steps()) {
      text.append('|').append(step.number()).append(Arrays.toString(step.sources()));
      for (BarrierPlan.Send send : step.sends()) {
        text.append(Arrays.toString(send.targets()))
            .append(List.of(send.step(), send.way(), send.line()));
      }
    }
    return text.toString();
  }

  /** What it takes grows as the group and its plans do, not as the square of the group. */
  @ParameterizedTest
  @CsvSource({"512", "8x8x8", "16x16x10", "1x40x64", "64x1x40"})
  void planningTakesAsLongAsThePlansAre(String text) {
    Shape shape = Shape.parse(text);
    int[] everyone = IntStream.range(0, shape.nodes()).toArray();
    int[] mostOfThem = IntStream.of(everyone).filter(i -> i % 7 != 3).toArray();
    for (int[] members : new int[][] {everyone, mostOfThem}) {
      Participants group = Participants.of(shape, 2, members);
      for (BarrierAlgorithm algorithm : BarrierAlgorithm.values()) {
        for (BarrierSpec spec :
            List.of(BarrierSpec.of(algorithm), BarrierSpec.of(algorithm).withoutLines())) {
          if (Planner.suits(group, spec)) {
            assertThat(Planner.looks(group, spec))
                .as(spec + " of " + text)
                .isBetween((long) group.size(), 12L * group.size() + 3L * length(group, spec));
          }
        }
      }
    }
  }

  /** Sources and targets of all plans together. */
  private static int length(Participants group, BarrierSpec spec) {
    return Planner.plans(group, spec).stream()
        .flatMap(plan -> plan.steps().stream())
        .mapToInt(
            step ->
                step.sourceCount()
                    + step.sends().stream().mapToInt(BarrierPlan.Send::targetCount).sum())
        .sum();
  }

  @Test
  void whatDoesNotSuitIsNamed() {
    Participants bent = Participants.of(Shape.of(3, 3), 1, 0, 1, 3);
    assertThatThrownBy(() -> Planner.plan(bent, BarrierSpec.parse("exchange"), 0))
        .hasMessageContaining("needs a group that is a box");
    assertThatThrownBy(() -> Planner.plan(bent, BarrierSpec.parse("binary"), 5))
        .hasMessageContaining("node 5 is none of the group");
    assertThatThrownBy(() -> BarrierSpec.parse("binary/x"))
        .hasMessageContaining("\"x\" in barrier");
    assertThatThrownBy(() -> BarrierSpec.parse("bin")).hasMessageContaining("dissemination");
    assertThatThrownBy(() -> BarrierSpec.parse("/"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("dissemination");
    assertThatThrownBy(() -> BarrierSpec.parse("binary//"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("binary//");
    assertThatThrownBy(() -> Participants.of(Shape.of(3), 1, 0, 3)).hasMessageContaining("node 3");
  }

  @Test
  void aSpecReadsWhatItWrites() {
    for (String text : new String[] {"dissemination", "ternary/r2/unicast", "chassis/r3/k5"}) {
      assertThat(BarrierSpec.parse(text)).hasToString(text);
    }
  }
}
