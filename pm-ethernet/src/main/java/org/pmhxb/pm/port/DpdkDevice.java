package org.pmhxb.pm.port;

import org.pmhxb.ffi.Ports;

/** A started DPDK port, closed with the last of its rails. Control path, any thread. */
final class DpdkDevice {
  final int number;
  private int railsOpen;

  DpdkDevice(int number, int rails) {
    this.number = number;
    this.railsOpen = rails;
  }

  synchronized void railClosed() {
    if (--railsOpen == 0) {
      Ports.close(number);
    }
  }
}
