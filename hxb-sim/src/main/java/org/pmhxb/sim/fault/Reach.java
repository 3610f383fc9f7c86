package org.pmhxb.sim.fault;

import java.util.ArrayList;
import java.util.List;
import org.pmhxb.router.Coordinates;
import org.pmhxb.router.PathCode;
import org.pmhxb.router.Shape;

/**
 * Who can reach whom: frames go from line to line in any of the six orders of dimensions, over one
 * rail index, through relays that live. Where one of these ways is whole in each direction, nodes
 * must find them.
 */
public final class Reach {
  private final Shape shape;
  private final int rails;
  private final boolean[] deadNodes;
  private final List<Fault> deadLinks = new ArrayList<>();

  /** All nodes and links live. */
  public Reach(Shape shape, int rails) {
    this.shape = shape;
    this.rails = rails;
    this.deadNodes = new boolean[shape.nodes()];
  }

  /** A node is dead; below 0 all of them. */
  public void without(int node) {
    for (int n = 0; n < deadNodes.length; n++) {
      deadNodes[n] |= node < 0 || node == n;
    }
  }

  /** Nothing passes the links of a cut, a partition, or a link that holds its frames back. */
  public void withoutLinks(Fault fault) {
    deadLinks.add(fault);
  }

  /** Whether some way leads there, and some way back. */
  public boolean isJoined(int a, int b) {
    return leads(a, b) && leads(b, a);
  }

  private boolean leads(int from, int to) {
    for (int order = 0; order < PathCode.ORDERS; order++) {
      for (int rail = 0; rail < rails; rail++) {
        if (isWhole(order, rail, from, to)) {
          return true;
        }
      }
    }
    return false;
  }

  private boolean isWhole(int order, int rail, int from, int to) {
    int at = from;
    for (int place = 0; place < 3; place++) {
      int d = PathCode.dimension(order, place);
      int next = moved(at, d, to);
      if (next != at && !passes(at, next, d, rail)) {
        return false;
      }
      at = next;
    }
    return !deadNodes[from];
  }

  /** The node that has one coordinate of {@code to} and the others of {@code at}. */
  private int moved(int at, int dimension, int to) {
    Coordinates a = shape.coordinates(at);
    Coordinates b = shape.coordinates(to);
    return shape.node(
        new Coordinates(
            dimension == 0 ? b.x() : a.x(),
            dimension == 1 ? b.y() : a.y(),
            dimension == 2 ? b.z() : a.z()));
  }

  private boolean passes(int from, int to, int dimension, int rail) {
    if (deadNodes[to]) {
      return false;
    }
    for (Fault f : deadLinks) {
      boolean sends = f.place().covers(from, dimension, rail);
      boolean receives = f.place().covers(to, dimension, rail);
      boolean dead =
          switch (f.kind()) {
            case CUT_TX -> sends;
            case CUT_RX, SHORT_FRAMES_RX -> receives;
            case PARTITION -> f.place().dimension() == dimension && parts(f, from, to);
            default -> sends || receives;
          };
      if (dead) {
        return false;
      }
    }
    return true;
  }

  private boolean parts(Fault partition, int a, int b) {
    int d = partition.place().dimension();
    boolean below = shape.coordinates(a).get(d) < partition.amount();
    return below != shape.coordinates(b).get(d) < partition.amount();
  }
}
