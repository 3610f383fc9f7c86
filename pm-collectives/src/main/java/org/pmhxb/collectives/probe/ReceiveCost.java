package org.pmhxb.collectives.probe;

/**
 * Processor time of receiving a frame: echoes that came while the node looked away are received at
 * once, and the time of those rounds is longer than that of rounds in which nothing came. Owner:
 * the poll thread.
 */
final class ReceiveCost {
  private static final int IDLE_ROUNDS = 501;

  /** Behind the last echo: what it cost may be charged to the next round. */
  private static final int ROUNDS_AFTER = 2;

  private static final long LOST_NS = 200_000_000L;

  /** As {@link Burst} has it. */
  private static final long LIMIT_NS = 300_000_000L;

  private static final int LEAST = 10;

  private final Burst burst;
  private final int frames;
  private final ProbeClock clock;
  private final FabricProbe.Pause pause;
  private final long pauseNs;
  private final Samples idleNs = new Samples(IDLE_ROUNDS);
  private final Samples costNs;
  private boolean sent;
  private boolean watching;
  private long lastNs = -1;
  private long startedNs;
  private long beganNs;
  private int rounds;
  private int roundsAfter;

  ReceiveCost(
      Burst burst, int frames, ProbeClock clock, FabricProbe.Pause pause, long pauseNs, int count) {
    this.burst = burst;
    this.frames = frames;
    this.clock = clock;
    this.pause = pause;
    this.pauseNs = pauseNs;
    this.costNs = new Samples(count);
  }

  /** One round. It always has work, so that the thread does not yield between two rounds. */
  int step() {
    long nowNs = clock.nowNs();
    if (!idleNs.isFull()) {
      if (lastNs >= 0) {
        idleNs.add(nowNs - lastNs);
      }
      lastNs = nowNs;
      startedNs = nowNs;
    } else if (!sent) {
      burst.send();
      sent = true;
      watching = false;
      pause.untilNs(nowNs + pauseNs);
    }
    if (sent) {
      watch();
    }
    return 1;
  }

  private void watch() {
    if (!watching) {
      watching = true;
      beganNs = clock.nowNs();
      rounds = 0;
      roundsAfter = 0;
      return;
    }
    rounds++;
    roundsAfter += burst.isBack() ? 1 : 0;
    long tookNs = clock.nowNs() - beganNs;
    if (roundsAfter > ROUNDS_AFTER) {
      costNs.add((tookNs - rounds * idleNs.median()) / frames);
      sent = false;
    } else if (tookNs > LOST_NS) {
      sent = false;
    }
  }

  boolean isOver() {
    return costNs.isFull()
        || costNs.size() >= LEAST && !sent && clock.nowNs() - startedNs > LIMIT_NS;
  }

  /** A round in which nothing comes. */
  double idleNs() {
    return idleNs.median();
  }

  double costNs() {
    return Math.max(0, costNs.median());
  }
}
