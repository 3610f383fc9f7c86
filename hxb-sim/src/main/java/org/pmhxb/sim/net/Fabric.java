package org.pmhxb.sim.net;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.router.Coordinates;
import org.pmhxb.router.RailLayout;
import org.pmhxb.router.Shape;
import org.pmhxb.sim.EventLog;
import org.pmhxb.sim.EventQueue;
import org.pmhxb.sim.fault.Fault;
import org.pmhxb.sim.fault.FaultKind;

/**
 * All cables and switches of the machine: one {@link Crossbar} per line and rail index. Owner: the
 * simulation's thread.
 */
public final class Fabric {
  /** Hears of what no correct node does. */
  public interface Watch {
    /** A frame's bytes changed between its acceptance by a port and its departure. */
    void frameRewritten(SimPort port, String frame);
  }

  private final Shape shape;
  private final RailLayout layout;
  private final List<LinkSpec> links;
  private final Trunk trunk;
  private final EventQueue queue;
  private final EventLog log;
  private final Watch watch;

  /** By rail and by line: the number of the line's node with coordinate 0. */
  private final Crossbar[][] crossbars;

  private final List<List<SimPort>> portsOfNode = new ArrayList<>();
  private final List<Fault> active = new ArrayList<>();

  long framesSent;
  long tailDrops;
  long unknownAddress;

  /**
   * @param links by dimension: lines of different dimensions may differ
   * @param trunk in the middle of one dimension's lines, or null
   */
  public Fabric(
      Shape shape,
      RailLayout layout,
      List<LinkSpec> links,
      Trunk trunk,
      EventQueue queue,
      EventLog log,
      Watch watch) {
    this.shape = shape;
    this.layout = layout;
    this.links = List.copyOf(links);
    this.trunk = trunk;
    this.queue = queue;
    this.log = log;
    this.watch = watch;
    this.crossbars = new Crossbar[layout.count()][shape.nodes()];
    for (int node = 0; node < shape.nodes(); node++) {
      portsOfNode.add(new ArrayList<>());
    }
  }

  long nowNs() {
    return queue.nowNs();
  }

  EventQueue queue() {
    return queue;
  }

  EventLog log() {
    return log;
  }

  Watch watch() {
    return watch;
  }

  public long framesSent() {
    return framesSent;
  }

  /** Frames that found a switch's queue full. */
  public long tailDrops() {
    return tailDrops;
  }

  public LinkSpec link(int dimension) {
    return links.get(dimension);
  }

  /** Plugs a node's rails in: its ports, in the order of rails. */
  public List<SimPort> connect(int node, BufferPool pool, SimPort.Host host) {
    List<SimPort> ports = new ArrayList<>();
    for (int rail = 0; rail < layout.count(); rail++) {
      int dimension = layout.dimension(rail);
      long mac = 0x0200_0000_0000L | (long) node << 8 | rail;
      SimPort port =
          new SimPort(
              this, node, dimension, layout.index(rail), mac, links.get(dimension), pool, host);
      port.plugInto(socket(node, rail));
      ports.add(port);
    }
    portsOfNode.set(node, ports);
    for (Fault fault : active) {
      if (fault.kind() == FaultKind.MISCABLING && fault.place().node() == node) {
        swap(fault);
      }
      ports.forEach(p -> beginAt(p, fault));
    }
    return ports;
  }

  /** The life of a node that had these ports is over. */
  public void disconnect(int node, List<SimPort> ports) {
    ports.forEach(SimPort::die);
    if (portsOfNode.get(node) == ports) {
      portsOfNode.set(node, List.of());
    }
  }

  private Crossbar.Socket socket(int node, int rail) {
    int dimension = layout.dimension(rail);
    Coordinates c = shape.coordinates(node);
    int line =
        shape.node(
            new Coordinates(
                dimension == 0 ? 0 : c.x(),
                dimension == 1 ? 0 : c.y(),
                dimension == 2 ? 0 : c.z()));
    Crossbar crossbar = crossbars[rail][line];
    if (crossbar == null) {
      Trunk between = trunk != null && trunk.dimension() == dimension ? trunk : null;
      crossbar = new Crossbar(this, links.get(dimension), shape.extent(dimension), between);
      crossbars[rail][line] = crossbar;
    }
    return crossbar.socket(c.get(dimension));
  }

  // --- faults -----------------------------------------------------------------------------------

  /** A fault of the wire, of ports, of cables or of the whole machine begins. */
  public void begin(Fault fault) {
    active.add(fault);
    if (fault.kind() == FaultKind.MISCABLING) {
      swap(fault);
    }
    portsOfNode.forEach(ports -> ports.forEach(p -> beginAt(p, fault)));
  }

  public void end(Fault fault) {
    active.remove(fault);
    if (fault.kind() == FaultKind.MISCABLING) {
      int node = fault.place().node();
      List<SimPort> ports = portsOfNode.get(node);
      for (int rail = 0; rail < ports.size(); rail++) {
        ports.get(rail).plugInto(socket(node, rail));
      }
    }
    portsOfNode.forEach(ports -> ports.forEach(p -> p.end(fault, nowNs())));
  }

  private static void beginAt(SimPort port, Fault fault) {
    FaultKind.Scope scope = fault.kind().scope();
    if ((scope == FaultKind.Scope.LINK || scope == FaultKind.Scope.PORT)
        && fault.place().covers(port.node, port.dimension, port.index)) {
      port.begin(fault);
    }
  }

  /** Two rails of a node exchange their cables. */
  private void swap(Fault fault) {
    List<SimPort> ports = portsOfNode.get(fault.place().node());
    if (ports.size() < 2) {
      return;
    }
    SplittableRandom random = new SplittableRandom(fault.seed());
    int a = random.nextInt(ports.size());
    int b = (a + 1 + random.nextInt(ports.size() - 1)) % ports.size();
    Crossbar.Socket socket = ports.get(a).socket();
    ports.get(a).plugInto(ports.get(b).socket());
    ports.get(b).plugInto(socket);
  }

  /** Whether a partition runs between two rails of one line. */
  boolean areSeparated(SimPort a, SimPort b) {
    for (int i = 0; i < active.size(); i++) {
      Fault fault = active.get(i);
      if (fault.kind() == FaultKind.PARTITION && fault.place().dimension() == a.dimension) {
        int d = a.dimension;
        boolean below = shape.coordinates(a.node).get(d) < fault.amount();
        if (below != shape.coordinates(b.node).get(d) < fault.amount()) {
          return true;
        }
      }
    }
    return false;
  }
}
