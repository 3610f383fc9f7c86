package org.pmhxb.cli.veth;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * What a veth fabric consists of: one network namespace per node, a veth pair per rail between the
 * two nodes of a two-node line, and for each rail of a longer line a bridge in the cluster's switch
 * namespace with one port per node. Pure: it names things and writes the batches that {@code ip}
 * and {@code tc} read; {@link VethFabric} runs them.
 *
 * <p>Node (x, y, z) has the number x + X (y + Y z).
 */
public final class FabricPlan {
  /** Payload of the Ethernet frames, bytes: jumbo frames, as the paper's 8 KB messages need. */
  public static final int MTU_BYTES = 9_000;

  /** Most nodes of a fabric: each is a process of its own on one machine. */
  public static final int MAX_NODES = 64;

  public static final int MAX_RAILS = 9;

  private static final char[] DIMENSIONS = {'x', 'y', 'z'};
  private static final Pattern CLUSTER = Pattern.compile("[a-z][a-z0-9]{0,11}");

  private final String cluster;
  private final int[] extents;
  private final int[] rails;
  private final LinkRate rate;

  /** One end of a veth pair in a node's namespace. */
  public record Interface(int node, String namespace, String name, int dimension, int rail) {}

  /**
   * @param extents nodes per dimension, one to three entries of at least 1
   * @param rails links per node in each dimension, 1 to 9
   * @param rate raw rate of every link; null leaves the links unshaped
   */
  public FabricPlan(String cluster, int[] extents, int[] rails, LinkRate rate) {
    this.cluster = requireClusterName(cluster);
    if (extents.length < 1 || extents.length > 3 || rails.length != extents.length) {
      throw new IllegalArgumentException(
          "a shape has 1 to 3 dimensions and a rail count for each, given were "
              + extents.length
              + " and "
              + rails.length);
    }
    this.extents = new int[] {1, 1, 1};
    this.rails = new int[] {1, 1, 1};
    for (int d = 0; d < extents.length; d++) {
      if (extents[d] < 1) {
        throw new IllegalArgumentException("extent " + extents[d] + " of a dimension is below 1");
      }
      if (rails[d] < 1 || rails[d] > MAX_RAILS) {
        throw new IllegalArgumentException(rails[d] + " rails are outside 1 to " + MAX_RAILS);
      }
      this.extents[d] = extents[d];
      this.rails[d] = rails[d];
    }
    if ((long) this.extents[0] * this.extents[1] * this.extents[2] > MAX_NODES) {
      throw new IllegalArgumentException(
          "a veth fabric has at most "
              + MAX_NODES
              + " nodes, each is a process; use the ring fabric");
    }
    this.rate = rate;
  }

  /** Checks a cluster's name: it becomes part of namespace and directory names. */
  public static String requireClusterName(String name) {
    if (!CLUSTER.matcher(name).matches()) {
      throw new IllegalArgumentException(
          "cluster name '"
              + name
              + "': expected a letter, then at most 11 letters or digits, lower case");
    }
    return name;
  }

  public String cluster() {
    return cluster;
  }

  public int nodes() {
    return extents[0] * extents[1] * extents[2];
  }

  public Optional<LinkRate> rate() {
    return Optional.ofNullable(rate);
  }

  /** Coordinate of a node in dimension 0, 1 or 2. */
  public int coordinate(int node, int dimension) {
    int below = dimension == 0 ? 1 : dimension == 1 ? extents[0] : extents[0] * extents[1];
    return node / below % extents[dimension];
  }

  public String namespace(int node) {
    return prefix(cluster)
        + coordinate(node, 0)
        + "-"
        + coordinate(node, 1)
        + "-"
        + coordinate(node, 2);
  }

  /** What every namespace of a cluster begins with. */
  public static String prefix(String cluster) {
    return "hxb-" + cluster + "-";
  }

  public String switchNamespace() {
    return prefix(cluster) + "sw";
  }

  /** Namespaces of the nodes in node order, then the switch's if a line has more than two nodes. */
  public List<String> namespaces() {
    List<String> names = new ArrayList<>();
    for (int node = 0; node < nodes(); node++) {
      names.add(namespace(node));
    }
    if (hasSwitch()) {
      names.add(switchNamespace());
    }
    return names;
  }

  public boolean hasSwitch() {
    return extents[0] > 2 || extents[1] > 2 || extents[2] > 2;
  }

  /** Interfaces of one node, x0, x1, y0, ...: its rails in the order of the protocol. */
  public List<Interface> interfaces(int node) {
    List<Interface> list = new ArrayList<>();
    for (int d = 0; d < 3; d++) {
      for (int r = 0; extents[d] > 1 && r < rails[d]; r++) {
        list.add(new Interface(node, namespace(node), "" + DIMENSIONS[d] + r, d, r));
      }
    }
    return list;
  }

  /** Veth pairs of the whole fabric. */
  public int pairs() {
    int ends = 0;
    int pairs = 0;
    for (int d = 0; d < 3; d++) {
      int ofDimension = extents[d] > 1 ? nodes() * rails[d] : 0;
      if (extents[d] == 2) {
        ends += ofDimension;
      } else {
        pairs += ofDimension;
      }
    }
    return pairs + ends / 2;
  }

  /** For {@code ip -batch} in the host's namespace: all namespaces and veth pairs. */
  public String creationBatch() {
    StringBuilder batch = new StringBuilder();
    for (String namespace : namespaces()) {
      batch.append("netns add ").append(namespace).append('\n');
    }
    for (int node = 0; node < nodes(); node++) {
      for (Interface end : interfaces(node)) {
        if (extents[end.dimension()] == 2) {
          appendDirectPair(batch, end);
        } else {
          appendPair(batch, end, switchNamespace(), port(end), "");
        }
      }
    }
    return batch.toString();
  }

  private void appendDirectPair(StringBuilder batch, Interface end) {
    if (coordinate(end.node(), end.dimension()) == 0) {
      int below = end.dimension() == 0 ? 1 : extents[0] * (end.dimension() == 1 ? 1 : extents[1]);
      int other = end.node() + below;
      Interface peer =
          new Interface(other, namespace(other), end.name(), end.dimension(), end.rail());
      appendPair(batch, end, peer.namespace(), peer.name(), " address " + mac(peer));
    }
  }

  private static void appendPair(
      StringBuilder batch, Interface end, String namespace, String name, String address) {
    batch
        .append("link add name ")
        .append(end.name())
        .append(" address ")
        .append(mac(end))
        .append(" mtu " + MTU_BYTES + " netns ")
        .append(end.namespace())
        .append(" type veth peer name ")
        .append(name)
        .append(address)
        .append(" mtu " + MTU_BYTES + " netns ")
        .append(namespace)
        .append('\n');
  }

  /** Locally administered and readable in a capture: node, dimension and rail. */
  private static String mac(Interface end) {
    return String.format(
        "02:68:78:%02x:%02x:%x%x",
        end.node() >> 8, end.node() & 0xff, end.dimension() + 1, end.rail());
  }

  /** The switch's port for a node's interface; interface names have at most 15 characters. */
  private static String port(Interface end) {
    return "n" + end.node() + end.name();
  }

  /** One bridge per line and rail, named after the line's fixed coordinates. */
  private String bridge(Interface end) {
    StringBuilder name = new StringBuilder("b");
    name.append(end.name());
    for (int d = 0; d < 3; d++) {
      name.append('-').append(d == end.dimension() ? "" : "" + coordinate(end.node(), d));
    }
    return name.toString();
  }

  /** For {@code ip -batch} within each namespace: brings up what the namespace holds. */
  public Map<String, String> linkBatches() {
    Map<String, String> batches = new LinkedHashMap<>();
    for (int node = 0; node < nodes(); node++) {
      StringBuilder batch = new StringBuilder();
      interfaces(node).forEach(end -> appendUp(batch, end.name()));
      batches.put(namespace(node), batch.toString());
    }
    if (hasSwitch()) {
      batches.put(switchNamespace(), switchBatch());
    }
    return batches;
  }

  private String switchBatch() {
    StringBuilder batch = new StringBuilder();
    for (int node = 0; node < nodes(); node++) {
      for (Interface end : interfaces(node)) {
        if (extents[end.dimension()] == 2) {
          continue;
        }
        String bridge = bridge(end);
        if (coordinate(node, end.dimension()) == 0) {
          // A plain switch: no spanning tree (it would block ports for seconds), no snooping.
          batch
              .append("link add name ")
              .append(bridge)
              .append(" mtu " + MTU_BYTES + " type bridge stp_state 0 mcast_snooping 0\n");
          appendUp(batch, bridge);
        }
        batch.append("link set dev ").append(port(end)).append(" master ").append(bridge);
        batch.append('\n');
        appendUp(batch, port(end));
      }
    }
    return batch.toString();
  }

  /** No IPv6 address and no ARP: nothing but the protocol's own frames travels on a rail. */
  private static void appendUp(StringBuilder batch, String name) {
    batch.append("link set dev ").append(name).append(" arp off addrgenmode none up\n");
  }

  /** For {@code tc -batch} within each namespace; empty when the links are not shaped. */
  public Map<String, String> shapingBatches() {
    Map<String, StringBuilder> batches = new LinkedHashMap<>();
    if (rate == null) {
      return Map.of();
    }
    for (int node = 0; node < nodes(); node++) {
      for (Interface end : interfaces(node)) {
        appendShaping(batches, end.namespace(), end.name());
        if (extents[end.dimension()] > 2) {
          // The switch's output is a link too: without this, several senders would sum up in it.
          appendShaping(batches, switchNamespace(), port(end));
        }
      }
    }
    Map<String, String> texts = new LinkedHashMap<>();
    batches.forEach((namespace, text) -> texts.put(namespace, text.toString()));
    return texts;
  }

  private void appendShaping(Map<String, StringBuilder> batches, String namespace, String name) {
    batches
        .computeIfAbsent(namespace, any -> new StringBuilder())
        .append("qdisc add dev ")
        .append(name)
        .append(" root tbf rate ")
        .append(rate.bitsPerSecond())
        .append("bit burst ")
        .append(burstBytes(rate))
        .append("b limit ")
        .append(QUEUE_BYTES)
        .append("b\n");
  }

  /**
   * Bytes that wait before a link at most. Above the kernel's default socket send buffer (208 KB),
   * so that a sender is held back there and nothing is dropped unseen on its own queue; a switch
   * port that is sent more than its rate drops beyond this, as a real one does.
   */
  public static final int QUEUE_BYTES = 512 * 1024;

  /**
   * The token bucket's depth in bytes: what a link may catch up after its timer came late. Measured
   * with 8,256-byte frames on two busy cores: 12 KB loses 2 % at 200 Mbit/s and 36 KB loses 11 % at
   * 1 Gbit/s, 2.5 ms worth of bytes loses 1 to 2 %. It adds nothing to a measurement that starts
   * under load, when the bucket is empty.
   */
  public static int burstBytes(LinkRate rate) {
    long bytes = rate.bitsPerSecond() / 8 / 400;
    return (int) Math.clamp(bytes, 64L * 1024, 1024L * 1024);
  }
}
