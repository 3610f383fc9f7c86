package org.pmhxb.cost;

/**
 * The program sends to random peers, which acknowledge as receivers do. Those acknowledgements are
 * read in a duty cycle of their own before the next burst, so that what they cost stands apart.
 */
final class SendLoop extends PacketLoop {
  private static final int CYCLE_FRAMES = 32;

  private final Turns turns;
  private final AckTemplate[] acks;
  private final int ackEvery;
  private int turn;
  private long sent;

  /** Acknowledgements in the rings. */
  private int acked;

  /**
   * @param acks by node number
   * @param ackEvery frames to one peer between two acknowledgements
   */
  SendLoop(
      Lab lab,
      Subject subject,
      int burst,
      long nowNs,
      Turns turns,
      AckTemplate[] acks,
      int ackEvery) {
    super(lab, subject, burst, nowNs);
    this.turns = turns;
    this.acks = acks;
    this.ackEvery = ackEvery;
  }

  /** Frames to one peer between two acknowledgements: a quarter of what it may have in flight. */
  static int ackEvery(int peers) {
    return Lab.grantFrames(peers) / 4;
  }

  @Override
  void prepare() {}

  @Override
  boolean readAcks() {
    if (acked == 0) {
      return false;
    }
    for (int i = 0; i < acked; i += CYCLE_FRAMES) {
      subject.cycle(nowNs);
    }
    acked = 0;
    return true;
  }

  @Override
  void work() {
    int n = subject.send(nowNs, turns, turn, burst, sent);
    if (n != burst) {
      throw new IllegalStateException(n + " of " + burst + " messages were sent");
    }
  }

  @Override
  void settle(int burstsLeft) {
    int arrived = lab.drain();
    if (arrived != burst) {
      throw new IllegalStateException(arrived + " of " + burst + " frames arrived");
    }
    int n = 0;
    for (int i = 0; i < burst; i++) {
      AckTemplate ack = acks[turns.node(turn + i)];
      if (++ack.unanswered == ackEvery) {
        lab.allocate(1);
        lab.burst.set(n++, ack.write(lab.id(0)));
      }
    }
    turn = turns.next(turn, burst);
    sent += burst;
    if (n > 0) {
      lab.toNode(n);
      acked = n;
    }
  }

  /** The rings are empty: the next batch is the other subject's. */
  @Override
  void finish() {
    if (lab.drain() != 0) {
      throw new IllegalStateException("a data frame was left behind");
    }
  }

  @Override
  void generateOnly() {
    lab.allocate(1);
    lab.burst.set(0, acks[turns.node(turn)].write(lab.id(0)));
    lab.toNode(1);
    lab.echo();
    turn = turns.next(turn, burst);
  }
}
