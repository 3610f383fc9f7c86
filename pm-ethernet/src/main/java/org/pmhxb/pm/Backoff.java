package org.pmhxb.pm;

/**
 * What a poll thread does between rounds that find nothing, by {@link PollIdle#BACKOFF}: spin while
 * the core is its own, yield while others want it too, sleep when nothing comes or when others
 * compute on it.
 *
 * <p>Who else wants the core shows in how long a yield takes, and in gaps between spins. Between
 * pollers that share a core a spin is the wait of another: a relay of three nodes on two cores got
 * its turn only after 30 us of spinning.
 *
 * <p>Owner: who drives the rounds. Not thread-safe.
 */
final class Backoff {
  /** What to do before the next round. */
  enum Step {
    SPIN,
    YIELD,
    SLEEP
  }

  static final int SPINS = 200;
  static final int YIELDS = 50;

  /** Every so many waits begin with a yield: with frames that always come early none would. */
  static final int PROBE_EVERY = 16;

  /**
   * A yield that finds nobody takes 0.2 to 0.5 us; another poller's round and two switches more.
   */
  static final long SHARED_YIELD_NS = 2_000L;

  /**
   * From one round that finds nothing to the next, a spin between. Where it takes longer others ran
   * on the core; or the round itself took so long, looking after the timers of thousands of peers:
   * such a node gives more way than it need.
   */
  static final long GAP_NS = 5_000L;

  /** So many short yields for a long one, until the core counts as its own again. */
  static final int SHORT_FOR_LONG = 64;

  static final int MOST_SHORT = 256;

  /** Who ran meanwhile is no poller. */
  static final long SLOW_YIELD_NS = 100_000L;

  /**
   * So many slow yields in a row show that others compute on this core. A single one is common
   * where none does: a thread of the kernel, or of the compiler, passed by.
   */
  static final int SLOW_YIELDS = 3;

  static final int SLEEPS_AFTER_SLOW_YIELDS = 1_000;

  private boolean waiting;
  private boolean spun;
  private long roundNs;
  private int spinsLeft;
  private int yieldsLeft;
  private int waits;
  private int shared;
  private int slowYields;
  private int sleepsLeft;

  /** A round did something. */
  void worked() {
    waiting = false;
  }

  /**
   * A round found nothing.
   *
   * @param nowNs when it began
   */
  Step next(long nowNs) {
    if (!waiting) {
      beginWait();
    } else if (spun && nowNs - roundNs > GAP_NS) {
      foundShared();
    }
    roundNs = nowNs;
    spun = false;
    if (sleepsLeft > 0) {
      sleepsLeft--;
      return Step.SLEEP;
    }
    if (spinsLeft > 0) {
      spinsLeft--;
      spun = true;
      return Step.SPIN;
    }
    if (yieldsLeft > 0) {
      yieldsLeft--;
      return Step.YIELD;
    }
    return Step.SLEEP;
  }

  private void beginWait() {
    waiting = true;
    boolean probes = ++waits % PROBE_EVERY == 0;
    spinsLeft = shared > 0 || probes ? 0 : SPINS;
    yieldsLeft = YIELDS;
  }

  /**
   * What {@link Step#YIELD} came to.
   *
   * @param tookNs until the core came back
   */
  void yielded(long tookNs) {
    if (tookNs > SHARED_YIELD_NS) {
      foundShared();
    } else if (shared > 0) {
      shared--;
    }
    slowYields = tookNs > SLOW_YIELD_NS ? slowYields + 1 : 0;
    if (slowYields == SLOW_YIELDS) {
      slowYields = 0;
      sleepsLeft = SLEEPS_AFTER_SLOW_YIELDS;
    }
  }

  /** Others want the core: no spins for a while. */
  private void foundShared() {
    shared = Math.min(MOST_SHORT, shared + SHORT_FOR_LONG);
    spinsLeft = 0;
  }
}
