package org.pmhxb.cli.bench.peers;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.pmhxb.cli.bench.MachineInfo;

/** sockperf: kernel sockets that are polled, over one link. */
final class SockperfPeer implements Peer {
  private static final int PORT = 11_111;
  private static final long LISTEN_MS = 300;
  private static final long INTERRUPT_SECONDS = 3;

  private final boolean tcp;

  SockperfPeer(boolean tcp) {
    this.tcp = tcp;
  }

  @Override
  public String name() {
    return tcp ? "sockperf-tcp" : "sockperf-udp";
  }

  @Override
  public String how() {
    return "sockperf, " + (tcp ? "TCP" : "UDP, unreliable") + ", polling non-blocking sockets";
  }

  @Override
  public Optional<String> missing() {
    return Foreign.installed("sockperf")
        ? Optional.empty()
        : Optional.of("sockperf is not installed");
  }

  @Override
  public String version() {
    return MachineInfo.firstLine("sockperf", "--version");
  }

  @Override
  public boolean polls() {
    return false;
  }

  @Override
  public boolean supports(PeerCase what) {
    return what.medium() == PeerCase.Medium.VETH;
  }

  @Override
  public PeerFigures run(PeerCase what, PeerSite site, Foreign programs, Times times)
      throws IOException, InterruptedException {
    Foreign.Running server = programs.onB(site, Map.of(), command("server", site, what.ping()));
    Thread.sleep(LISTEN_MS);
    List<String> client = command(what.ping() ? "ping-pong" : "throughput", site, what.ping());
    client.addAll(List.of("-m", "" + what.sizeBytes()));
    client.addAll(List.of("-t", "" + Math.max(1, Math.round(times.measure()))));
    String said = programs.await(programs.onA(site, Map.of(), client), times.limit());
    if (what.ping()) {
      return PeerFigures.ping(Outputs.sockperfPing(said));
    }
    String counted = programs.interrupt(server, INTERRUPT_SECONDS);
    return PeerFigures.stream(Outputs.sockperfReceived(said, counted));
  }

  private List<String> command(String mode, PeerSite site, boolean polling) {
    List<String> command = new ArrayList<>(List.of("sockperf", mode, "-i", site.addressB(0)));
    command.addAll(List.of("-p", "" + PORT));
    if (tcp) {
      command.add("--tcp");
    }
    if (polling) {
      command.add("--nonblocked");
    }
    return command;
  }
}
