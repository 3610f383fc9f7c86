package org.pmhxb.pm;

import org.pmhxb.bufpool.Memory;
import org.pmhxb.pm.flow.PendingFrames;
import org.pmhxb.pm.wire.CoalescedPayload;

/**
 * The frame that waits and that an endpoint's small messages join, one after the other (PROTOCOL.md
 * section 7.1): all that the next claim and its send need of lane, credit and frame in one place,
 * so that neither goes from endpoint to lane, node and frame record.
 *
 * <p>It has one credit of the lane, which each claim in the frame takes and gives back when it is
 * sent: it is the claim's own if the frame has to go without it. What the frame holds is entered in
 * {@link PendingFrames} when this closes; whoever looks there, or changes what the lane's next
 * message may join, closes it first. Owner: the thread of an inline node.
 */
final class OpenFrame {
  private final PendingFrames pending;

  /** Of the pool's memory. */
  private final long memoryAddress;

  /** Payload bytes of a frame. */
  private final int roomBytes;

  /** Whose frame it is; null when none is open. */
  private Lane lane;

  /** Node and endpoint that it leads to. */
  private long destination;

  /** Of the messages that may join it; -1 when none is open. */
  private int longestBytes = -1;

  private int id;
  private int epoch;
  private long payloadAddress;

  /** Where the next message begins. */
  private long nextAddress;

  /** Where its length belongs in the table, towards which the messages grow. */
  private long lengthAddress;

  OpenFrame(PendingFrames pending, long memoryAddress, int roomBytes) {
    this.pending = pending;
    this.memoryAddress = memoryAddress;
    this.roomBytes = roomBytes;
  }

  /**
   * A frame is open from now on, whose credit a claim had that was written in it.
   *
   * @param frame its buffer
   * @param address of its payload
   * @param used bytes of the messages that it holds, padding included
   * @param holds messages
   * @param longest message that may join it
   * @param claimEpoch when the credit was taken
   */
  void open(Lane to, int frame, long address, int used, int holds, int longest, int claimEpoch) {
    close();
    lane = to;
    destination = destination(to.dst, to.dstEndpoint);
    longestBytes = longest;
    id = frame;
    epoch = claimEpoch;
    payloadAddress = address;
    nextAddress = address + used;
    lengthAddress = CoalescedPayload.lengthAt(address, roomBytes, holds);
  }

  private static long destination(int node, int endpoint) {
    return (long) node << 32 | endpoint & 0xFFFF_FFFFL;
  }

  boolean isOf(Lane other) {
    return lane == other;
  }

  /** Whether the next message to an endpoint can be written here. */
  boolean takes(int node, int endpoint, int lengthBytes) {
    return destination == destination(node, endpoint)
        && (lengthBytes | longestBytes - lengthBytes) >= 0
        && nextAddress + CoalescedPayload.paddedBytes(lengthBytes) <= lengthAddress;
  }

  /** The claim of that message, whose place this is. */
  void claim(SendBuffer buffer, int lengthBytes) {
    Lane of = lane;
    of.guestId = id;
    buffer.bindInPlace(of, id, lengthBytes, epoch, nextAddress - memoryAddress);
  }

  /** Whether a claim is being written here. */
  boolean isClaimed() {
    return lane != null && lane.guestId == id;
  }

  /**
   * The message that was written behind the others was sent.
   *
   * @return whose it is
   */
  Lane enter(int lengthBytes) {
    Lane of = lane;
    of.guestId = 0;
    CoalescedPayload.enterAt(
        Memory.ALL, Memory.known(nextAddress), Memory.known(lengthAddress), lengthBytes);
    nextAddress += CoalescedPayload.paddedBytes(lengthBytes);
    lengthAddress -= CoalescedPayload.LENGTH_BYTES;
    return of;
  }

  /** {@link #close} if it is this lane's. */
  void closeFor(Lane other) {
    if (lane == other) {
      close();
    }
  }

  /** Enters what the frame holds, and gives the credit back unless a claim in the frame has it. */
  void close() {
    Lane of = lane;
    if (of == null) {
      return;
    }
    lane = null;
    longestBytes = -1;
    pending.grown(id, (int) (nextAddress - payloadAddress), messages());
    if (of.guestId != id) {
      of.giveCreditBack(epoch);
    }
  }

  private int messages() {
    long first = CoalescedPayload.lengthAt(payloadAddress, roomBytes, 0);
    return (int) (first - lengthAddress) / CoalescedPayload.LENGTH_BYTES;
  }
}
