package org.pmhxb.cost;

/** Acknowledgement frames arrive from random peers; each settles one frame that is held. */
final class AckLoop extends PacketLoop {
  private static final int CYCLE_FRAMES = 32;

  private final Turns turns;
  private final AckTemplate[] acks;
  private int turn;
  private long sent;

  AckLoop(Lab lab, Subject subject, int burst, long nowNs, Turns turns, AckTemplate[] acks) {
    super(lab, subject, burst, nowNs);
    this.turns = turns;
    this.acks = acks;
  }

  @Override
  void prepare() {
    int n = subject.send(nowNs, turns, turn, burst, sent);
    int arrived = lab.drain();
    if (n != burst || arrived != burst) {
      throw new IllegalStateException(
          "%d of %d messages were sent, %d arrived".formatted(n, burst, arrived));
    }
    sent += burst;
    write();
    lab.toNode(burst);
  }

  private void write() {
    lab.allocate(burst);
    for (int i = 0; i < burst; i++) {
      AckTemplate ack = acks[turns.node(turn + i)];
      ack.unanswered++;
      lab.burst.set(i, ack.write(lab.id(i)));
    }
    turn = turns.next(turn, burst);
  }

  @Override
  void work() {
    for (int i = 0; i < burst; i += CYCLE_FRAMES) {
      subject.cycle(nowNs);
    }
  }

  @Override
  void settle(int burstsLeft) {}

  /** Acknowledges what was not sent: nothing may be received afterwards. */
  @Override
  void generateOnly() {
    write();
    lab.toNode(burst);
    lab.echo();
  }
}
