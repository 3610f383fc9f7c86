package org.pmhxb.cli.bench.mpi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.pmhxb.cli.veth.LinkRate;

class MpiFiguresTest {
  private static final MpiSizes SIZES = new MpiSizes(32_768, 1 << 20, 2, 2_000);

  private static MpiFigures figures(double oneWay) {
    return MpiFigures.parse(
        List.of(
            "some other line",
            "RESULT unexpected 100 1.5 0.500",
            "RESULT unexpected 10000 1.75 0.500",
            "RESULT latency 8 12.5 0.500",
            "RESULT latency 32768 100 0.5",
            "RESULT latency 1048576 1000 0.5",
            "RESULT oneway 32768 " + oneWay + " 0.8",
            "RESULT oneway 1048576 " + oneWay + " 0.7",
            "RESULT both 1048576 " + 2 * oneWay + " 0.9"));
  }

  @Test
  void efficiencyIsAgainstTheRawRateOfAllLinks() {
    MpiRow row = MpiRow.of("hxb", 2, LinkRate.parse("200mbit"), SIZES, figures(45e6));
    assertThat(row.theoreticalBytesPerSecond()).isEqualTo(50e6);
    assertThat(row.oneWayEfficiency()).isEqualTo(0.9);
    assertThat(row.bothEfficiency()).isEqualTo(0.9);
    assertThat(row.halfRoundTripUs()).isEqualTo(12.5);
    assertThat(row.manyUnexpectedUs()).isEqualTo(1.75);
    assertThat(row.busy()).isEqualTo(0.9);
  }

  @Test
  void figuresOfLinksThatWereNotShapedAreRefused() {
    assertThatThrownBy(() -> MpiRow.of("hxb", 2, LinkRate.parse("200mbit"), SIZES, figures(52e6)))
        .hasMessageContaining("shaping did not bite");
  }

  @Test
  void aProgramThatDidNotMeasureIsNoResult() {
    MpiFigures none = MpiFigures.parse(List.of("nothing"));
    assertThatThrownBy(() -> MpiRow.of("hxb", 1, LinkRate.parse("200mbit"), SIZES, none))
        .hasMessageContaining("printed no");
    assertThatThrownBy(() -> MpiFigures.parse(List.of("RESULT oneway 5")))
        .hasMessageContaining("not a result");
  }

  @Test
  void streamsAreAsLongAsTheLinksNeed() {
    List<String> arguments = SIZES.arguments(6, LinkRate.parse("200mbit"));
    int at = arguments.lastIndexOf("oneway");
    // 150 MB/s for two seconds in messages of 1 MiB, half as many before.
    assertThat(arguments.subList(at, at + 4)).containsExactly("oneway", "1048576", "143", "286");
  }
}
