package org.pmhxb.jmh;

import org.pmhxb.pm.Counter;
import org.pmhxb.pm.DropReason;
import org.pmhxb.pm.PmNode;

/** A benchmark whose frames are dropped measures something else: it must fail. */
final class Accounts {
  private Accounts() {}

  /** Refuses drops of any kind, sessions that ended, and frames whose fate is unknown. */
  static void check(PmNode node) {
    for (DropReason reason : DropReason.values()) {
      refuse(reason.name(), node.counters().dropped(reason));
    }
    refuse("PEERS_DOWN", node.counters().get(Counter.PEERS_DOWN));
    refuse("FATE_UNKNOWN", node.counters().get(Counter.FATE_UNKNOWN));
    refuse("RESENT", node.counters().get(Counter.RESENT));
  }

  private static void refuse(String name, long count) {
    if (count != 0) {
      throw new IllegalStateException("the node under test counted " + name + " = " + count);
    }
  }
}
