package org.pmhxb.ffi;

/**
 * A port's counters since it was attached: the driver's, and (refused) the shim's.
 *
 * @param rxMissed dropped by the NIC, its ring was full
 * @param rxErrors erroneous frames
 * @param rxNoBuffer dropped, the pool was empty
 * @param txErrors not sent by the driver (net_ring and af_packet count refused frames here too)
 * @param rxRefusedSegments freed: more than one segment
 * @param rxRefusedForeign freed: buffer of another pool
 * @param rxRefusedOffset freed: not at the frame offset
 * @param rxRefusedLength freed: shorter than an Ethernet header or longer than a buffer
 * @param txRefused send bursts cut short by a descriptor out of range; of memif, frames, too, for
 *     which the peer's buffers can never do, and which are lost
 */
public record PortStats(
    long rxPackets,
    long txPackets,
    long rxBytes,
    long txBytes,
    long rxMissed,
    long rxErrors,
    long rxNoBuffer,
    long txErrors,
    long rxRefusedSegments,
    long rxRefusedForeign,
    long rxRefusedOffset,
    long rxRefusedLength,
    long txRefused) {

  /** Received frames that never reached the caller. */
  public long rxDropped() {
    return rxMissed
        + rxErrors
        + rxNoBuffer
        + rxRefusedSegments
        + rxRefusedForeign
        + rxRefusedOffset
        + rxRefusedLength;
  }
}
