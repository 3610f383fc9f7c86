package org.pmhxb.collectives.probe;

/**
 * Processor time of receiving a frame: echoes that came while the node looked away are received at
 * once, and the time of those rounds is longer than that of rounds in which nothing came. Owner:
 * the poll thread.
 */
final class ReceiveCost {
  private static final int IDLE_ROUNDS = 21;

  /** Behind the last echo: what it cost may be charged to the next round. */
  private static final int ROUNDS_AFTER = 2;

  private final Burst burst;
  private final int frames;
  private final ProbeClock clock;
  private final FabricProbe.Pause pause;
  private final long pauseNs;

  /** Rounds just before the echoes: as quick as the compilers have made them by then. */
  private final Samples idleNs = new Samples(IDLE_ROUNDS);

  private final Samples costNs;
  private boolean sent;
  private boolean watching;
  private long lastNs = -1;
  private boolean started;
  private boolean over;
  private long startedNs;
  private long beganNs;
  private int rounds;
  private int roundsAfter;
  private double lastIdleNs;

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
    if (!started) {
      started = true;
      startedNs = nowNs;
    }
    if (!idleNs.isFull()) {
      if (lastNs >= 0) {
        idleNs.add(nowNs - lastNs);
      }
      lastNs = nowNs;
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
    long nowNs = clock.nowNs();
    long tookNs = nowNs - beganNs;
    if (roundsAfter > ROUNDS_AFTER) {
      lastIdleNs = idleNs.median();
      burst.answered();
      costNs.add((tookNs - rounds * lastIdleNs) / frames);
      again(nowNs);
    } else if (tookNs > Burst.LOST_NS) {
      burst.lose();
      again(nowNs);
    }
  }

  private void again(long nowNs) {
    over = costNs.suffice(nowNs - startedNs);
    sent = false;
    idleNs.clear();
    lastNs = -1;
  }

  boolean isOver() {
    return over;
  }

  /** A round in which nothing comes. */
  double idleNs() {
    return lastIdleNs;
  }

  double costNs() {
    return Math.max(0, costNs.median());
  }
}
