package org.pmhxb.pm.port;

import java.util.function.LongSupplier;
import org.pmhxb.ffi.Ports;

/** A started DPDK port, closed with the last of its rails. Control path, any thread. */
final class DpdkDevice {
  final int number;
  private int railsOpen;

  DpdkDevice(int number, int rails) {
    this.number = number;
    this.railsOpen = rails;
  }

  /** Nobody asks a port that is gone. */
  synchronized boolean linkUp() {
    return railsOpen > 0 && Ports.linkMbps(number) > 0;
  }

  synchronized PortCounters counters(LongSupplier dropsBeside) {
    return railsOpen > 0
        ? PortCounters.of(Ports.stats(number)).plusDropped(dropsBeside.getAsLong())
        : PortCounters.ZERO;
  }

  synchronized void railClosed() {
    if (--railsOpen == 0) {
      Ports.close(number);
    }
  }
}
