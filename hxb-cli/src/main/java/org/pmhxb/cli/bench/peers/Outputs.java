package org.pmhxb.cli.bench.peers;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads what the peers' programs print. Each method refuses what it does not understand. */
final class Outputs {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final Pattern SOCKPERF_P50 =
      Pattern.compile("percentile 50\\.000\\s*=\\s*([0-9.]+)");
  private static final Pattern SOCKPERF_SENT =
      Pattern.compile("Total of [0-9]+ messages sent in ([0-9.]+) sec");
  private static final Pattern SOCKPERF_RECEIVED =
      Pattern.compile("Total ([0-9]+) messages received");
  private static final Pattern TESTPMD_RX = Pattern.compile("Rx-pps:\\s*([0-9]+)");

  private Outputs() {}

  private static IOException odd(String program, String text) {
    String all = text.strip();
    return new IOException(
        program
            + " printed what is not understood: "
            + all.substring(0, Math.min(400, all.length())));
  }

  /**
   * iperf3 --json, version 3.12: bytes per second that arrived, with --bidir both ways added up.
   */
  static double iperf3(String text) throws IOException {
    JsonNode end;
    try {
      end = MAPPER.readTree(text).path("end");
    } catch (JsonProcessingException e) {
      throw odd("iperf3", text);
    }
    double bits = 0;
    for (String direction : List.of("sum_received", "sum_received_bidir_reverse")) {
      bits += end.path(direction).path("bits_per_second").asDouble();
    }
    if (!(bits > 0)) {
      throw odd("iperf3", text);
    }
    return bits / 8;
  }

  /** The JSON objects of our own programs, among whatever else a launcher prints. */
  private static List<JsonNode> objects(String program, String text) throws IOException {
    List<JsonNode> objects = new ArrayList<>();
    for (String line : text.split("\n")) {
      if (line.startsWith("{")) {
        try {
          objects.add(MAPPER.readTree(line));
        } catch (JsonProcessingException e) {
          throw odd(program, line);
        }
      }
    }
    if (objects.isEmpty()) {
      throw odd(program, text);
    }
    return objects;
  }

  /**
   * mpi_bench and AeronBench: a stream's rates added up, or the half round trip; also 0, where
   * nothing came.
   */
  static PeerFigures own(String program, String text, boolean ping) throws IOException {
    double rate = 0;
    double half = 0;
    boolean told = false;
    Double processors = null;
    for (JsonNode object : objects(program, text)) {
      told |= object.path(ping ? "p50Us" : "messagesPerSecond").isNumber();
      rate += object.path("messagesPerSecond").asDouble();
      half = object.path("p50Us").asDouble();
      if (object.has("cpuSeconds")) {
        processors = object.path("cpuSeconds").asDouble() / object.path("seconds").asDouble();
      }
    }
    if (!told) {
      throw odd(program, text);
    }
    PeerFigures figures = ping ? PeerFigures.ping(half) : PeerFigures.stream(rate);
    return figures.withProcessors(processors);
  }

  /**
   * ucx_perftest -f -v, version 1.13: iterations, 50 % latency, average and overall latency (us),
   * average and overall bandwidth (MB/s), average and overall message rate.
   */
  static PeerFigures ucx(String text, boolean ping) throws IOException {
    for (String line : text.split("\n")) {
      String[] fields = line.strip().split(",");
      if (fields.length == 8 && fields[0].matches("[0-9]+")) {
        return ping
            ? PeerFigures.ping(Double.parseDouble(fields[1]))
            : PeerFigures.stream(Double.parseDouble(fields[7]));
      }
    }
    throw odd("ucx_perftest", text);
  }

  /** sockperf ping-pong, version 3.7: half round trip at the median, us. */
  static double sockperfPing(String text) throws IOException {
    Matcher matcher = SOCKPERF_P50.matcher(text);
    if (!matcher.find()) {
      throw odd("sockperf", text);
    }
    return Double.parseDouble(matcher.group(1));
  }

  /**
   * sockperf throughput: messages per second that arrived. The client knows only what it sent.
   *
   * @param server what it printed after an interrupt
   */
  static double sockperfReceived(String client, String server) throws IOException {
    Matcher sent = SOCKPERF_SENT.matcher(client);
    Matcher received = SOCKPERF_RECEIVED.matcher(server);
    if (!sent.find() || !received.find()) {
      throw odd("sockperf", client + server);
    }
    return Double.parseDouble(received.group(1)) / Double.parseDouble(sent.group(1));
  }

  /** dpdk-testpmd --stats-period 1, receiving side: the best full second, packets. */
  static double testpmd(String text) throws IOException {
    Matcher matcher = TESTPMD_RX.matcher(text);
    double most = 0;
    while (matcher.find()) {
      most = Math.max(most, Double.parseDouble(matcher.group(1)));
    }
    if (!(most > 0)) {
      throw odd("dpdk-testpmd", text);
    }
    return most;
  }
}
