package org.pmhxb.cli.bench.mpi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.pmhxb.cli.veth.LinkRate;
import org.pmhxb.router.Shape;

class KernelRowTest {
  private static final LinkRate RATE = LinkRate.parse("8mbit");

  private static MpiFigures figures(double seconds, double busy) {
    return MpiFigures.parse(
        List.of(
            "RESULT is S 9.5 0.99",
            "RESULT is-calls S 0.1 0",
            "RESULT is S " + seconds + " " + busy,
            "RESULT is-calls S 0.4 0",
            "RESULT is-bytes S 600000 0"));
  }

  @Test
  void aByteToAnyOtherNodeOfACubeCrossesTwelveSeventhsOfALink() {
    assertThat(KernelRow.meanHops(Shape.parse("2x2x2"))).isEqualTo(12.0 / 7);
    assertThat(KernelRow.meanHops(Shape.parse("8"))).isEqualTo(1);
  }

  @Test
  void whatTheLinksTakeIsShareOfTheTimeTimesTheFurtherHops() {
    KernelRow row = KernelRow.allToAll("is", "S", RATE, figures(0.5, 0.25), figures(0.6, 0.75));
    assertThat(row.slowdown()).isEqualTo(0.2, within(1e-9));
    assertThat(row.line()).isEqualTo(new KernelRuns(0.5, 0.75, 0.4, List.of(9.5, 0.5)));
    assertThat(row.cube()).isEqualTo(new KernelRuns(0.6, 0.25, 0.4, List.of(9.5, 0.6)));
    assertThat(row.idle()).isEqualTo(0.25);
    // 600 KB over six links of 1 MB/s take 0.1 s of 0.5 s.
    assertThat(row.linkShare()).isEqualTo(0.2, within(1e-9));
    assertThat(row.bandwidthSlowdown()).isEqualTo(0.2 * 5 / 7, within(1e-9));
  }

  @Test
  void neighboursAreOneLinkApartInBoth() {
    KernelRow row = KernelRow.neighbours("is", "S", RATE, figures(0.5, 0.25), figures(0.5, 0.25));
    assertThat(row.hops3d()).isEqualTo(1);
    assertThat(row.bandwidthSlowdown()).isZero();
  }

  @Test
  void bothAimsCountAndEachIsTold() {
    KernelRow slow = KernelRow.neighbours("is", "S", RATE, figures(1, 0.75), figures(1.06, 0.75));
    assertThat(slow.slowdownMet()).isFalse();
    assertThat(slow.idleMet()).isTrue();
    assertThat(slow.met()).isFalse();
    KernelRow busy = KernelRow.neighbours("is", "S", RATE, figures(1, 0.75), figures(1.04, 0.81));
    assertThat(busy.slowdownMet()).isTrue();
    assertThat(busy.idleMet()).isFalse();
    assertThat(busy.met()).isFalse();
    assertThat(KernelRow.neighbours("is", "S", RATE, figures(1, 0.75), figures(1.04, 0.79)).met())
        .isTrue();
  }
}
