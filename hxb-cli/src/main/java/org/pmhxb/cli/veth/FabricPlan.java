package org.pmhxb.cli.veth;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.pmhxb.router.Coordinates;
import org.pmhxb.router.RailLayout;
import org.pmhxb.router.Shape;

/**
 * What a veth fabric consists of: one network namespace per node, a veth pair per rail between the
 * two nodes of a two-node line, and for each rail of a longer line a bridge in the cluster's switch
 * namespace with one port per node. Pure: it names things and writes the batches that {@code ip}
 * and {@code tc} read; {@link VethFabric} runs them.
 */
public final class FabricPlan {
  /** Payload of the Ethernet frames, bytes: jumbo frames, as the paper's 8 KB messages need. */
  public static final int MTU_BYTES = 9_000;

  /** Most nodes of a fabric: each is a process of its own on one machine. */
  public static final int MAX_NODES = 64;

  private static final boolean HAS_IPV6 = Files.exists(Path.of("/proc/sys/net/ipv6"));

  private static final Pattern CLUSTER = Pattern.compile("[a-z][a-z0-9]{0,11}");

  private final String cluster;
  private final Shape shape;
  private final RailLayout layout;
  private final LinkRate rate;

  /** One end of a veth pair in a node's namespace. */
  public record Interface(int node, String namespace, String name, int dimension, int rail) {}

  /**
   * @param rails links per node in each dimension of extent 2 or more, 1 to 9
   * @param rate raw rate of every link; null leaves the links unshaped
   */
  public FabricPlan(String cluster, Shape shape, int rails, LinkRate rate) {
    requireFits(shape);
    this.cluster = requireClusterName(cluster);
    this.shape = shape;
    this.layout = new RailLayout(shape, rails);
    this.rate = rate;
  }

  /**
   * @throws IllegalArgumentException the shape has more nodes than a veth fabric of one machine
   */
  public static void requireFits(Shape shape) {
    if (shape.nodes() > MAX_NODES) {
      throw new IllegalArgumentException(
          "--shape is "
              + shape
              + ", which has "
              + shape.nodes()
              + " nodes; a veth fabric has at most "
              + MAX_NODES
              + ", each is a process");
    }
  }

  /** Checks a cluster's name: it becomes part of namespace and directory names. */
  public static String requireClusterName(String name) {
    if (!CLUSTER.matcher(name).matches()) {
      throw new IllegalArgumentException(
          "--cluster is \""
              + name
              + "\"; must be a letter, then up to 11 letters or digits, lower case");
    }
    return name;
  }

  public String cluster() {
    return cluster;
  }

  public int nodes() {
    return shape.nodes();
  }

  public Optional<LinkRate> rate() {
    return Optional.ofNullable(rate);
  }

  public String namespace(int node) {
    Coordinates c = shape.coordinates(node);
    return prefix(cluster) + c.x() + "-" + c.y() + "-" + c.z();
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
    return shape.extent(0) > 2 || shape.extent(1) > 2 || shape.extent(2) > 2;
  }

  /** Interfaces of one node, x0, x1, y0, ...: its rails in the order of the protocol. */
  public List<Interface> interfaces(int node) {
    List<Interface> list = new ArrayList<>();
    for (int rail = 0; rail < layout.count(); rail++) {
      list.add(
          new Interface(
              node,
              namespace(node),
              layout.name(rail),
              layout.dimension(rail),
              layout.index(rail)));
    }
    return list;
  }

  /** Veth pairs of the whole fabric. */
  public int pairs() {
    int ends = 0;
    for (int rail = 0; rail < layout.count(); rail++) {
      // A pair joins two nodes, or one node and the switch.
      ends += shape.extent(layout.dimension(rail)) == 2 ? nodes() : 2 * nodes();
    }
    return ends / 2;
  }

  /** For {@code ip -batch} in the host's namespace: all namespaces and veth pairs. */
  public String creationBatch() {
    StringBuilder batch = new StringBuilder();
    for (String namespace : namespaces()) {
      batch.append("netns add ").append(namespace).append('\n');
    }
    for (int node = 0; node < nodes(); node++) {
      for (Interface end : interfaces(node)) {
        if (shape.extent(end.dimension()) == 2) {
          appendDirectPair(batch, end);
        } else {
          appendPair(batch, end, switchNamespace(), port(end), "");
        }
      }
    }
    return batch.toString();
  }

  private void appendDirectPair(StringBuilder batch, Interface end) {
    Coordinates c = shape.coordinates(end.node());
    if (c.get(end.dimension()) == 0) {
      int other =
          switch (end.dimension()) {
            case 0 -> shape.node(new Coordinates(1, c.y(), c.z()));
            case 1 -> shape.node(new Coordinates(c.x(), 1, c.z()));
            default -> shape.node(new Coordinates(c.x(), c.y(), 1));
          };
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
    Coordinates c = shape.coordinates(end.node());
    StringBuilder name = new StringBuilder("b").append(end.name());
    for (int d = 0; d < 3; d++) {
      name.append('-').append(d == end.dimension() ? "" : "" + c.get(d));
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
        if (shape.extent(end.dimension()) == 2) {
          continue;
        }
        String bridge = bridge(end);
        if (shape.coordinates(node).get(end.dimension()) == 0) {
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
  static void appendUp(StringBuilder batch, String name) {
    appendUp(batch, name, HAS_IPV6);
  }

  /**
   * @param ipv6 whether the kernel has IPv6; one that has not refuses to be told of its addresses
   */
  static void appendUp(StringBuilder batch, String name, boolean ipv6) {
    batch.append("link set dev ").append(name).append(" arp off");
    batch.append(ipv6 ? " addrgenmode none up\n" : " up\n");
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
        if (shape.extent(end.dimension()) > 2) {
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
    appendShaping(batches.computeIfAbsent(namespace, any -> new StringBuilder()), name, rate);
  }

  /** What {@code tc} is to be told of a new interface. */
  static void appendShaping(StringBuilder batch, String name, LinkRate rate) {
    batch.append("qdisc add dev ").append(name).append(" root ").append(tbf(rate)).append('\n');
  }

  /** What {@code tc} is to be told so that an interface sends through another queue. */
  static String queue(String name, String discipline) {
    return "qdisc replace dev " + name + " root " + discipline + "\n";
  }

  /** A shaped link's queue, as {@code tc} reads it. */
  static String tbf(LinkRate rate) {
    return "tbf rate %dbit burst %db limit %db"
        .formatted(rate.bitsPerSecond(), burstBytes(rate), QUEUE_BYTES);
  }

  /**
   * Bytes that wait before a link at most. Above the kernel's default socket send buffer (208 KB),
   * so that a sender is held back there and nothing is dropped unseen on its own queue; a switch
   * port that is sent more than its rate drops beyond this, as a real one does.
   */
  public static final int QUEUE_BYTES = 512 * 1024;

  /**
   * The token bucket's depth in bytes: what a link may catch up after its timer came late. Measured
   * with 8,256-byte frames, two nodes and two busy cores at 1 Gbit/s: 36 KB gave 89 to 90 % of the
   * rate, 256 KB 97 to 98 %; at 200 Mbit/s 12 KB and 64 KB gave the same. It adds nothing to a
   * measurement that starts under load, when the bucket is empty.
   */
  public static int burstBytes(LinkRate rate) {
    long bytes = rate.bitsPerSecond() / 8 / 400;
    return (int) Math.clamp(bytes, 64L * 1024, 1024L * 1024);
  }
}
