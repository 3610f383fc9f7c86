package org.pmhxb.cli.bench.peers;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import org.pmhxb.cli.bench.MachineInfo;
import org.pmhxb.cli.cluster.UsableCpus;

/**
 * dpdk-testpmd on our port types, one link: what the drivers do with no protocol above, so the
 * limit of what stands on them. Nothing is checked, and what does not fit is lost.
 */
final class TestpmdPeer implements Peer {
  /** Its name among the peers: it is the limit of the drivers, not one that does what ours do. */
  static final String NAME = "testpmd";

  private static final long START_MS = 1_500;

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String how() {
    return "dpdk-testpmd, frames without a protocol over net_af_packet (veth) or net_memif (shared"
        + " memory), the limit of these drivers: txonly to rxonly; half round trip: one frame that"
        + " both send back, the mean of a second";
  }

  @Override
  public Optional<String> missing() {
    return Foreign.installed("dpdk-testpmd")
        ? Optional.empty()
        : Optional.of("dpdk-testpmd is not installed");
  }

  @Override
  public String version() {
    return "DPDK " + MachineInfo.firstLine("pkg-config", "--modversion", "libdpdk");
  }

  @Override
  public boolean polls() {
    return true;
  }

  @Override
  public boolean supports(PeerCase what) {
    return what.medium() != PeerCase.Medium.SHAPED && !what.both();
  }

  @Override
  public PeerFigures run(PeerCase what, PeerSite site, Foreign programs, Times times)
      throws IOException, InterruptedException {
    String line = "hxbpeer" + ThreadLocalRandom.current().nextInt(1_000_000);
    // DPDK leaves files behind when it is ended, in /run without this.
    Map<String, String> environment = Map.of("RUNTIME_DIRECTORY", programs.scratch().toString());
    Foreign.Running receiver = programs.onB(site, environment, command(line, true, site, what));
    Thread.sleep(START_MS);
    programs.onA(site, environment, command(line, false, site, what));
    // Its rates are those of whole seconds, the first of which holds the start.
    programs.watch(START_MS + Math.round(1e3 * Math.max(2, times.measure())));
    double perSecond = Outputs.testpmd(receiver.text());
    return what.ping() ? PeerFigures.ping(1e6 / (2 * perSecond)) : PeerFigures.stream(perSecond);
  }

  /** Each has a processor for its frames and shares the other's for its set-up. */
  private static List<String> command(String line, boolean receiver, PeerSite site, PeerCase what) {
    List<String> command = new ArrayList<>(List.of("dpdk-testpmd"));
    UsableCpus cpus = UsableCpus.here();
    int own = cpus.inTurn(receiver ? 1 : 0);
    int others = cpus.inTurn(receiver ? 0 : 1);
    command.addAll(List.of("--lcores", "0@%d,1@%d".formatted(others, own)));
    command.addAll(List.of("--file-prefix", line + (receiver ? "r" : "t")));
    command.addAll(List.of("--no-huge", "-m", "256", "--no-pci", "--no-telemetry"));
    command.add("--vdev=" + port(line, receiver, site));
    command.addAll(List.of("--", "--stats-period=1", "--mbuf-size=17408"));
    command.addAll(List.of("--total-num-mbufs=2048", "--auto-start"));
    if (what.ping()) {
      command.addAll(List.of("--forward-mode=macswap", "--port-topology=loop", "--burst=1"));
    } else {
      command.add("--forward-mode=" + (receiver ? "rxonly" : "txonly"));
    }
    if (!receiver) {
      command.add("--txpkts=" + what.sizeBytes());
      if (what.ping()) {
        command.add("--tx-first");
      }
    }
    return command;
  }

  private static String port(String line, boolean receiver, PeerSite site) {
    return site.isLocal()
        ? "net_memif0,role="
            + (receiver ? "server" : "client")
            + ",socket-abstract=yes,socket="
            + line
            + ",bsize=16384"
        : "net_af_packet0,iface=x0,blocksz=16384,framesz=16384,framecnt=512,qdisc_bypass=1";
  }
}
