package org.pmhxb.sim.work;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.ToIntFunction;
import org.pmhxb.pm.Fate;
import org.pmhxb.pm.MessageHandler;
import org.pmhxb.pm.PmEndpoint;
import org.pmhxb.pm.SendBuffer;
import org.pmhxb.sim.Flow;
import org.pmhxb.sim.Oracle;

/**
 * Endpoints that are closed and opened again in mid-traffic: with messages in their inboxes, claims
 * and loans out, long messages begun. Each sends to some endpoints of some nodes, its own among
 * them.
 */
final class Churn implements Program {
  private static final int ENDPOINTS = 3;
  private static final int CHANGES_MAX = 6;
  private static final int POLL_LIMIT = 8;
  private static final int SENDS_PER_STEP = 8;
  private static final int LONG_BYTES = 20_000;

  /** Open, or closed, for so long at least, and so many times as long at most. */
  private static final double STAYS_NS = 20_000;

  private static final double SPREAD = 1_000;

  /** Others have the credit that peers were granted of an endpoint: again, so many times. */
  private static final long REFUSED_NS = 1_000_000L;

  private static final int REFUSALS_MAX = 20;

  /** A channel that was granted nothing for so long, where others have all, is given up. */
  private static final long STARVED_NS = 1_000_000_000L;

  /** One in so many messages is long, kept on loan, left for the next poll, or claimed early. */
  private static final int ODDITY = 16;

  private final Host host;
  private final Oracle oracle;
  private final SplittableRandom random;
  private final ToIntFunction<SplittableRandom> sizes;
  private final List<Place> places = new ArrayList<>();
  private final Reader reader;
  private final int framePayload;

  /**
   * @param messages from each endpoint to each of those to which it sends
   * @param sizes bytes of the next message
   */
  Churn(
      Host host, List<Integer> destinations, int messages, ToIntFunction<SplittableRandom> sizes) {
    this.host = host;
    this.oracle = host.oracle();
    this.random = host.random();
    this.reader = new Reader(host, ODDITY);
    this.sizes = sizes;
    this.framePayload = host.node().maxFramePayloadBytes();
    for (int number = 1; number <= ENDPOINTS; number++) {
      places.add(new Place(number, destinations, messages));
    }
  }

  /** What one endpoint sends to another. */
  private final class Outgoing {
    final Flow flow;
    final int dst;
    final int dstEndpoint;
    long lastTicket;

    /** Claimed before it has a place in the order, or null; its session. */
    SendBuffer early;

    int earlySession;

    /** The long message under way, or below 0. */
    int number = -1;

    int length;
    int done;
    int session;

    Outgoing(Flow flow, int dst, int dstEndpoint) {
      this.flow = flow;
      this.dst = dst;
      this.dstEndpoint = dstEndpoint;
    }
  }

  /** An endpoint's number, and who has it at the time. */
  private final class Place {
    final int number;
    final List<Outgoing> outgoing = new ArrayList<>();
    private final MessageHandler inbox;
    PmEndpoint endpoint;
    private long changeAtNs = -1;
    private int changesLeft;
    private int refusals;
    private int turn;

    Place(int number, List<Integer> destinations, int messages) {
      this.number = number;
      this.inbox = reader.at(number);
      this.changesLeft = 1 + random.nextInt(CHANGES_MAX);
      for (int dst : destinations) {
        int dstEndpoint = random.nextInt(2) == 0 ? number : 1 + random.nextInt(ENDPOINTS);
        Flow flow = oracle.flow(host, number, dst, dstEndpoint);
        flow.plan(messages);
        if (dst == host.self()) {
          flow.receiverCloses(); // to the node itself nothing waits for the first opening
        }
        outgoing.add(new Outgoing(flow, dst, dstEndpoint));
      }
    }

    private int change(long nowNs) {
      if (changeAtNs < 0) {
        changeAtNs = random.nextBoolean() ? nowNs : nowNs + staysNs();
      }
      if (changesLeft == 0 || nowNs < changeAtNs) {
        return 0;
      }
      if (endpoint != null) {
        close();
      } else if (!open() && ++refusals < REFUSALS_MAX) {
        changeAtNs = nowNs + REFUSED_NS;
        return 0;
      }
      changeAtNs = nowNs + staysNs();
      changesLeft = refusals == REFUSALS_MAX ? 0 : changesLeft - 1;
      if (changesLeft == 0 && endpoint == null) {
        outgoing.forEach(out -> out.flow.abandon());
      }
      return 1;
    }

    private long staysNs() {
      return (long) (STAYS_NS * Math.pow(SPREAD, random.nextDouble()));
    }

    private boolean open() {
      try {
        endpoint = host.node().open(number);
      } catch (IllegalStateException e) {
        return false;
      }
      oracle.opened(host, number);
      outgoing.forEach(out -> out.flow.sentBy(endpoint));
      return true;
    }

    private void close() {
      oracle.closed(host, number);
      for (Outgoing out : outgoing) {
        out.early = null;
        if (out.number >= 0) {
          out.flow.brokenOff(out.number);
          out.number = -1;
        }
        out.flow.sentBy(null);
      }
      endpoint.close();
      endpoint = null;
    }

    int step(long nowNs) {
      int work = change(nowNs);
      if (endpoint == null) {
        return work;
      }
      work += random.nextInt(4) == 0 ? 0 : endpoint.poll(inbox, POLL_LIMIT);
      int idle = 0;
      for (int sent = 0; idle < outgoing.size() && sent < SENDS_PER_STEP; turn++) {
        boolean went = send(outgoing.get(turn % outgoing.size()));
        work += went ? 1 : 0;
        sent += went ? 1 : 0;
        idle = went ? 0 : idle + 1;
      }
      if (changesLeft == 0 && nowNs - changeAtNs > STARVED_NS) {
        outgoing.forEach(this::giveUpIfStarved);
      }
      return work;
    }

    /** Endpoints that come and go may have been granted all that a node has (section 6). */
    private void giveUpIfStarved(Outgoing out) {
      if (out.flow.begun() == 0 && oracle.hasRefusedCredit(out.dst)) {
        out.flow.abandon();
      }
    }

    private boolean send(Outgoing out) {
      if (out.number >= 0) {
        return sendPart(out);
      }
      if (out.flow.toBegin() <= 0) {
        return false;
      }
      if (out.early == null && random.nextInt(ODDITY) == 0) {
        out.length = framePayload + random.nextInt(LONG_BYTES);
        out.done = 0;
        return sendPart(out);
      }
      SendBuffer buffer = out.early;
      int session = out.earlySession;
      if (buffer == null) {
        int length = Math.min(sizes.applyAsInt(random), framePayload);
        buffer = endpoint.claim(out.dst, out.dstEndpoint, length);
        session = host.session(out.dst);
        if (buffer == null) {
          return false;
        }
        if (random.nextInt(ODDITY) == 0) {
          out.early = buffer;
          out.earlySession = session;
          return true;
        }
      }
      out.early = null;
      if (random.nextInt(ODDITY) == 0) {
        buffer.abort();
        return true;
      }
      int begun = out.flow.begin(buffer.lengthBytes(), session);
      out.flow.fill(buffer.memory(), buffer.offset(), begun, 0, buffer.lengthBytes());
      out.lastTicket = endpoint.send(buffer);
      out.flow.sent(begun, out.lastTicket);
      if (session != host.session(out.dst)) {
        out.flow.brokenOff(begun);
      }
      return true;
    }

    private boolean sendPart(Outgoing out) {
      int part = Math.min(endpoint.maxFragmentBytes() & ~7, out.length - out.done);
      SendBuffer buffer =
          endpoint.claimFragment(out.dst, out.dstEndpoint, out.length, out.done, part);
      int session = host.session(out.dst);
      if (out.number >= 0 && session != out.session) {
        if (buffer != null) {
          buffer.abort();
        }
        out.number = -1; // the end of its session has excused it
        return true;
      }
      if (buffer == null) {
        return false;
      }
      if (out.number < 0) {
        out.session = session;
        out.number = out.flow.begin(out.length, session);
      }
      out.flow.fill(buffer.memory(), buffer.offset(), out.number, out.done, part);
      out.lastTicket = endpoint.send(buffer);
      out.done += part;
      if (out.done == out.length) {
        out.flow.sent(out.number, out.lastTicket);
        out.number = -1;
      }
      return true;
    }

    /** Nothing is left to be sent, and what became of all that was sent is known. */
    boolean isDone() {
      return changesLeft == 0 && (endpoint == null || outgoing.stream().allMatch(this::isDone));
    }

    private boolean isDone(Outgoing out) {
      if (out.flow.toBegin() > 0 || out.number >= 0 && !host.isGone(out.dst)) {
        return false;
      }
      return out.lastTicket == 0
          || endpoint.fate(out.dst, out.dstEndpoint, out.lastTicket) != Fate.PENDING;
    }
  }

  @Override
  public int step(long nowNs) {
    int work = 0;
    for (Place place : places) {
      work += place.step(nowNs);
    }
    reader.step();
    return work;
  }

  @Override
  public boolean isDone() {
    return places.stream().allMatch(Place::isDone);
  }

  @Override
  public void close() {
    reader.close();
    places.stream().map(place -> place.endpoint).filter(e -> e != null).forEach(PmEndpoint::close);
  }
}
