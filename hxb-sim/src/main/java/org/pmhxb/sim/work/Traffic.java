package org.pmhxb.sim.work;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.ToIntFunction;
import org.pmhxb.pm.MessageHandler;
import org.pmhxb.pm.PmEndpoint;
import org.pmhxb.pm.SendBuffer;
import org.pmhxb.sim.Flow;
import org.pmhxb.sim.Oracle;

/**
 * Sends so many messages to each of some nodes over some channels, and receives what comes. Long
 * messages go as fragments; now and then a message is kept on loan for a while, or left for the
 * next poll.
 */
public final class Traffic implements Program {
  private static final int POLL_LIMIT = 64;
  private static final int SENDS_PER_STEP = 32;

  /** One in so many messages is kept, or left. */
  private static final int ODDITY = 32;

  private static final class Outgoing {
    final PmEndpoint endpoint;
    final Flow flow;
    final int dst;
    int number = -1;
    int length;
    int done;
    int session;

    Outgoing(PmEndpoint endpoint, Flow flow, int dst) {
      this.endpoint = endpoint;
      this.flow = flow;
      this.dst = dst;
    }
  }

  private final Host host;
  private final Oracle oracle;
  private final SplittableRandom random;
  private final ToIntFunction<SplittableRandom> sizes;
  private final List<PmEndpoint> endpoints = new ArrayList<>();
  private final List<MessageHandler> inboxes = new ArrayList<>();
  private final List<Outgoing> outgoing = new ArrayList<>();
  private final Reader reader;
  private final int framePayload;
  private final int messages;
  private final long spanNs;
  private long startNs = -1;

  /** Messages of each flow that may have begun by now. */
  private int due;

  private int turn;

  /**
   * @param channels endpoints, numbered from 1; each sends to those of its number
   * @param messages to each destination on each channel
   * @param spanNs over which they are spread
   * @param sizes bytes of the next message
   */
  public Traffic(
      Host host,
      int channels,
      List<Integer> destinations,
      int messages,
      long spanNs,
      ToIntFunction<SplittableRandom> sizes) {
    this.host = host;
    this.oracle = host.oracle();
    this.random = host.random();
    this.reader = new Reader(host, ODDITY);
    this.sizes = sizes;
    this.messages = messages;
    this.spanNs = spanNs;
    this.framePayload = host.node().maxFramePayloadBytes();
    for (int channel = 1; channel <= channels; channel++) {
      PmEndpoint endpoint = host.node().open(channel);
      endpoints.add(endpoint);
      inboxes.add(reader.at(channel));
      for (int dst : destinations) {
        Flow flow = oracle.flow(host, endpoint, dst, channel);
        flow.plan(messages);
        outgoing.add(new Outgoing(endpoint, flow, dst));
      }
    }
  }

  @Override
  public int step(long nowNs) {
    int work = 0;
    for (int i = 0; i < endpoints.size(); i++) {
      work += endpoints.get(i).poll(inboxes.get(i), POLL_LIMIT);
    }
    reader.step();
    if (startNs < 0) {
      startNs = nowNs;
    }
    due = spanNs == 0 ? messages : (int) ((nowNs - startNs) * messages / spanNs) + 1;
    return work + send();
  }

  private int send() {
    int sent = 0;
    int n = outgoing.size();
    int idle = 0;
    while (idle < n && sent < SENDS_PER_STEP) {
      Outgoing out = outgoing.get(turn);
      turn = turn + 1 == n ? 0 : turn + 1;
      if (sendPart(out)) {
        sent++;
        idle = 0;
      } else {
        idle++;
      }
    }
    return sent;
  }

  private boolean sendPart(Outgoing out) {
    if (out.number < 0) {
      if (out.flow.toBegin() <= 0 || out.flow.begun() >= due) {
        return false;
      }
      if (out.length == 0) {
        out.length = sizes.applyAsInt(random);
      }
    }
    boolean whole = out.length <= framePayload;
    int room = out.endpoint.maxFragmentBytes() & ~7;
    int part = whole ? out.length : Math.min(room, out.length - out.done);
    int channel = out.endpoint.number();
    SendBuffer buffer =
        whole
            ? out.endpoint.claim(out.dst, channel, part)
            : out.endpoint.claimFragment(out.dst, channel, out.length, out.done, part);
    if (buffer == null) {
      if (out.number >= 0 && host.session(out.dst) != out.session) {
        giveUp(out);
      }
      return false;
    }
    int session = host.session(out.dst);
    if (out.number >= 0 && session != out.session) {
      buffer.abort();
      giveUp(out);
      return true;
    }
    if (out.number < 0) {
      out.session = session;
      out.number = out.flow.begin(out.length, session);
    }
    out.flow.fill(buffer.memory(), buffer.offset(), out.number, out.done, part);
    long ticket = out.endpoint.send(buffer);
    out.done += part;
    if (out.done == out.length) {
      out.flow.sent(out.number, ticket);
      giveUp(out);
    }
    return true;
  }

  /** Done with this message: it is sent, or its session ended in the middle of it. */
  private static void giveUp(Outgoing out) {
    out.number = -1;
    out.length = 0;
    out.done = 0;
  }

  @Override
  public boolean isDone() {
    for (Outgoing out : outgoing) {
      if (out.flow.toBegin() > 0 || out.number >= 0 && !host.isGone(out.dst)) {
        return false;
      }
    }
    return true;
  }

  @Override
  public void close() {
    reader.close();
    endpoints.forEach(PmEndpoint::close);
  }
}
