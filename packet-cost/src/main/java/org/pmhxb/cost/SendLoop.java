package org.pmhxb.cost;

/** The program sends to random peers, which acknowledge as receivers do. */
final class SendLoop extends PacketLoop {
  private final Turns turns;
  private final AckTemplate[] acks;
  private final int ackEvery;
  private int turn;
  private long sent;

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
    }
  }

  /** Reads the last acknowledgements: the next batch is the other subject's. */
  @Override
  void finish() {
    subject.cycle(nowNs);
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
