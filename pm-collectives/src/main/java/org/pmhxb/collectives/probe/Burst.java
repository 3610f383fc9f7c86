package org.pmhxb.collectives.probe;

import org.pmhxb.collectives.barrier.Barriers;

/**
 * Pings that leave together, again and again, and the time until the echoes of the last of them are
 * back: one ping is a ping-pong, many are a train. Owner: the poll thread.
 */
final class Burst {
  /** After that long something was lost; the repetition is not counted. */
  static final long LOST_NS = 200_000_000L;

  /** After so many in a row nothing more is to be expected: they took ten seconds. */
  private static final int LOST_IN_A_ROW_MAX = 50;

  private final Barriers barriers;
  private final ProbeClock clock;
  private final Shape shape;
  private final Samples sendNs;
  private final Samples elapsedNs;
  private int warmUp;
  private boolean sent;
  private int sequence;
  private int echoes;
  private long beganNs;
  private final Waiting waiting = new Waiting();
  private long lost;
  private int lostInARow;
  private boolean started;
  private boolean over;

  /** When it began to warm up, then when it began to count. */
  private long startedNs;

  private long busyBeginNs;
  private long busyEndNs;
  private int busyRepetitions;

  /**
   * What leaves.
   *
   * @param to the node that answers
   * @param firstWay path of the first
   * @param rails over which they take turns, from that path on
   * @param frames in all
   * @param wanted how many of the last are answered
   * @param line rail of the line to which those go that are not answered; -1: to the same node
   */
  record Shape(int to, int firstWay, int rails, int frames, int wanted, int line) {
    Shape(int to, int firstWay, int rails, int frames, int wanted) {
      this(to, firstWay, rails, frames, wanted, -1);
    }
  }

  /**
   * @param warmUp repetitions before those that count, at most
   * @param count repetitions, at most
   */
  Burst(Barriers barriers, ProbeClock clock, Shape shape, int warmUp, int count) {
    this.barriers = barriers;
    this.clock = clock;
    this.shape = shape;
    this.warmUp = warmUp;
    this.sendNs = new Samples(count);
    this.elapsedNs = new Samples(count);
  }

  /** One round; the number of things done. */
  int step() {
    if (!sent) {
      begin();
      send();
      return 1;
    }
    if (isBack()) {
      answered();
      sent = false;
      if (warmUp > 0) {
        warmUp--;
      } else {
        count();
      }
      return 1;
    }
    long nowNs = clock.nowNs();
    if (waiting.lookNs(nowNs) > LOST_NS) {
      lose();
      sent = false;
      judge(nowNs);
    }
    return 0;
  }

  private void count() {
    long nowNs = clock.nowNs();
    elapsedNs.add(nowNs - beganNs);
    busyEndNs = clock.processorNs();
    judge(nowNs);
  }

  /** At the end of a repetition, once: an answer that time changes is no answer for two to ask. */
  private void judge(long nowNs) {
    over = elapsedNs.suffice(nowNs - startedNs);
  }

  private void begin() {
    long nowNs = clock.nowNs();
    if (!started) {
      started = true;
      startedNs = nowNs;
    }
    if (warmUp > 0 && nowNs - startedNs > Samples.LIMIT_NS) {
      warmUp = 0;
    }
    if (warmUp == 0 && busyRepetitions++ == 0) {
      busyBeginNs = clock.processorNs();
      startedNs = nowNs;
    }
  }

  /** Sends it, whatever became of the one before. */
  void send() {
    sequence++;
    echoes = 0;
    sent = true;
    beganNs = clock.nowNs();
    waiting.begin(beganNs);
    long busyNs = clock.processorNs();
    int unanswered = shape.frames() - shape.wanted();
    for (int i = 0; i < shape.frames(); i++) {
      if (i < unanswered && shape.line() >= 0) {
        barriers.pingLine(shape.line(), sequence);
      } else {
        barriers.ping(shape.to(), shape.firstWay() + i % shape.rails(), sequence, i >= unanswered);
      }
    }
    barriers.flush();
    if (warmUp == 0 && !sendNs.isFull()) {
      sendNs.add(clock.processorNs() - busyNs);
    }
  }

  void onEcho(int source, int number) {
    if (source == shape.to() && number == sequence) {
      echoes++;
    }
  }

  /** The echoes of what was sent last are back. */
  boolean isBack() {
    return echoes >= shape.wanted();
  }

  /** What was sent last is back. */
  void answered() {
    lostInARow = 0;
  }

  /** What was sent last is not waited for any more. */
  void lose() {
    lost++;
    lostInARow++;
  }

  boolean isUnanswered() {
    return lostInARow >= LOST_IN_A_ROW_MAX;
  }

  /** As in {@code node 3, by rail 0}. */
  String destination() {
    int last = shape.firstWay() + shape.rails() - 1;
    return shape.rails() == 1
        ? "node %d, by rail %d".formatted(shape.to(), last)
        : "node %d, by rails %d to %d".formatted(shape.to(), shape.firstWay(), last);
  }

  boolean isOver() {
    return over;
  }

  long lost() {
    return lost;
  }

  /** Processor time of sending, per frame. */
  double sendNs() {
    return sendNs.median() / shape.frames();
  }

  /** Processor time of all the sending. */
  double allSentNs() {
    return sendNs.median();
  }

  /** Mean time that the thread had of a processor in a repetition, those lost included. */
  double busyNs() {
    return busyRepetitions == 0 ? 0 : (double) (busyEndNs - busyBeginNs) / busyRepetitions;
  }

  /** From before the first ping until the node saw the last echo. */
  double elapsedNs() {
    return elapsedNs.median();
  }
}
