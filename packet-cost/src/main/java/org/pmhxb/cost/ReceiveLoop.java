package org.pmhxb.cost;

import org.pmhxb.pm.port.Burst;

/** Frames of random peers arrive and go to the program. */
final class ReceiveLoop extends PacketLoop {
  private static final int DRAIN_EVERY_PACKETS = 256;

  private final Turns turns;
  private final FrameTemplate[] templates;
  private final int drainEvery;
  private int turn;

  /**
   * @param templates by node number
   */
  ReceiveLoop(
      Lab lab, Subject subject, int burst, long nowNs, Turns turns, FrameTemplate[] templates) {
    super(lab, subject, burst, nowNs);
    this.turns = turns;
    this.templates = templates;
    this.drainEvery = Math.max(1, DRAIN_EVERY_PACKETS / burst);
  }

  @Override
  void prepare() {
    lab.allocate(burst);
    for (int i = 0; i < burst; i++) {
      FrameTemplate template = templates[turns.node(turn + i)];
      int id = lab.id(i);
      template.write(lab.frames, lab.pool.frameAt(id));
      lab.burst.set(i, Burst.descriptor(id, template.frameBytes()));
    }
    turn = turns.next(turn, burst);
    lab.toNode(burst);
  }

  @Override
  void work() {
    int got = subject.receive(nowNs, burst);
    if (got != burst) {
      throw new IllegalStateException(got + " of " + burst + " frames were delivered");
    }
  }

  @Override
  void settle(int burstsLeft) {
    if (burstsLeft % drainEvery == 0) {
      lab.drain();
    }
  }

  /** Sequence numbers go on without the node: nothing may be received afterwards. */
  @Override
  void generateOnly() {
    prepare();
    lab.echo();
  }
}
