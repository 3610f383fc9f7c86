package org.pmhxb.sim.fault;

import java.util.Arrays;
import java.util.Locale;

/** What can go wrong, and what the numbers of a {@link Fault} of that kind mean. */
public enum FaultKind {
  // --- on the wire of a rail, each direction by itself ---
  LOSS(Scope.LINK, "frames are lost with probability rate"),
  BURST_LOSS(Scope.LINK, "with probability rate a burst of amount frames is lost"),
  DUPLICATION(Scope.LINK, "frames arrive twice with probability rate"),
  LATE_DUPLICATION(Scope.LINK, "copies arrive up to amount ns later with probability rate"),
  REORDERING(Scope.LINK, "frames are held back up to amount ns with probability rate"),
  CORRUPTION(Scope.LINK, "one to three bits of a frame flip with probability rate"),
  TRUNCATION(Scope.LINK, "frames lose their end with probability rate"),
  DELAY(Scope.LINK, "every frame takes amount ns longer"),
  JITTER(Scope.LINK, "every frame takes longer, exponentially distributed with mean amount ns"),
  SLOW_LINK(Scope.LINK, "bandwidth is rate of what it was"),
  SHORT_QUEUE(Scope.LINK, "the switch queues at most amount bytes towards the rail"),
  SHORT_FRAMES(Scope.LINK, "frames of more than amount bytes are lost, as by too small an MTU"),
  SHORT_FRAMES_RX(Scope.LINK, "those of them that the node is sent are lost"),
  CUT(Scope.LINK, "nothing passes, the carrier stays up"),
  CUT_TX(Scope.LINK, "nothing that the node sends passes"),
  CUT_RX(Scope.LINK, "nothing that the node is sent passes"),
  FLAPPING(Scope.LINK, "passes for amount ns, then does not for as long, and so on"),
  GREY(Scope.LINK, "three frames in ten are lost both ways"),
  STALE(Scope.LINK, "frames of a link that is down come out when it comes back"),

  // --- of the port's driver ---
  BLOCKING(Scope.PORT, "with probability rate a transmit call blocks for amount ns"),
  STRANDING(Scope.PORT, "accepted frames wait for the next transmit call"),
  LATE_RELEASE(Scope.PORT, "transmit buffers come back amount ns after they left"),
  PARTIAL(Scope.PORT, "a transmit call takes at most amount frames"),

  // --- of a node ---
  CRASH(Scope.NODE, "the node dies and does not come back"),
  RESTART(Scope.NODE, "the node dies and is started again when the fault ends"),
  STOP(Scope.NODE, "the node is stopped with a word to its peers, and started again at the end"),
  STALL(Scope.NODE, "the poller stands still"),
  SELDOM(Scope.NODE, "the poller comes once in amount ns, up to rate of it sooner, and does all"),
  SLOW_CONSUMER(Scope.NODE, "the program runs once in amount ns"),
  STOPPED_CONSUMER(Scope.NODE, "the program does not run"),
  POOL(Scope.NODE, "rate of the free buffers are taken away"),
  SKEW(Scope.NODE, "the clock runs rate faster (slower below 0) and starts amount ns ahead"),
  MISCABLING(Scope.NODE, "two rails' cables are swapped"),

  // --- of the machine ---
  PARTITION(Scope.MACHINE, "nodes below coordinate amount and the rest lose each other");

  /** What a fault of a kind sits on. */
  public enum Scope {
    LINK,
    PORT,
    NODE,
    MACHINE
  }

  /**
   * Kinds that go on for a few hundred milliseconds at most: what shows in seconds only is no part
   * of a mixture, whose schedules stay what they are.
   */
  static FaultKind[] brief() {
    return Arrays.stream(values())
        .filter(kind -> kind != SHORT_FRAMES && kind != SHORT_FRAMES_RX && kind != SELDOM)
        .toArray(FaultKind[]::new);
  }

  private final Scope scope;
  private final String explanation;

  FaultKind(Scope scope, String explanation) {
    this.scope = scope;
    this.explanation = explanation;
  }

  public Scope scope() {
    return scope;
  }

  public String explanation() {
    return explanation;
  }

  /** As in schedules: lower case with hyphens. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
