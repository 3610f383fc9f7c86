package org.pmhxb.pm.port;

import org.pmhxb.ffi.PortStats;

/**
 * What a port, its driver and the kernel counted since the port was opened; 0 where the driver does
 * not count. A device with several queues, or one that the kernel uses too, counts all that passes
 * it.
 *
 * @param rxFrames received
 * @param rxBytes of them
 * @param txFrames sent
 * @param txBytes of them
 * @param rxDropped intact frames that were lost below us: a ring was full, no buffer was free, a
 *     frame was not for this pool
 * @param rxErrors frames that arrived damaged
 * @param txErrors frames that were taken and did not leave; some drivers count here what they
 *     refused for want of room
 */
public record PortCounters(
    long rxFrames,
    long rxBytes,
    long txFrames,
    long txBytes,
    long rxDropped,
    long rxErrors,
    long txErrors) {
  /** Of a port that is closed. */
  public static final PortCounters ZERO = new PortCounters(0, 0, 0, 0, 0, 0, 0);

  /** Of a port that counts nothing else. */
  public static PortCounters ofDropped(long rxDropped) {
    return ZERO.plusDropped(rxDropped);
  }

  static PortCounters of(PortStats stats) {
    return new PortCounters(
        stats.rxPackets(),
        stats.rxBytes(),
        stats.txPackets(),
        stats.txBytes(),
        stats.rxDropped() - stats.rxErrors(),
        stats.rxErrors(),
        stats.txErrors());
  }

  PortCounters plusDropped(long rxDroppedToo) {
    return new PortCounters(
        rxFrames, rxBytes, txFrames, txBytes, rxDropped + rxDroppedToo, rxErrors, txErrors);
  }

  PortCounters plusLost(long txErrorsToo) {
    return new PortCounters(
        rxFrames, rxBytes, txFrames, txBytes, rxDropped, rxErrors, txErrors + txErrorsToo);
  }

  /** Whether anything is less: what counts has begun anew. */
  boolean isBelow(PortCounters earlier) {
    return rxFrames < earlier.rxFrames
        || rxBytes < earlier.rxBytes
        || txFrames < earlier.txFrames
        || txBytes < earlier.txBytes
        || rxDropped < earlier.rxDropped
        || rxErrors < earlier.rxErrors
        || txErrors < earlier.txErrors;
  }

  PortCounters since(PortCounters before) {
    return new PortCounters(
        rxFrames - before.rxFrames,
        rxBytes - before.rxBytes,
        txFrames - before.txFrames,
        txBytes - before.txBytes,
        rxDropped - before.rxDropped,
        rxErrors - before.rxErrors,
        txErrors - before.txErrors);
  }
}
