package org.pmhxb.cli.bench.peers;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.pmhxb.cli.bench.MachineInfo;
import org.pmhxb.cli.veth.LinkRate;

/** UCX by its own ucx_perftest: tagged messages over TCP, or over shared memory. */
final class UcxPeer implements Peer {
  private static final int PORT = 13_337;
  private static final long LISTEN_MS = 300;

  /** Messages, bytes and round trips a second that size the runs without links of a known rate. */
  private static final double SMALL_RATE = 0.3e6;

  private static final double BYTE_RATE = 0.4e9;
  private static final double TRIP_RATE = 4e4;
  private static final double LOCAL_SMALL_RATE = 8e6;
  private static final double LOCAL_BYTE_RATE = 4e9;
  private static final double LOCAL_TRIP_RATE = 1e6;

  /**
   * What lies in the sockets of shaped links when the last message counts as sent, which
   * ucx_perftest does not wait for: 1.0 to 1.3 MB were seen. So many times that are sent at least.
   */
  private static final double IN_SOCKETS_BYTES = 1e6;

  private static final int SOCKETS_TIMES = 100;

  private final LinkRate rate;

  /**
   * @param rate of shaped links: ucx_perftest counts messages, not seconds
   */
  UcxPeer(LinkRate rate) {
    this.rate = rate;
  }

  /** UCX over the links' interfaces, and as many rails as there are links. */
  static Map<String, String> overLinks(PeerSite site) {
    String rails = "" + site.links();
    return Map.of(
        "UCX_TLS",
        "tcp,self",
        "UCX_NET_DEVICES",
        site.interfaces(),
        "UCX_MAX_EAGER_RAILS",
        rails,
        "UCX_MAX_RNDV_RAILS",
        rails,
        "UCX_WARN_UNUSED_ENV_VARS",
        "n");
  }

  @Override
  public String name() {
    return "ucx";
  }

  @Override
  public String how() {
    return "UCX tagged messages (ucx_perftest tag_bw, tag_lat) over tcp, as many rails as links;"
        + " both ways: two pairs; shared memory: posix, sysv. It counts where messages are sent, and"
        + " does not wait for what lies in sockets then: up to 1 % too much over shaped links";
  }

  @Override
  public Optional<String> missing() {
    return Foreign.installed("ucx_perftest")
        ? Optional.empty()
        : Optional.of("ucx_perftest is not installed");
  }

  @Override
  public String version() {
    return MachineInfo.firstLine("ucx_info", "-v").replaceAll("^#\\s*", "UCX ");
  }

  @Override
  public boolean polls() {
    return true;
  }

  @Override
  public boolean supports(PeerCase what) {
    return true;
  }

  @Override
  public PeerFigures run(PeerCase what, PeerSite site, Foreign programs, Times times)
      throws IOException, InterruptedException {
    Map<String, String> environment =
        site.isLocal() ? Map.of("UCX_TLS", "posix,sysv,self") : overLinks(site);
    int pairs = what.both() ? 2 : 1;
    for (int pair = 0; pair < pairs; pair++) {
      List<String> server = List.of("ucx_perftest", "-p", "" + (PORT + pair));
      if (pair == 0) {
        programs.onB(site, environment, server);
      } else {
        programs.onA(site, environment, server);
      }
    }
    Thread.sleep(LISTEN_MS);
    List<Foreign.Running> clients = new ArrayList<>();
    for (int pair = 0; pair < pairs; pair++) {
      String to = pair == 0 ? site.controlB() : site.controlB().replaceAll("2$", "1");
      List<String> client = client(what, to, PORT + pair, site, times);
      clients.add(
          pair == 0
              ? programs.onA(site, environment, client)
              : programs.onB(site, environment, client));
    }
    double perSecond = 0;
    PeerFigures last = null;
    for (Foreign.Running running : clients) {
      last = Outputs.ucx(programs.await(running, limitSeconds(what, times)), what.ping());
      perSecond += last.messagesPerSecond() == null ? 0 : last.messagesPerSecond();
    }
    return what.ping() ? last : PeerFigures.stream(perSecond);
  }

  /** Where it uses one link of many it takes that many times as long. */
  long limitSeconds(PeerCase what, Times times) {
    double sending = isBounded(what) ? leastMessages(what) * what.sizeBytes() : 0;
    return times.limit() + 10L * what.links() + Math.round(2 * sending / rate.bytesPerSecond());
  }

  private static boolean isBounded(PeerCase what) {
    return what.medium() == PeerCase.Medium.SHAPED && !what.ping();
  }

  private static double leastMessages(PeerCase what) {
    return isBounded(what) ? SOCKETS_TIMES * IN_SOCKETS_BYTES / what.sizeBytes() : 20;
  }

  private List<String> client(PeerCase what, String to, int port, PeerSite site, Times times) {
    List<String> command = new ArrayList<>(List.of("ucx_perftest", to, "-p", "" + port));
    long least = Math.round(leastMessages(what));
    long count = Math.max(least, Math.round(perSecond(what, site) * times.measure()));
    command.addAll(List.of("-t", what.ping() ? "tag_lat" : "tag_bw", "-f", "-v"));
    command.addAll(List.of("-s", "" + what.sizeBytes(), "-n", "" + count));
    command.addAll(List.of("-w", "" + Math.max(4, count / 10)));
    return command;
  }

  /** About what it will do: of shaped links two, which is what it was seen to use at most. */
  private double perSecond(PeerCase what, PeerSite site) {
    if (what.medium() == PeerCase.Medium.SHAPED) {
      return Math.min(2, what.links()) * rate.bytesPerSecond() / what.sizeBytes();
    }
    if (what.ping()) {
      return site.isLocal() ? LOCAL_TRIP_RATE : TRIP_RATE;
    }
    return site.isLocal()
        ? Math.min(LOCAL_SMALL_RATE, LOCAL_BYTE_RATE / what.sizeBytes())
        : Math.min(SMALL_RATE, BYTE_RATE / what.sizeBytes());
  }
}
