package org.pmhxb.router;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * The pairing faults that hold now. A fault is listed once however often it is heard, leaves when
 * it was not heard for {@link #expiryNs} or is seen to be mended, and is reported again only when
 * it comes back after that.
 *
 * <p>Bounded: at most {@value #LIMIT} are listed, so that a hostile line costs neither memory nor
 * log. Owner: the poll thread, which allocates only when a fault begins or ends; {@link #listed}
 * from any thread; {@link #reportNew} from one control thread.
 */
final class FaultTable {
  static final int LIMIT = 64;

  private final long expiryNs;
  private final PairingFault[] faults = new PairingFault[LIMIT];
  private final long[] heardNs = new long[LIMIT];
  private int count;
  private long nextId = 1;
  private long unlisted;
  private volatile List<PairingFault> snapshot = List.of();

  // Owner: the control thread.
  private long lastReportedId;

  FaultTable(long expiryNs) {
    this.expiryNs = expiryNs;
  }

  /** Whether this fault is listed already; if so it counts as heard now. */
  boolean renew(PairingFault.Kind kind, int rail, long mac, long nowNs) {
    for (int i = 0; i < count; i++) {
      if (isOf(faults[i], kind, rail, mac)) {
        heardNs[i] = nowNs;
        return true;
      }
    }
    if (count == LIMIT) {
      unlisted++;
      return true;
    }
    return false;
  }

  /** Lists a fault for which {@link #renew} was false. */
  void add(
      PairingFault.Kind kind,
      int rail,
      PairingFault.End here,
      PairingFault.End there,
      String detail,
      long nowNs) {
    heardNs[count] = nowNs;
    faults[count++] = new PairingFault(nextId++, kind, rail, here, there, detail, nowNs);
    publish();
  }

  /** Forgets a fault that was seen to be mended. */
  void end(PairingFault.Kind kind, int rail, long mac) {
    int kept = 0;
    for (int i = 0; i < count; i++) {
      if (!isOf(faults[i], kind, rail, mac)) {
        keep(i, kept++);
      }
    }
    cutTo(kept);
  }

  /** Forgets what was not heard for a while. */
  void expire(long nowNs) {
    int kept = 0;
    for (int i = 0; i < count; i++) {
      if (nowNs - heardNs[i] < expiryNs) {
        keep(i, kept++);
      }
    }
    cutTo(kept);
  }

  private static boolean isOf(PairingFault fault, PairingFault.Kind kind, int rail, long mac) {
    return fault.kind() == kind && fault.rail() == rail && fault.there().mac() == mac;
  }

  private void keep(int from, int to) {
    faults[to] = faults[from];
    heardNs[to] = heardNs[from];
  }

  private void cutTo(int kept) {
    if (kept != count) {
      for (int i = kept; i < count; i++) {
        faults[i] = null;
      }
      count = kept;
      publish();
    }
  }

  private void publish() {
    List<PairingFault> list = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      list.add(faults[i]);
    }
    snapshot = List.copyOf(list);
  }

  List<PairingFault> listed() {
    return snapshot;
  }

  /** Frames that showed a fault for which there was no room. */
  long unlisted() {
    return unlisted;
  }

  int reportNew(Consumer<PairingFault> listener) {
    int reported = 0;
    for (PairingFault fault : snapshot) {
      if (fault.id() > lastReportedId) {
        lastReportedId = fault.id();
        listener.accept(fault);
        reported++;
      }
    }
    return reported;
  }
}
