package org.pmhxb.sim;

import java.util.List;
import org.pmhxb.pm.wire.FrameHeader;
import org.pmhxb.router.Coordinates;
import org.pmhxb.router.Shape;
import org.pmhxb.sim.net.LinkSpec;

/**
 * What a network without faults, acknowledgements and waiting would need: every message in full
 * frames on its way X, Y, Z, spread evenly over the rails, and the busiest rail decides.
 */
final class Ideal {
  private Ideal() {}

  static long timeNs(Simulation simulation, List<Flow> flows) {
    SimOptions options = simulation.options();
    Shape shape = options.shape();
    int payload = options.node().config(1, 1).maxPayloadBytes();
    // By node, dimension and direction.
    double[][] busyNs = new double[shape.nodes()][6];
    long latencyNs = 0;
    for (Flow flow : flows) {
      Coordinates at = shape.coordinates(flow.src);
      Coordinates end = shape.coordinates(flow.dst);
      long pathNs = 0;
      for (int d = 0; d < 3; d++) {
        if (at.get(d) != end.get(d)) {
          LinkSpec link = options.links().get(d);
          double sendNs = (double) sendNs(flow, link, payload) / options.rails();
          busyNs[shape.node(at)][d] += sendNs;
          at = new Coordinates(end.x(), d > 0 ? end.y() : at.y(), d > 1 ? end.z() : at.z());
          busyNs[shape.node(at)][3 + d] += sendNs;
          pathNs += link.latencyNs();
        }
      }
      latencyNs = Math.max(latencyNs, pathNs);
    }
    double busiestNs = 0;
    for (double[] ofNode : busyNs) {
      for (double ns : ofNode) {
        busiestNs = Math.max(busiestNs, ns);
      }
    }
    return latencyNs + (long) busiestNs;
  }

  private static long sendNs(Flow flow, LinkSpec link, int payload) {
    long sum = 0;
    for (int n = 0; n < flow.begun(); n++) {
      int length = flow.length(n);
      if (flow.state(n) == Flow.DELIVERED) {
        sum += length / payload * link.sendNs(payload + FrameHeader.BYTES);
        sum += length % payload == 0 ? 0 : link.sendNs(length % payload + FrameHeader.BYTES);
      }
    }
    return sum;
  }
}
