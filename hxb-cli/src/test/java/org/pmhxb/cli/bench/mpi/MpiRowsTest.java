package org.pmhxb.cli.bench.mpi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.pmhxb.cli.veth.LinkRate;

class MpiRowsTest {
  private final MpiRows rows = new MpiRows();

  private static MpiRow row(String name) {
    MpiSizes sizes = new MpiSizes(32_768, 1 << 20, 2, 2_000);
    List<String> printed =
        List.of(
            "RESULT unexpected 100 1 0.5",
            "RESULT unexpected 10000 1 0.5",
            "RESULT latency 8 12 0.5",
            "RESULT latency 32768 100 0.5",
            "RESULT latency 1048576 1000 0.5",
            "RESULT oneway 32768 20e6 0.8",
            "RESULT oneway 1048576 20e6 0.7",
            "RESULT both 1048576 40e6 0.9");
    return MpiRow.of(name, 1, LinkRate.parse("200mbit"), sizes, MpiFigures.parse(printed));
  }

  private static MpiRow failing() throws IOException {
    throw new IOException("no route");
  }

  @Test
  void whatWasMeasuredStaysWhenALaterOneFails() throws Exception {
    rows.add("one", () -> row("one"));
    rows.add("two", MpiRowsTest::failing);
    rows.add("three", () -> row("three"));
    assertThat(rows.measured()).extracting(MpiRow::name).containsExactly("one", "three");
    assertThat(rows.failures()).containsExactly("two: no route");
  }

  @Test
  void aFailureByWhichNothingIsLostEndsTheCommand() {
    assertThatThrownBy(() -> rows.add("one", MpiRowsTest::failing))
        .isInstanceOf(IOException.class)
        .hasMessage("no route");
  }

  @Test
  void whoWantsTheCommandToEndIsHeard() throws Exception {
    rows.add("one", () -> row("one"));
    assertThatThrownBy(
            () ->
                rows.add(
                    "two",
                    () -> {
                      throw new InterruptedException("ending");
                    }))
        .isInstanceOf(InterruptedException.class);
    assertThatThrownBy(
            () ->
                rows.add(
                    "two",
                    () -> {
                      Thread.currentThread().interrupt();
                      return failing();
                    }))
        .isInstanceOf(InterruptedException.class);
    assertThat(rows.failures()).isEmpty();
  }
}
