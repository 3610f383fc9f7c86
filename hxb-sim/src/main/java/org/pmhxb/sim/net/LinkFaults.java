package org.pmhxb.sim.net;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.pmhxb.sim.fault.Fault;
import org.pmhxb.sim.fault.FaultKind;

/**
 * The faults that sit on one direction of one rail. A direction is FIFO unless a fault reorders:
 * what is merely delayed is never overtaken. Owner: the simulation's thread.
 */
final class LinkFaults {
  private static final int STALE_FRAMES_MAX = 64;
  private static final double GREY_LOSS = 0.3;

  /** Where frames go that pass. */
  interface Outlet {
    void emit(WireFrame frame, long atNs);
  }

  private static final class Active {
    final Fault fault;
    final SplittableRandom random;
    final ArrayDeque<WireFrame> kept = new ArrayDeque<>();
    int burstLeft;

    Active(Fault fault, long salt) {
      this.fault = fault;
      this.random = new SplittableRandom(fault.seed() * 31 + salt);
    }

    boolean strikes() {
      return random.nextDouble() < fault.rate();
    }

    long upTo(long limit) {
      return limit <= 0 ? 0 : random.nextLong(limit);
    }
  }

  private final boolean transmitting;
  private final long salt;
  private final Outlet outlet;
  private final List<Active> active = new ArrayList<>();
  private long lastNs;

  LinkFaults(boolean transmitting, long salt, Outlet outlet) {
    this.transmitting = transmitting;
    this.salt = salt;
    this.outlet = outlet;
  }

  void begin(Fault fault) {
    active.add(new Active(fault, salt));
  }

  void end(Fault fault, long nowNs) {
    for (int i = active.size() - 1; i >= 0; i--) {
      if (active.get(i).fault.equals(fault)) {
        Active ended = active.remove(i);
        ended.kept.forEach(frame -> outlet.emit(frame, nowNs));
      }
    }
  }

  /** Part of the bandwidth that is left. */
  double bandwidth() {
    double part = 1;
    for (Active a : active) {
      if (a.fault.kind() == FaultKind.SLOW_LINK) {
        part = Math.min(part, Math.max(0.001, a.fault.rate()));
      }
    }
    return part;
  }

  int queueBytes(int normal) {
    int bytes = normal;
    for (Active a : active) {
      if (a.fault.kind() == FaultKind.SHORT_QUEUE) {
        bytes = (int) Math.min(bytes, a.fault.amount());
      }
    }
    return bytes;
  }

  /** Sends a frame through all faults; what is left of it reaches the outlet. */
  void pass(WireFrame frame, long nowNs, long arrivalNs) {
    long atNs = arrivalNs;
    boolean overtakes = false;
    for (int i = 0; i < active.size(); i++) {
      Active a = active.get(i);
      if (isLost(a, frame, nowNs)) {
        return;
      }
      switch (a.fault.kind()) {
        case DUPLICATION -> {
          if (a.strikes()) {
            outlet.emit(frame.copy(), Math.max(lastNs, atNs));
          }
        }
        case LATE_DUPLICATION -> {
          if (a.strikes()) {
            outlet.emit(frame.copy(), atNs + a.upTo(a.fault.amount()));
          }
        }
        case REORDERING -> {
          if (a.strikes()) {
            atNs += a.upTo(a.fault.amount());
            overtakes = true;
          }
        }
        case CORRUPTION -> {
          if (a.strikes()) {
            corrupt(frame, a.random);
          }
        }
        case TRUNCATION -> {
          if (a.strikes()) {
            frame.length = 1 + a.random.nextInt(frame.length);
          }
        }
        case DELAY -> atNs += a.fault.amount();
        case JITTER -> atNs += (long) (-Math.log(1 - a.random.nextDouble()) * a.fault.amount());
        default -> {
          // Lost above, or not a matter of single frames.
        }
      }
    }
    if (!overtakes) {
      lastNs = Math.max(lastNs, atNs);
      atNs = lastNs;
    }
    outlet.emit(frame, atNs);
  }

  private boolean isLost(Active a, WireFrame frame, long nowNs) {
    Fault f = a.fault;
    return switch (f.kind()) {
      case LOSS -> a.strikes();
      case BURST_LOSS -> {
        if (a.burstLeft == 0 && a.strikes()) {
          a.burstLeft = (int) f.amount();
        }
        yield a.burstLeft > 0 && a.burstLeft-- > 0;
      }
      case SHORT_FRAMES -> frame.length > f.amount();
      case SHORT_FRAMES_RX -> !transmitting && frame.length > f.amount();
      case CUT -> true;
      case CUT_TX -> transmitting;
      case CUT_RX -> !transmitting;
      case FLAPPING -> ((nowNs - f.startNs()) / Math.max(1, f.amount()) & 1) == 1;
      case GREY -> a.random.nextDouble() < GREY_LOSS;
      case STALE -> {
        if (a.kept.size() < STALE_FRAMES_MAX) {
          a.kept.add(frame);
        }
        yield true;
      }
      default -> false;
    };
  }

  private static void corrupt(WireFrame frame, SplittableRandom random) {
    int bits = 1 + random.nextInt(3);
    for (int i = 0; i < bits && frame.length > 0; i++) {
      frame.bytes[random.nextInt(frame.length)] ^= (byte) (1 << random.nextInt(8));
    }
  }
}
