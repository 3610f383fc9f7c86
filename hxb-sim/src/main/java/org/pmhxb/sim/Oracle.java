package org.pmhxb.sim;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.pmhxb.pm.DownReason;
import org.pmhxb.pm.DropReason;
import org.pmhxb.pm.Message;
import org.pmhxb.pm.PmEndpoint;
import org.pmhxb.sim.work.Host;

/**
 * Knows what was sent and judges what arrives: per channel exactly once, in order and intact,
 * unless the session's end was reported; nothing of a session after its end; no end without a
 * cause, nor of what the peer had just offered, and one in time when a peer died. Owner: the
 * simulation's thread.
 */
public final class Oracle {
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;

  private record Channel(int src, int srcEndpoint, int dst, int dstEndpoint) {}

  private record Place(int node, int endpoint) {}

  private record Receiver(int node, int life, int endpoint) {}

  private record Source(int node, int life, int endpoint, int src) {}

  /** A session as one of its two nodes has it. */
  private record Side(int node, int peer, int session) {}

  /** Which of its node's lives a session was up in, and which of the peer's that was. */
  private record Lives(int own, int ofPeer) {}

  private final Simulation simulation;
  private final Map<Channel, List<Flow>> byChannel = new HashMap<>();
  private final List<Flow> flows = new ArrayList<>();
  private final Map<Integer, List<Flow>> bySource = new HashMap<>();
  private final Map<Receiver, Set<Long>> endsSeen = new HashMap<>();

  /** The session of the last message that told it, unless an end was told since. */
  private final Map<Source, Integer> lastSession = new HashMap<>();

  /** Endpoints that were closed and are not open again. */
  private final Set<Place> closed = new HashSet<>();

  /** Sessions that were ever up. */
  private final Map<Side, Lives> everUp = new HashMap<>();

  private int firstUnsettled;
  private long delivered;
  private long deliveredBytes;
  private int peerDowns;
  private boolean over;

  Oracle(Simulation simulation) {
    this.simulation = simulation;
  }

  // --- programs ---------------------------------------------------------------------------------

  /** Registers what a node's program is going to send from one endpoint to another. */
  public Flow flow(Host from, PmEndpoint endpoint, int dst, int dstEndpoint) {
    Flow flow = flow(from, endpoint.number(), dst, dstEndpoint);
    flow.sentBy(endpoint);
    return flow;
  }

  /** The same of an endpoint that is not open yet. */
  public Flow flow(Host from, int srcEndpoint, int dst, int dstEndpoint) {
    Flow flow = new Flow(from.self(), srcEndpoint, dst, dstEndpoint, from.life());
    if (closed.contains(new Place(dst, dstEndpoint))) {
      flow.receiverCloses();
    }
    if (simulation.isUnreachable(from.self(), dst)) {
      flow.abandon();
    }
    flows.add(flow);
    bySource.computeIfAbsent(from.self(), n -> new ArrayList<>()).add(flow);
    byChannel
        .computeIfAbsent(
            new Channel(from.self(), srcEndpoint, dst, dstEndpoint), c -> new ArrayList<>())
        .add(flow);
    return flow;
  }

  /** An endpoint is about to be closed: what was and is sent to it may be lost. */
  public void closed(Host at, int endpoint) {
    closed.add(new Place(at.self(), endpoint));
    lastSession.keySet().removeIf(s -> s.node() == at.self() && s.endpoint() == endpoint);
    to(at.self(), endpoint).forEach(Flow::receiverCloses);
  }

  /** An endpoint was opened: what is sent to it from now on must arrive. */
  public void opened(Host at, int endpoint) {
    closed.remove(new Place(at.self(), endpoint));
    to(at.self(), endpoint).forEach(Flow::receiverOpens);
  }

  /** Whether a node had no credit left for who asked. */
  public boolean hasRefusedCredit(int node) {
    return simulation.dropped(node, DropReason.CREDIT_EXHAUSTED) > 0;
  }

  private Stream<Flow> to(int node, int endpoint) {
    return flows.stream().filter(f -> f.dst == node && f.dstEndpoint == endpoint);
  }

  /** A message, or a part of one, reached a program. Returns its flow, or null if it has none. */
  public Flow received(Host at, int endpoint, Message m) {
    List<Flow> lives =
        byChannel.get(new Channel(m.source(), m.sourceEndpoint(), at.self(), endpoint));
    if (lives == null) {
      corrupt(m.source(), at.self(), "message from nowhere, endpoint " + m.sourceEndpoint());
      return null;
    }
    if (m.fragmentOffsetBytes() > 0) {
      return goesOn(lives, m);
    }
    return begins(at, endpoint, lives, m);
  }

  /** The life of the source that spoke last. */
  private static Flow current(List<Flow> lives) {
    Flow current = lives.getFirst();
    for (Flow flow : lives) {
      if (flow.next > 0 || flow.offset > 0) {
        current = flow;
      }
    }
    return current;
  }

  private Flow goesOn(List<Flow> lives, Message m) {
    Flow flow = current(lives);
    int number = flow.next;
    if (!isNext(flow, m) || !holds(flow, m)) {
      for (Flow f : lives) {
        if (f.life >= flow.life && tears(f, m)) {
          take(f, f.next, m);
          return f;
        }
      }
    }
    if (!isNext(flow, m)) {
      violation(
          Violation.Kind.MISORDERED,
          flow,
          "part at "
              + m.fragmentOffsetBytes()
              + " where "
              + flow.offset
              + " was next of message "
              + number);
      return null;
    }
    take(flow, number, m);
    return flow;
  }

  private static boolean isNext(Flow flow, Message m) {
    return flow.next < flow.begun()
        && m.fragmentOffsetBytes() == flow.offset
        && m.messageLengthBytes() == flow.length(flow.next);
  }

  private static boolean holds(Flow flow, Message m) {
    return flow.holds(m.memory(), m.offset(), flow.next, flow.offset, m.lengthBytes());
  }

  private static boolean tears(Flow flow, Message m) {
    return flow.tears(
        m.memory(), m.offset(), m.fragmentOffsetBytes(), m.lengthBytes(), m.messageLengthBytes());
  }

  private Flow begins(Host at, int endpoint, List<Flow> lives, Message m) {
    Flow flow = current(lives);
    int number;
    if (m.messageLengthBytes() >= Flow.TOLD_BYTES && m.lengthBytes() >= Flow.TOLD_BYTES) {
      MemorySegment in = m.memory();
      int session = in.get(INT, m.offset());
      number = in.get(INT, m.offset() + 4);
      int life = in.get(INT, m.offset() + 8);
      Flow told = null;
      for (Flow f : lives) {
        told = f.life == life ? f : told;
      }
      if (told == null || number < 0 || number >= told.begun()) {
        corrupt(m.source(), at.self(), "message of life " + life + " and number " + number);
        return null;
      }
      if (told.life < flow.life) {
        violation(Violation.Kind.MISORDERED, told, "message " + number + " of an earlier life");
        return null;
      }
      flow = told;
      requireToldOf(at, endpoint, flow, session, number);
      Set<Long> ends = endsSeen.get(new Receiver(at.self(), at.life(), endpoint));
      if (ends != null && ends.contains(key(m.source(), session))) {
        violation(
            Violation.Kind.AFTER_PEER_DOWN,
            flow,
            "message %d of session %08x after the end of that session was told"
                .formatted(number, session));
        return null;
      }
    } else {
      // What was excused may be missing: the next life's messages follow.
      number = recognise(flow, m);
      for (Flow f : lives) {
        if (number < 0 && f.life > flow.life) {
          flow = f;
          number = recognise(f, m);
        }
      }
      if (number < 0) {
        corrupt(
            m.source(),
            at.self(),
            "short message of %d bytes is none of those that may come next"
                .formatted(m.lengthBytes()));
        return null;
      }
    }
    return inOrder(flow, number, m) ? flow : null;
  }

  /**
   * Between messages of two sessions with a source stands the word of an end, which may be that of
   * any: of several in a row the program is told once.
   */
  private void requireToldOf(Host at, int endpoint, Flow flow, int session, int number) {
    Source source = new Source(at.self(), at.life(), endpoint, flow.src);
    Integer before = lastSession.put(source, session);
    if (before != null && before != session) {
      violation(
          Violation.Kind.PEER_DOWN_NOT_TOLD,
          flow,
          "message %d of session %08x behind one of session %08x, the end of which was not told"
              .formatted(number, session, before));
    }
  }

  /** A message too short to say its number: the first that may come next and has these bytes. */
  private static int recognise(Flow flow, Message m) {
    for (int n = flow.next; n < flow.begun(); n++) {
      if (flow.length(n) == m.lengthBytes()
          && flow.holds(m.memory(), m.offset(), n, 0, m.lengthBytes())) {
        return n;
      }
      if (flow.state(n) != Flow.EXCUSED) {
        return -1;
      }
    }
    return -1;
  }

  private boolean inOrder(Flow flow, int number, Message m) {
    if (number < flow.next || number == flow.next && flow.offset > 0) {
      boolean twice = flow.state(number) == Flow.DELIVERED || number == flow.next;
      violation(
          twice ? Violation.Kind.DUPLICATED : Violation.Kind.MISORDERED,
          flow,
          "message " + number + " again or late, next is " + flow.next);
      return false;
    }
    for (int n = flow.next; n < number; n++) {
      if (flow.state(n) != Flow.EXCUSED) {
        violation(Violation.Kind.MISORDERED, flow, "message " + number + " before " + n);
        return false;
      }
    }
    flow.next = number;
    flow.offset = 0;
    return take(flow, number, m);
  }

  private boolean take(Flow flow, int number, Message m) {
    int bytes = m.lengthBytes();
    if (m.messageLengthBytes() != flow.length(number) || !holds(flow, m)) {
      violation(
          Violation.Kind.CORRUPT,
          flow,
          "message %d, %d bytes at %d of %d"
              .formatted(number, bytes, flow.offset, flow.length(number)));
      return false;
    }
    flow.offset += bytes;
    deliveredBytes += bytes;
    if (flow.offset == flow.length(number)) {
      if (!flow.isTorn(number)) {
        flow.delivered(number);
        delivered++;
      }
      flow.next++;
      flow.offset = 0;
    }
    return true;
  }

  /** A program was told of a session's end. */
  public void endTold(Host at, int endpoint, int peer, int session) {
    lastSession.remove(new Source(at.self(), at.life(), endpoint, peer));
    endsSeen
        .computeIfAbsent(new Receiver(at.self(), at.life(), endpoint), r -> new HashSet<>())
        .add(key(peer, session));
  }

  private static long key(int node, int session) {
    return (long) node << 32 | session & 0xFFFF_FFFFL;
  }

  // --- sessions ---------------------------------------------------------------------------------

  void peerUp(SimNode node, int peer, int session) {
    if (simulation.log().isOn()) {
      simulation.log().add("up " + node.self() + ">" + peer + " session=%x".formatted(session));
    }
    everUp.put(
        new Side(node.self(), peer, session),
        new Lives(
            simulation.lifeOf(node.self()),
            simulation.lifeOf(peer, node.node().peerIncarnation(peer))));
    simulation.sessionOpened();
  }

  void peerDown(SimNode node, int peer, int session, DownReason reason) {
    if (over) {
      return;
    }
    peerDowns++;
    if (simulation.log().isOn()) {
      simulation
          .log()
          .add("down " + node.self() + ">" + peer + " session=%x %s".formatted(session, reason));
    }
    for (Flow flow : bySource.getOrDefault(node.self(), List.of())) {
      // Once all is settled programs close their endpoints, and cannot be asked any more.
      if (flow.dst == peer && flow.life == node.life() && !flow.isSettled()) {
        flow.sessionEnded();
      }
    }
    if (reason == DownReason.CREDIT_VIOLATED
        || !simulation
            .schedule()
            .mayEndSession(
                node.self(),
                peer,
                isOfPresentLife(node.self(), peer, session)
                    && isOfPresentLife(peer, node.self(), session),
                simulation.nowNs())) {
      simulation.violation(
          Violation.Kind.PEER_DOWN_WITHOUT_CAUSE,
          node.self(),
          peer,
          "node %d lost its session with node %d: %s".formatted(node.self(), peer, reason));
    }
    if (reason == DownReason.RESET && !wasEverUpAt(peer, node.self(), session)) {
      simulation.violation(
          Violation.Kind.PEER_DOWN_WITHOUT_CAUSE,
          node.self(),
          peer,
          "node %d never had session %x, which it had offered to node %d"
              .formatted(peer, session, node.self()));
    }
  }

  /** Or may have been offered by a life of the node that is over. */
  private boolean wasEverUpAt(int node, int peer, int session) {
    return everUp.containsKey(new Side(node, peer, session))
        || everUp.get(new Side(peer, node, session)).ofPeer() != simulation.lifeOf(node);
  }

  /** Whether a session was up at a node that lives, in the life that it has. */
  private boolean isOfPresentLife(int node, int peer, int session) {
    Lives then = everUp.get(new Side(node, peer, session));
    return then != null && simulation.lives(node) && then.own() == simulation.lifeOf(node);
  }

  /**
   * A node died: what it had not yet had acknowledged may be lost, and what it had stored and not
   * given to its program. For the latter it does not matter whether the sources have noticed, or
   * ever will: one may have lost its session before, or die itself.
   */
  void died(SimNode node, boolean forEver) {
    closed.removeIf(place -> place.node() == node.self());
    for (Flow flow : flows) {
      if (flow.src == node.self() && flow.life == node.life()) {
        flow.sourceDied();
      }
      if (flow.dst == node.self()) {
        flow.receiverDied();
        flow.receiverOpens();
      }
      if (forEver && simulation.isUnreachable(flow.src, flow.dst)) {
        flow.abandon();
      }
    }
  }

  // --- the end ----------------------------------------------------------------------------------

  /** From now on sessions may be closed. */
  void closing() {
    over = true;
  }

  /** Everything that was to be sent is delivered or excused. */
  boolean isSettled() {
    while (firstUnsettled < flows.size() && flows.get(firstUnsettled).isSettled()) {
      firstUnsettled++;
    }
    for (int i = firstUnsettled; i < flows.size(); i++) {
      if (!flows.get(i).isSettled()) {
        return false;
      }
    }
    return true;
  }

  /** Flows with something missing. */
  List<Flow> unsettled() {
    return flows.stream().filter(f -> !f.isSettled()).toList();
  }

  List<Flow> flows() {
    return flows;
  }

  /** Those of {@link #flows} from some place on of which not all are known to be settled. */
  List<Flow> mayBeUnsettled() {
    return flows.subList(firstUnsettled, flows.size());
  }

  /** Messages begun, of all flows. */
  long begun() {
    return flows.stream().mapToLong(Flow::begun).sum();
  }

  long delivered() {
    return delivered;
  }

  long deliveredBytes() {
    return deliveredBytes;
  }

  int peerDowns() {
    return peerDowns;
  }

  private void corrupt(int src, int dst, String text) {
    simulation.violation(Violation.Kind.CORRUPT, src, dst, src + ">" + dst + ": " + text);
  }

  private void violation(Violation.Kind kind, Flow flow, String text) {
    simulation.violation(kind, flow.src, flow.dst, flow + ": " + text);
  }
}
