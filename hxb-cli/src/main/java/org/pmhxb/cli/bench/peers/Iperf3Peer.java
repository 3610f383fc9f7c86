package org.pmhxb.cli.bench.peers;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.pmhxb.cli.bench.MachineInfo;

/** iperf3: one TCP stream per link, or one MPTCP connection over all links. A stream of bytes. */
final class Iperf3Peer implements Peer {
  private static final int PORT = 5_201;
  private static final long LISTEN_MS = 300;

  /** What was under way at its end counts as well: of one second that was seen to be 1 %. */
  private static final double LEAST_SECONDS = 2;

  private final boolean multipath;

  Iperf3Peer(boolean multipath) {
    this.multipath = multipath;
  }

  @Override
  public String name() {
    return multipath ? "mptcp" : "iperf3";
  }

  @Override
  public String how() {
    return multipath
        ? "one kernel MPTCP connection over all links (mptcpize run iperf3); bytes, not messages"
        : "one TCP stream per link (iperf3); bytes, not messages, and no order among links";
  }

  @Override
  public Optional<String> missing() {
    if (!Foreign.installed("iperf3")) {
      return Optional.of("iperf3 is not installed");
    }
    return multipath && !Foreign.installed("mptcpize")
        ? Optional.of("mptcpize is not installed")
        : Optional.empty();
  }

  @Override
  public String version() {
    return MachineInfo.firstLine("iperf3", "--version");
  }

  @Override
  public boolean polls() {
    return false;
  }

  @Override
  public boolean supports(PeerCase what) {
    return !what.ping() && what.medium() != PeerCase.Medium.SHARED_MEMORY;
  }

  @Override
  public PeerFigures run(PeerCase what, PeerSite site, Foreign programs, Times times)
      throws IOException, InterruptedException {
    int streams = multipath ? 1 : what.links();
    for (int i = 0; i < streams; i++) {
      programs.onB(site, Map.of(), command("-s", "-1", "-p", "" + (PORT + i)));
    }
    Thread.sleep(LISTEN_MS);
    List<Foreign.Running> clients = new ArrayList<>();
    for (int i = 0; i < streams; i++) {
      List<String> client = command("-c", site.addressB(i), "-p", "" + (PORT + i), "-J");
      client.addAll(List.of("-t", "" + Math.round(Math.max(LEAST_SECONDS, times.measure()))));
      client.addAll(List.of("-O", "" + Math.max(1, Math.round(times.warmUp()))));
      client.addAll(List.of("-l", "" + what.sizeBytes()));
      if (what.both()) {
        client.add("--bidir");
      }
      clients.add(programs.onA(site, Map.of(), client));
    }
    double bytesPerSecond = 0;
    for (Foreign.Running client : clients) {
      bytesPerSecond += Outputs.iperf3(programs.await(client, times.limit()));
    }
    return PeerFigures.stream(bytesPerSecond / what.sizeBytes());
  }

  private List<String> command(String... words) {
    List<String> command = new ArrayList<>();
    if (multipath) {
      command.addAll(List.of("mptcpize", "run"));
    }
    command.add("iperf3");
    command.addAll(List.of(words));
    return command;
  }
}
