package org.pmhxb.pm;

import org.pmhxb.bufpool.Memory;
import org.pmhxb.pm.flow.PendingFrames;
import org.pmhxb.pm.wire.CoalescedPayload;

/**
 * The frame that waits and that an endpoint's small messages join, one after the other (DESIGN rule
 * 16): all that the next claim and its send need of lane, credit and frame in one place, so that
 * neither goes from endpoint to lane, node and frame record.
 *
 * <p>It has one credit of the lane, which each claim in the frame takes and gives back when it is
 * sent: it is the claim's own if the frame has to go without it. What the frame holds is entered in
 * {@link PendingFrames} when this closes; whoever looks there, or changes what the lane's next
 * message may join, closes it first. Owner: the thread of an inline node.
 */
final class OpenFrame {
  private final PendingFrames pending;

  /** Payload bytes of a frame. */
  private final int roomBytes;

  /** Whose frame it is; null when none is open. */
  private Lane lane;

  private int longestBytes;
  private int id;
  private int epoch;
  private long payloadAddress;

  /** Of the messages so far, padding included. */
  private int usedBytes;

  private int messages;

  OpenFrame(PendingFrames pending, int roomBytes) {
    this.pending = pending;
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
    longestBytes = longest;
    id = frame;
    epoch = claimEpoch;
    payloadAddress = address;
    usedBytes = used;
    messages = holds;
  }

  boolean isOf(Lane other) {
    return lane == other;
  }

  /** Whether the next message of the lane can be written here. */
  boolean takes(int lengthBytes) {
    return lengthBytes <= longestBytes
        && CoalescedPayload.fits(usedBytes, messages, lengthBytes, roomBytes);
  }

  int id() {
    return id;
  }

  /** Where the next message begins in the frame's payload. */
  int usedBytes() {
    return usedBytes;
  }

  /** The message that was written behind the others was sent. */
  void enter(int lengthBytes) {
    CoalescedPayload.enter(Memory.ALL, payloadAddress, roomBytes, messages, usedBytes, lengthBytes);
    usedBytes += CoalescedPayload.paddedBytes(lengthBytes);
    messages++;
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
    pending.grown(id, usedBytes, messages);
    if (of.guestId != id) {
      of.giveCreditBack(epoch);
    }
  }
}
