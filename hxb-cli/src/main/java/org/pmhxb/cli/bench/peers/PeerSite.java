package org.pmhxb.cli.bench.peers;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.pmhxb.cli.veth.VethFabric;

/**
 * The two ends between which peers run: the namespaces of a cluster whose nodes have ended, with
 * addresses on its links. Link {@code i} is the network {@code 10.77.i.0/24}, side A has {@code .1}
 * on it and side B {@code .2}. A further link, {@code m0} with {@code 10.78.0.0/24}, is for
 * launchers' own talk: it carries nothing that is measured. Empty namespaces stand for this
 * machine's own, for shared memory.
 *
 * @param a name of side A's namespace
 */
record PeerSite(String a, String b, int links) {
  /** Host names of the two sides, which launchers of MPI call. */
  static final String HOST_A = "hxba";

  static final String HOST_B = "hxbb";

  private static final String CONTROL = "m0";

  /** Longer than the kernel takes until it uses fresh addresses; UCX asks only once. */
  private static final long SETTLE_MS = 500;

  /** Both sides on this machine without a network. */
  static PeerSite local() {
    return new PeerSite("", "", 0);
  }

  /** Gives the links of two namespaces addresses. */
  static PeerSite setUp(String a, String b, int links) throws InterruptedException {
    PeerSite site = new PeerSite(a, b, links);
    VethFabric.join(a, b, CONTROL);
    VethFabric.configure(a, site.configuration(1));
    VethFabric.configure(b, site.configuration(2));
    Thread.sleep(SETTLE_MS);
    return site;
  }

  private List<String> configuration(int side) {
    List<String> lines = new ArrayList<>();
    lines.add("link set dev lo up");
    lines.add("addr add 10.78.0." + side + "/24 dev " + CONTROL);
    lines.add("link set dev " + CONTROL + " up");
    lines.add("mptcp limits set add_addr_accepted 8 subflows 8");
    for (int link = 0; link < links; link++) {
      lines.add("link set dev x" + link + " arp on");
      lines.add("addr add 10.77." + link + "." + side + "/24 dev x" + link);
      if (side == 2 && link > 0) {
        // Side A connects to the first; what is signalled here it adds as further subflows.
        lines.add("mptcp endpoint add 10.77." + link + ".2 dev x" + link + " signal");
      }
    }
    return lines;
  }

  boolean isLocal() {
    return a.isEmpty();
  }

  /** Side A's address on a link. */
  String addressA(int link) {
    return isLocal() ? "127.0.0.1" : "10.77." + link + ".1";
  }

  String addressB(int link) {
    return isLocal() ? "127.0.0.1" : "10.77." + link + ".2";
  }

  /** Side B's address for launchers. */
  String controlB() {
    return isLocal() ? "127.0.0.1" : "10.78.0.2";
  }

  static String controlInterface() {
    return CONTROL;
  }

  /** Names of the links' interfaces: x0,x1,... */
  String interfaces() {
    return IntStream.range(0, links).mapToObj(i -> "x" + i).collect(Collectors.joining(","));
  }

  /** What {@code in-namespace.sh} has to know. */
  Map<String, String> environment() {
    return isLocal() ? Map.of() : Map.of("HXB_NETNS_" + HOST_A, a, "HXB_NETNS_" + HOST_B, b);
  }
}
