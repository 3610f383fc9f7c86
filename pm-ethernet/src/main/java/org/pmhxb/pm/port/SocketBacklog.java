package org.pmhxb.pm.port;

import org.pmhxb.ffi.Hxb;
import org.pmhxb.pm.wire.FrameHeader;

/**
 * What the kernel still has of the frames that a packet socket sent. The kernel tells one sum over
 * all of them, charged its own way; so the lengths are remembered, oldest first, and the oldest are
 * forgotten while the rest could make up that sum.
 *
 * <p>Owner: the port's poll thread.
 */
final class SocketBacklog {
  /**
   * The least that the kernel charges a socket beyond a frame's bytes (socket buffer head and
   * struct; 0.8 KB and more were seen). Assuming less makes the room an underestimate, never more.
   */
  private static final int KERNEL_OVERHEAD_BYTES = 512;

  /**
   * What the kernel copies and is as long as this lies in whole pages, but for the Ethernet header
   * (seen: 13,120 bytes charged for a frame of 9,014, 9,024 for one of 8,200).
   */
  private static final int PAGE_BYTES = 4_096;

  /**
   * What the kernel may have without being asked: one long frame, a quarter of what a port may
   * always have in front of the wire (PortBound).
   */
  private static final int UNASKED_BYTES = 9_216;

  private final int socket;
  private final boolean copied;

  /** Lengths of the newest frames sent, which may still be in the kernel. */
  private final int[] lengths;

  private final int mask;
  private int oldest;
  private int outstanding;

  /** Bytes of the outstanding frames. */
  private long outstandingBytes;

  /** What the kernel charges at least for them. */
  private long chargedBytes;

  /** Frame bytes handed over since the kernel said that it has none. */
  private long sinceEmptyBytes;

  /** What was last said that the kernel has. */
  private long toldBytes;

  /**
   * @param socket its descriptor
   * @param frames most that may be outstanding, a power of two
   * @param copied whether the kernel copies what is sent, instead of sharing a ring
   */
  SocketBacklog(int socket, int frames, boolean copied) {
    this.socket = socket;
    this.copied = copied;
    this.lengths = new int[frames];
    this.mask = frames - 1;
  }

  /** A frame was handed over; fewer than all are outstanding. */
  void sent(int lengthBytes) {
    lengths[oldest + outstanding & mask] = lengthBytes;
    outstanding++;
    sinceEmptyBytes += lengthBytes;
    outstandingBytes += lengthBytes;
    chargedBytes += leastCharge(lengthBytes);
  }

  private int leastCharge(int lengthBytes) {
    if (!copied || lengthBytes < PAGE_BYTES) {
      return lengthBytes + KERNEL_OVERHEAD_BYTES;
    }
    int pages = (lengthBytes - FrameHeader.ETHERNET_HEADER_BYTES + PAGE_BYTES - 1) / PAGE_BYTES;
    return pages * PAGE_BYTES + KERNEL_OVERHEAD_BYTES;
  }

  /** Frames that the kernel may still have. */
  int outstanding() {
    return outstanding;
  }

  /**
   * Whether a burst of so many bytes may go and nothing be asked: whoever was told last was told
   * that nothing waits and would be told so now, and behind the burst half of what may always be in
   * front of the wire is there at most.
   */
  boolean takesUnasked(int burstBytes) {
    return toldBytes == 0 && sinceEmptyBytes <= UNASKED_BYTES && burstBytes <= UNASKED_BYTES;
  }

  /** Whether so much was sent since the kernel had nothing that it is worth a system call. */
  boolean mayBeLong() {
    return sinceEmptyBytes > UNASKED_BYTES;
  }

  /** Asks the kernel; returns the bytes by its own account. */
  int ask() {
    int heldBytes = Hxb.afPacketOutq(socket);
    if (heldBytes == 0) {
      sinceEmptyBytes = 0;
    }
    return heldBytes;
  }

  /** Forgets the oldest frames until the rest could make up what the kernel says it has. */
  void forgetBeyond(int heldBytes) {
    while (outstanding > 0 && chargedBytes > heldBytes) {
      outstandingBytes -= lengths[oldest];
      chargedBytes -= leastCharge(lengths[oldest]);
      oldest = oldest + 1 & mask;
      outstanding--;
    }
  }

  /** Frame bytes that the kernel still has, as far as is known after {@link #ask}. */
  long bytes(int heldBytes) {
    toldBytes = Math.min(heldBytes, outstandingBytes);
    return toldBytes;
  }

  /** {@link #bytes} where it is not worth a question. */
  long unaskedBytes() {
    toldBytes = 0;
    return 0;
  }
}
