package org.pmhxb.collectives.logp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.pmhxb.collectives.barrier.plan.BarrierPlan;
import org.pmhxb.collectives.barrier.plan.BarrierSpec;
import org.pmhxb.collectives.barrier.plan.Participants;
import org.pmhxb.router.Shape;

/** The played plans against the formulas of Iwasaki et al., section 5.1.2, and their figures. */
class ModelTest {
  private static final double OS = 3_000;
  private static final double L = 17_500;
  private static final double OR = 9_500;

  /** Their library on Fast Ethernet switches. */
  private static final LogP PAPER = new LogP(OS, OR, 9_000, new double[] {L});

  private static Participants line(int nodes, int rails) {
    return Participants.of(Shape.of(nodes), rails, IntStream.range(0, nodes).toArray());
  }

  private static double predicted(int nodes, String spec) {
    return new ParallelModel(PAPER).predictNs(line(nodes, 1), BarrierSpec.parse(spec));
  }

  /** (os + L + or) log2 n, and with the exit of a tree one phase more. */
  @ParameterizedTest
  @CsvSource({"2, 1", "4, 2", "8, 3", "16, 4", "32, 5"})
  void shuffleExchangeAndBinaryTree(int nodes, int phases) {
    assertThat(predicted(nodes, "dissemination")).isEqualTo((OS + L + OR) * phases);
    assertThat(predicted(nodes, "binary")).isEqualTo((OS + L + OR) * (phases + 1));
  }

  /** (os + L + 2 or) log3 n + (os + L + or); 3 or and log4 n for the tree of radix 4. */
  @Test
  void ternaryAndQuaternaryTree() {
    assertThat(predicted(27, "ternary")).isEqualTo((OS + L + 2 * OR) * 3 + OS + L + OR);
    assertThat(predicted(16, "quaternary")).isEqualTo((OS + L + 3 * OR) * 2 + OS + L + OR);
  }

  /** All report at once; the master receives one after the other. */
  @Test
  void concurrent() {
    assertThat(predicted(16, "concurrent")).isEqualTo(OS + L + 15 * OR + OS + L + OR);
  }

  /** The paper measured 174, 204 and 309 us with 32 nodes. */
  @Test
  void thePapersMeasurements() {
    assertThat(predicted(32, "dissemination")).isCloseTo(174_000, within(0.15 * 174_000));
    assertThat(predicted(32, "binary")).isCloseTo(204_000, within(0.15 * 204_000));
    assertThat(predicted(32, "concurrent")).isCloseTo(309_000, within(0.2 * 309_000));
  }

  /** "The quaternary tree wins when 3 or < os + L" (n = 16: against shuffle exchange). */
  @Test
  void theQuaternaryTreeWinsWhereReceivingIsCheap() {
    BarrierSpec shuffle = BarrierSpec.parse("dissemination");
    BarrierSpec tree = BarrierSpec.parse("quaternary");
    for (double or : new double[] {1_000, 6_000, 7_000, 9_500}) {
      LogP logp = new LogP(OS, or, 0, new double[] {L});
      ParallelModel model = new ParallelModel(logp);
      boolean wins = model.predictNs(line(16, 1), tree) < model.predictNs(line(16, 1), shuffle);
      assertThat(wins).as("or %s", or).isEqualTo(3 * or < OS + L);
    }
  }

  /** A second rail helps where the gap is longer than what a receive costs. */
  @Test
  void railsShareTheGap() {
    LogP logp = new LogP(500, 500, 4_000, new double[] {10_000});
    ParallelModel model = new ParallelModel(logp);
    double one = model.predictNs(line(9, 2), BarrierSpec.parse("concurrent"));
    double two = model.predictNs(line(9, 2), BarrierSpec.parse("concurrent/r2"));
    // Four gaps less; the last two come at once, so one of them waits for the other's receive.
    assertThat(one - two).isEqualTo(4 * 4_000 - 500);
  }

  @Test
  void relaysTakeLonger() {
    Participants cube = Participants.of(Shape.of(2, 2, 2), 1, IntStream.range(0, 8).toArray());
    LogP logp = new LogP(0, 0, 0, new double[] {10, 25, 45});
    ParallelModel model = new ParallelModel(logp);
    assertThat(model.predictNs(cube, BarrierSpec.parse("exchange"))).isEqualTo(30);
    assertThat(model.predictNs(cube, BarrierSpec.parse("concurrent/unicast"))).isEqualTo(90);
    assertThat(model.predictNs(cube, BarrierSpec.parse("crossbar"))).isEqualTo(60);
  }

  /** Two processors for four nodes that sleep: whoever is woken waits for one, and costs it 40. */
  @Test
  void processorsAreShared() {
    LogP logp = new LogP(10, 5, 0, new double[] {100});
    BarrierSpec spec = BarrierSpec.parse("concurrent/unicast");
    Participants four = line(4, 1);

    double each = new ParallelModel(logp).predictNs(four, spec);
    double plenty = new ParallelModel(logp, new Processors(4, 40)).predictNs(four, spec);
    double two = new ParallelModel(logp, new Processors(2, 40)).predictNs(four, spec);

    // Reports at 10 and 110; the master receives three, sends three; the last is there 100 later.
    assertThat(each).isEqualTo(10 + 100 + 3 * 5 + 3 * 10 + 100 + 5);
    assertThat(plenty).isEqualTo(each + 2 * 40);
    // Nodes 0 and 1 first; 0 has nothing to do but wait, so 2 and then 3 get its processor.
    assertThat(two).isGreaterThan(plenty);
    assertThat(new ParallelModel(logp, new Processors(1, 40)).predictNs(four, spec))
        .isGreaterThan(two);
  }

  /** One frame to a line, whose copies the sender's processor makes. */
  @Test
  void copiesCostTheSender() {
    LogP without = new LogP(10, 5, 0, new double[] {100});
    LogP with = new LogP(10, 5, 0, 7, new double[] {100});
    BarrierSpec spec = BarrierSpec.parse("concurrent");

    double more =
        new ParallelModel(with).predictNs(line(8, 1), spec)
            - new ParallelModel(without).predictNs(line(8, 1), spec);
    assertThat(more).isEqualTo(6 * 7);
  }

  @Test
  void oneThreadDoesAllTheWork() {
    SharedThreadModel model = new SharedThreadModel(1_000, 100, 50);
    // Three rounds; eight frames sent and received in each.
    assertThat(model.predictNs(line(8, 1), BarrierSpec.parse("dissemination")))
        .isEqualTo(3 * 1_000 + 24 * 150);
    // Reports, then one frame that seven receive.
    assertThat(model.predictNs(line(8, 1), BarrierSpec.parse("concurrent")))
        .isEqualTo(2 * 1_000 + 8 * 100 + 14 * 50);
  }

  /** Each relay carries a frame a round later. */
  @Test
  void eachRelayTakesARoundOfOneThread() {
    SharedThreadModel model = new SharedThreadModel(1_000, 0, 0);
    Shape cube = Shape.of(2, 2, 2);
    BarrierSpec spec = BarrierSpec.parse("dissemination");
    assertThat(model.predictNs(Participants.of(cube, 1, 0, 1), spec)).isEqualTo(1_000);
    assertThat(model.predictNs(Participants.of(cube, 1, 0, 3), spec)).isEqualTo(2_000);
    assertThat(model.predictNs(Participants.of(cube, 1, 0, 7), spec)).isEqualTo(3_000);
  }

  @Test
  void theChoiceExplainsItself() {
    BarrierChoice choice = BarrierChoice.of(line(16, 1), new ParallelModel(PAPER));
    assertThat(choice.best().toString()).isEqualTo("dissemination");
    assertThat(choice.explanation()).startsWith("dissemination for all of 16: 120.00 us");
    LogP quick = new LogP(100, 50, 0, new double[] {10_000});
    assertThat(BarrierChoice.of(line(16, 1), new ParallelModel(quick)).best().toString())
        .isEqualTo("exchange");
  }

  /**
   * Of each model all candidates for whole shapes and for groups by lot: nothing but the model and
   * the group may change a choice, or nodes of one machine that run different versions never meet.
   */
  @ParameterizedTest
  @CsvSource({
    "typical, -536106261",
    "paper, 1660512698",
    "ties, 1836807422",
    "free, -708067891",
    "odd, 218693323",
    "asleep, -1963200946",
    "taking turns, 1453578715",
    "one thread, -235253445",
  })
  void choicesStayWhatTheyAre(String name, int hash) {
    StringBuilder text = new StringBuilder();
    for (Participants group : groups()) {
      BarrierChoice choice = BarrierChoice.of(group, model(name));
      text.append(choice.best()).append(' ').append(choice.explanation());
      for (BarrierChoice.Candidate c : choice.candidates()) {
        text.append(' ').append(c.spec()).append(' ').append(c.predictedNs());
        text.append(' ').append(c.frames());
      }
    }
    assertThat(text.toString().hashCode()).isEqualTo(hash);
  }

  private static BarrierModel model(String name) {
    double[] odd = {1585.3, 4100.9, 3999.1};
    return switch (name) {
      case "typical" -> new ParallelModel(LogP.typical());
      case "paper" -> new ParallelModel(PAPER);
      case "ties" -> new ParallelModel(new LogP(10, 10, 10, 10, new double[] {10, 20, 30}));
      case "free" -> new ParallelModel(new LogP(0, 0, 0, new double[] {0}));
      case "odd" -> new ParallelModel(new LogP(237.31, 281.77, 163.13, 17.7, odd));
      case "asleep" ->
          new ParallelModel(new LogP(237.31, 281.77, 163.13, 17.7, odd), new Processors(2, 40));
      case "taking turns" ->
          new ParallelModel(new LogP(10, 5, 0, new double[] {100}), new Processors(3, 0));
      default -> new SharedThreadModel(1000.3, 100.7, 50.1);
    };
  }

  private static List<Participants> groups() {
    List<Participants> groups = new ArrayList<>();
    SplittableRandom random = new SplittableRandom(5);
    for (String text : "1 2 3 7 16 33 3x3 5x4 1x4x2 2x2x2 3x3x3 2x3x4 7x2x3 4x4x4".split(" ")) {
      Shape shape = Shape.parse(text);
      for (int trial = 0; trial < 4; trial++) {
        int least = trial;
        int always = random.nextInt(shape.nodes());
        int[] members =
            IntStream.range(0, shape.nodes())
                .filter(i -> i == always || random.nextInt(4) >= least)
                .toArray();
        groups.add(Participants.of(shape, 1 + trial % 3, members));
      }
    }
    return groups;
  }

  /** Some of the choices above, and of larger machines, to read. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "typical | 8 | exchange/r2 for all of 8: 8.00 us and 8 frames by the model; concurrent/r2 13.60 us; crossbar/r2 13.60 us",
        "typical | 2x2x2 | exchange for all of 2x2x2: 16.80 us and 24 frames by the model; dissemination 26.80 us; dissemination/r2 26.80 us",
        "typical | 512 | quaternary/r2 for all of 512: 36.80 us and 512 frames by the model; ternary/r2 40.70 us; ternary 43.20 us",
        "typical | 8x8x8 | exchange/r2 for all of 8x8x8: 24.00 us and 1536 frames by the model; crossbar/r2 40.80 us; crossbar 48.00 us",
        "typical | 16x16x10 | exchange/r2 for all of 16x16x10: 31.20 us and 7680 frames by the model; crossbar/r2 48.00 us; quaternary/r2 54.40 us",
        "odd | 8x8x4 | exchange for all of 8x8x4: 10.51 us and 768 frames by the model; crossbar 16.82 us; crossbar/r2 16.82 us",
        "asleep | 2x2x2 | exchange for all of 2x2x2: 8.20 us and 24 frames by the model; concurrent/unicast 11.39 us; concurrent/r2/unicast 11.39 us",
        "one thread | 3x3x3 | ternary for all of 3x3x3: 12.53 us and 39 frames by the model; crossbar 12.53 us; crossbar/r2 12.53 us",
      })
  void choicesToRead(String model, String text, String explanation) {
    Shape shape = Shape.parse(text);
    Participants all = Participants.of(shape, 2, IntStream.range(0, shape.nodes()).toArray());
    assertThat(BarrierChoice.of(all, model(model)).explanation()).isEqualTo(explanation);
  }

  /** Each algorithm's plans are made once, and played once. */
  @Test
  void everyCandidateIsPlayedOnce() {
    List<List<BarrierPlan>> played = new ArrayList<>();
    BarrierChoice choice =
        BarrierChoice.of(
            line(16, 2),
            (group, plans) -> {
              played.add(plans);
              return 0;
            });
    assertThat(choice.candidates())
        .extracting(BarrierChoice.Candidate::spec)
        .doesNotHaveDuplicates()
        .hasSameSizeAs(played);
    assertThat(choice.best()).isEqualTo(BarrierSpec.parse("binary"));
  }
}
