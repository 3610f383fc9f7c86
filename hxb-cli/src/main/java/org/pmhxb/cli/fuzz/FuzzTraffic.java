package org.pmhxb.cli.fuzz;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.pmhxb.pm.CollectiveFrames;
import org.pmhxb.pm.CollectiveHandler;
import org.pmhxb.pm.DownReason;
import org.pmhxb.pm.Message;
import org.pmhxb.pm.MessageHandler;
import org.pmhxb.pm.PmEndpoint;
import org.pmhxb.pm.SendBuffer;

/**
 * Numbered messages between all nodes. Between nodes whose names the hostile frames do not borrow
 * each must arrive once, in order, intact.
 */
final class FuzzTraffic {
  private static final int ENDPOINT = 7;
  private static final int BYTES = 16;
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;

  private final FuzzNet net;
  private final boolean[] borrowed;
  private final List<PmEndpoint> endpoints = new ArrayList<>();
  private final List<Checker> checkers = new ArrayList<>();
  private final long[][] sent;
  private final long[][] received;
  private long words;
  private final List<String> wrong = new ArrayList<>();

  FuzzTraffic(FuzzNet net, boolean[] borrowed) {
    this.net = net;
    this.borrowed = borrowed.clone();
    int n = net.nodes.size();
    sent = new long[n][n];
    received = new long[n][n];
    for (int i = 0; i < n; i++) {
      endpoints.add(net.nodes.get(i).open(ENDPOINT));
      net.nodes.get(i).collectives().handler(new WordChecker(i, borrowed, wrong));
      checkers.add(new Checker(i));
    }
  }

  /** What was delivered wrongly, or not. */
  List<String> wrong() {
    return wrong;
  }

  void send() {
    for (int s = 0; s < sent.length; s++) {
      for (int d = 0; d < sent.length; d++) {
        SendBuffer b = s == d ? null : endpoints.get(s).claim(d, BYTES);
        if (b != null) {
          long value = ++sent[s][d];
          b.memory().set(LONG, b.offset(), value);
          b.memory().set(LONG, b.offset() + 8, ~value);
          endpoints.get(s).send(b);
        }
      }
    }
    sendCollectives();
  }

  /** A COLLECTIVE frame to the next node and one to each line, whose words fit together. */
  private void sendCollectives() {
    for (int s = 0; s < sent.length; s++) {
      CollectiveFrames frames = net.nodes.get(s).collectives();
      long word = ++words;
      frames.send((s + 1) % sent.length, (int) word & 3, word, ~word, s);
      for (int rail = 0; rail < net.layout.count(); rail++) {
        frames.sendToLine(rail, word, ~word, s);
      }
    }
  }

  /** What a node hears in COLLECTIVE frames of good nodes is what was said. */
  private static final class WordChecker implements CollectiveHandler {
    private final int self;
    private final boolean[] borrowed;
    private final List<String> wrong;

    WordChecker(int self, boolean[] borrowed, List<String> wrong) {
      this.self = self;
      this.borrowed = borrowed;
      this.wrong = wrong;
    }

    @Override
    public void onCollective(int source, boolean line, long word0, long word1, long word2) {
      if (!borrowed[source] && !borrowed[self] && (word1 != ~word0 || word2 != source)) {
        wrong.add("collective frame " + source + "->" + self + " is not what was sent");
      }
    }

    @Override
    public void onPeerDown(int node, DownReason reason) {
      // The endpoints judge sessions.
    }

    @Override
    public int doWork(long nowNs) {
      return 0;
    }

    @Override
    public long nextDeadlineNs(long nowNs) {
      return Long.MAX_VALUE;
    }
  }

  void poll() {
    for (int i = 0; i < endpoints.size(); i++) {
      endpoints.get(i).poll(checkers.get(i), 64);
    }
  }

  private boolean isGood(int a, int b) {
    return a != b && !borrowed[a] && !borrowed[b];
  }

  long delivered() {
    long sum = 0;
    for (int s = 0; s < sent.length; s++) {
      for (int d = 0; d < sent.length; d++) {
        sum += isGood(s, d) ? received[s][d] : 0;
      }
    }
    return sum;
  }

  /** Who misses how much: {@code 0->5: 3 of 40}. */
  List<String> missingByPair() {
    List<String> lines = new ArrayList<>();
    for (int s = 0; s < sent.length; s++) {
      for (int d = 0; d < sent.length; d++) {
        if (isGood(s, d) && sent[s][d] > received[s][d]) {
          lines.add(s + "->" + d + ": " + (sent[s][d] - received[s][d]) + " of " + sent[s][d]);
        }
      }
    }
    return lines;
  }

  /** Sent between good nodes and not delivered so far. */
  long missing() {
    long sum = 0;
    for (int s = 0; s < sent.length; s++) {
      for (int d = 0; d < sent.length; d++) {
        sum += isGood(s, d) ? sent[s][d] - received[s][d] : 0;
      }
    }
    return sum;
  }

  private final class Checker implements MessageHandler {
    private final int self;

    Checker(int self) {
      this.self = self;
    }

    @Override
    public void onMessage(Message m) {
      if (!isGood(m.source(), self)) {
        readAll(m);
        return;
      }
      long value = m.memory().get(LONG, m.offset());
      long expected = ++received[m.source()][self];
      boolean intact = m.lengthBytes() == BYTES && m.memory().get(LONG, m.offset() + 8) == ~value;
      if (value != expected || !intact) {
        wrong.add("message " + m.source() + "->" + self + ": " + value + ", not " + expected);
      }
    }

    /** What a borrowed name said is its own; but it must lie within its buffer and its message. */
    private void readAll(Message m) {
      long sum = 0;
      for (int i = 0; i < m.lengthBytes(); i++) {
        sum += m.memory().get(ValueLayout.JAVA_BYTE, m.offset() + i);
      }
      if (m.fragmentOffsetBytes() + m.lengthBytes() > m.messageLengthBytes()) {
        wrong.add("fragment beyond its message at node " + self + ", sum " + sum);
      }
    }

    @Override
    public void onPeerDown(int node, int session) {
      if (isGood(node, self)) {
        wrong.add("node " + self + " lost node " + node);
      }
    }
  }
}
