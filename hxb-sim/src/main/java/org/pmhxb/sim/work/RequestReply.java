package org.pmhxb.sim.work;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.ToIntFunction;
import org.pmhxb.pm.Message;
import org.pmhxb.pm.MessageHandler;
import org.pmhxb.pm.PmEndpoint;
import org.pmhxb.pm.SendBuffer;
import org.pmhxb.sim.Flow;
import org.pmhxb.sim.Oracle;

/**
 * Asks some nodes, one question at a time each, and answers every question. The next question to a
 * node waits for the answer, or for the end of the session in which the last was asked.
 */
final class RequestReply implements Program {
  private static final int QUESTIONS = 1;
  private static final int ANSWERS = 2;
  private static final int POLL_LIMIT = 32;

  private static final class Partner {
    final Flow flow;
    final int node;
    boolean waiting;
    int session;

    Partner(Flow flow, int node) {
      this.flow = flow;
      this.node = node;
    }
  }

  private final Host host;
  private final Oracle oracle;
  private final SplittableRandom random;
  private final ToIntFunction<SplittableRandom> sizes;
  private final PmEndpoint questions;
  private final PmEndpoint answers;
  private final List<Partner> asked = new ArrayList<>();

  /** Flows of answers by the node that asked, in the order of their first question. */
  private final Map<Integer, Flow> answerFlows = new HashMap<>();

  private final List<Flow> answerOrder = new ArrayList<>();
  private final List<Integer> answerNodes = new ArrayList<>();
  private final MessageHandler onQuestion = handler(QUESTIONS, this::question);
  private final MessageHandler onAnswer = handler(ANSWERS, this::answer);

  RequestReply(
      Host host, List<Integer> partners, int messages, ToIntFunction<SplittableRandom> sizes) {
    this.host = host;
    this.oracle = host.oracle();
    this.random = host.random();
    this.sizes = sizes;
    this.questions = host.node().open(QUESTIONS);
    this.answers = host.node().open(ANSWERS);
    for (int node : partners) {
      Flow flow = oracle.flow(host, answers, node, QUESTIONS);
      flow.plan(messages);
      asked.add(new Partner(flow, node));
    }
  }

  private interface Received {
    void from(int node);
  }

  private MessageHandler handler(int endpoint, Received received) {
    return new MessageHandler() {
      @Override
      public void onMessage(Message m) {
        if (oracle.received(host, endpoint, m) != null) {
          received.from(m.source());
        }
      }

      @Override
      public void onPeerDown(int node, int session) {
        oracle.endTold(host, endpoint, node, session);
      }
    };
  }

  private void question(int node) {
    Flow flow =
        answerFlows.computeIfAbsent(
            node,
            n -> {
              Flow made = oracle.flow(host, questions, n, ANSWERS);
              answerOrder.add(made);
              answerNodes.add(n);
              return made;
            });
    flow.plan(1);
  }

  private void answer(int node) {
    for (Partner partner : asked) {
      if (partner.node == node) {
        partner.waiting = false;
      }
    }
  }

  @Override
  public int step(long nowNs) {
    int work = questions.poll(onQuestion, POLL_LIMIT) + answers.poll(onAnswer, POLL_LIMIT);
    for (int i = 0; i < answerOrder.size(); i++) {
      Flow flow = answerOrder.get(i);
      if (host.isGone(answerNodes.get(i))) {
        flow.abandon();
      }
      while (flow.toBegin() > 0 && send(questions, flow, answerNodes.get(i), ANSWERS)) {
        work++;
      }
    }
    for (Partner partner : asked) {
      if (partner.waiting && host.session(partner.node) != partner.session) {
        partner.waiting = false;
      }
      if (!partner.waiting
          && partner.flow.toBegin() > 0
          && send(answers, partner.flow, partner.node, QUESTIONS)) {
        partner.waiting = true;
        partner.session = host.session(partner.node);
        work++;
      }
    }
    return work;
  }

  private boolean send(PmEndpoint from, Flow flow, int dst, int dstEndpoint) {
    int length = Math.min(sizes.applyAsInt(random), host.node().maxFramePayloadBytes());
    SendBuffer buffer = from.claim(dst, dstEndpoint, length);
    if (buffer == null) {
      return false;
    }
    int number = flow.begin(length, host.session(dst));
    flow.fill(buffer.memory(), buffer.offset(), number, 0, length);
    flow.sent(number, from.send(buffer));
    return true;
  }

  @Override
  public boolean isDone() {
    return asked.stream().allMatch(p -> p.flow.toBegin() <= 0)
        && answerOrder.stream().allMatch(f -> f.toBegin() <= 0);
  }

  @Override
  public void close() {
    questions.close();
    answers.close();
  }
}
