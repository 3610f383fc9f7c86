package org.pmhxb.cli.bench.peers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Cut from what the programs printed, in the versions of Debian 12. */
class OutputsTest {
  private static final String IPERF3 =
      """
      {"start":{"version":"iperf 3.12"},"intervals":[],
       "end":{"streams":[{}],
        "sum_sent":{"bytes":50000000,"bits_per_second":200000000.5,"retransmits":3,"sender":true},
        "sum_received":{"start":0,"end":2.0,"bytes":49613244,"bits_per_second":198325683.0,
         "sender":true},
        "cpu_utilization_percent":{"host_total":1.5,"remote_total":1.9}}}
      """;
  private static final String UCX =
      """
      [1795262002.664893] [hxba:31291:0] select.c:549  UCX  WARN  something
      iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr
      20000,5.316,17.602,17.602,3.47,3.47,56810,56811
      """;
  private static final String SOCKPERF_PING =
      """
      sockperf: Summary: Latency is 45.466 usec
      sockperf: ---> percentile 75.000 =    7.055
      sockperf: ---> percentile 50.000 =    4.887
      sockperf: ---> <MIN> observation =    4.361
      """;
  private static final String SOCKPERF_CLIENT =
      """
      sockperf: Total of 120238 messages sent in 1.002 sec
      sockperf: Summary: Message Rate is 119995 [msg/sec]
      """;
  private static final String SOCKPERF_SERVER =
      """
      sockperf: Test end (interrupted by user)
      sockperf: Total 81503 messages received and handled
      """;
  private static final String TESTPMD =
      """
        Rx-pps:            0          Rx-bps:            0
        Tx-pps:            0          Tx-bps:            0
        Rx-pps:        63033          Rx-bps:     32273952
        Rx-pps:        62650          Rx-bps:     32076928
      """;

  @Test
  void iperf3IsWhatArrived() throws IOException {
    assertThat(Outputs.iperf3(IPERF3)).isEqualTo(198325683.0 / 8);
    String both =
        IPERF3.replace("\"cpu_", "\"sum_received_bidir_reverse\":{\"bits_per_second\":8e6},\"cpu_");
    assertThat(Outputs.iperf3(both)).isEqualTo((198325683.0 + 8e6) / 8);
  }

  @Test
  void ownProgramsAreReadAmongALaunchersWords() throws IOException {
    String stream =
        "Warning: a launcher's\n{\"messagesPerSecond\":3000.5,\"cpuSeconds\":3.0,\"seconds\":2.0}\n";
    assertThat(Outputs.own("mpi", stream, false))
        .isEqualTo(PeerFigures.stream(3000.5).withProcessors(1.5));
    String bothWays = "{\"messagesPerSecond\":1}\n{\"messagesPerSecond\":2}\n";
    assertThat(Outputs.own("aeron", bothWays, false)).isEqualTo(PeerFigures.stream(3.0));
    String ping = "{\"messagesPerSecond\":9,\"minUs\":4.3,\"p50Us\":5.5,\"p99Us\":12}\n";
    assertThat(Outputs.own("mpi", ping, true)).isEqualTo(PeerFigures.ping(5.5));
    String nothing = "{\"messagesPerSecond\":0.000,\"cpuSeconds\":1.0,\"seconds\":1.0}\n";
    assertThat(Outputs.own("mpi", nothing, false).messagesPerSecond()).isZero();
  }

  @Test
  void ucxPrintsOneLineOfNumbers() throws IOException {
    assertThat(Outputs.ucx(UCX, true)).isEqualTo(PeerFigures.ping(5.316));
    assertThat(Outputs.ucx(UCX, false)).isEqualTo(PeerFigures.stream(56_811));
  }

  @Test
  void sockperfsRateIsWhatTheServerGotInTheClientsTime() throws IOException {
    assertThat(Outputs.sockperfPing(SOCKPERF_PING)).isEqualTo(4.887);
    assertThat(Outputs.sockperfReceived(SOCKPERF_CLIENT, SOCKPERF_SERVER))
        .isEqualTo(81_503 / 1.002);
  }

  @Test
  void testpmdsBestSecondCounts() throws IOException {
    assertThat(Outputs.testpmd(TESTPMD)).isEqualTo(63_033);
  }

  private static List<ThrowingCallable> readers(String text) {
    return List.of(
        () -> Outputs.iperf3(text),
        () -> Outputs.own("mpi_bench", text, false),
        () -> Outputs.own("mpi_bench", text, true),
        () -> Outputs.ucx(text, true),
        () -> Outputs.sockperfPing(text),
        () -> Outputs.sockperfReceived(text, text),
        () -> Outputs.testpmd(text));
  }

  @Test
  void whatAProgramSaysInsteadIsInTheMessage() {
    for (String text : List.of("error - unable to connect", "{\"error\":\"no route\"}", "")) {
      for (ThrowingCallable reader : readers(text)) {
        assertThatThrownBy(reader)
            .isInstanceOf(IOException.class)
            .hasMessageContaining("printed what is not understood")
            .hasMessageContaining(text);
      }
    }
  }

  @Property(tries = 300)
  void anyTextIsReadOrRefused(@ForAll String text) {
    for (ThrowingCallable reader : readers(text)) {
      try {
        reader.call();
      } catch (IOException refused) {
        assertThat(refused).hasMessageContaining("not understood");
      } catch (Throwable other) {
        throw new AssertionError("on " + text, other);
      }
    }
  }
}
