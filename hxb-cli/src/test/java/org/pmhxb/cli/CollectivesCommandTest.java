package org.pmhxb.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.pmhxb.cli.bench.MachineInfo;
import org.pmhxb.cli.bench.Spread;
import org.pmhxb.cli.bench.collective.CollectivePoint;

class CollectivesCommandTest {
  private static CollectivePoint point(String algorithm, boolean chosen, double us, double times) {
    return new CollectivePoint(
        "allreduce",
        algorithm,
        8_192,
        chosen,
        5,
        times,
        times > 1.1,
        new Spread(us, us, us, 5),
        1,
        1,
        0,
        0);
  }

  private static String printed(MachineOptions.Fabric fabric, CollectivePoint... points) {
    StringWriter text = new StringWriter();
    new CollectivesCommand.Outcome(
            true,
            fabric.toString(),
            "2x2x2",
            2,
            "500,1500,0.3",
            CollectivesCommand.chosenBy(fabric),
            MachineInfo.here("test"),
            List.of(points))
        .print(new PrintWriter(text, true));
    return text.toString();
  }

  @Test
  void aChoiceThatIsSlowerIsMarkedAndSaysByWhichModelItWasMade() {
    String text =
        printed(
            MachineOptions.Fabric.RING,
            point("recursive-doubling", true, 533, 533 / 133.0),
            point("crossbar-ring", false, 133, 1));

    assertThat(text)
        .contains("chosen by the LogGP model of --model", "over ring one thread is all nodes")
        .contains("  chosen, NOT the fastest: takes 4.0 times as long\n", "  fastest\n")
        .contains("of 1 choice 1 slower than the fastest in every round\n");
  }

  @Test
  void aChoiceThatIsAsGoodAsTheFastestIsNotMarked() {
    String text =
        printed(
            MachineOptions.Fabric.VETH,
            point("ring", true, 104, 1.04),
            point("crossbar-ring", false, 100, 1));

    assertThat(text)
        .contains("  chosen\n", "of 1 choice 0 slower")
        .doesNotContain("NOT the fastest", "over ring");
  }
}
