package org.pmhxb.pm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import net.openhft.chronicle.bytes.Bytes;
import org.pmhxb.bufpool.BytesView;
import org.pmhxb.bufpool.Memory;
import org.pmhxb.pm.wire.FrameHeader;

/**
 * A claimed frame: the program writes its payload in place, then sends or aborts it. Owner: the
 * endpoint's thread. The object is used again by later claims; keep no reference beyond send or
 * abort.
 *
 * <p>A small claim may lie in a frame that holds messages sent before (inline mode): the bytes on
 * either side of it are theirs. It stays where it is until it is sent, also when they have to go
 * without it.
 */
public final class SendBuffer {
  /** Fragment header: messageLength:32 | fragmentOffset:32. */
  static final int FRAGMENT_HEADER_BYTES = 8;

  private static final int FLAGS_MASK = 0xFF;
  private static final int CLAIMED = 0x100;

  /** It was claimed in a frame that waited with other messages. */
  private static final int IN_PLACE = 0x200;

  /** The program has a view, whose next use is to be refused once this is sent. */
  private static final int VIEWED = 0x400;

  /** It is one of several: the endpoint keeps it for the next claim that comes beside another. */
  private static final int ONE_OF_SEVERAL = 0x800;

  /** Of the endpoint's only one: it is longer than what shares a frame, and nobody touched it. */
  private static final int USUAL = CLAIMED | 0x1000;

  private final PmEndpoint endpoint;

  /** {@link #CLAIMED}, and {@link #ONE_OF_SEVERAL} or not. */
  private final int claimedMode;

  private final MemorySegment memory;

  /** Where {@link #memory} begins, for {@link Memory#ALL}. */
  private final long memoryAddress;

  private BytesView view;

  /** The last claim's; only stored when it changes, because a reference costs a write barrier. */
  private Lane lane;

  /** The bits above, and the frame's flags; 0: not claimed. */
  private int mode;

  private int bufferId;
  private int lengthBytes;
  private int claimEpoch;

  /** In {@link Memory#ALL}. */
  private long payloadAddress;

  /**
   * @param only the endpoint's only one, as long as no two claims are out
   */
  SendBuffer(PmEndpoint endpoint, MemorySegment memory, boolean only) {
    this.endpoint = endpoint;
    this.claimedMode = only ? CLAIMED : CLAIMED | ONE_OF_SEVERAL;
    this.memory = memory;
    this.memoryAddress = memory.address();
  }

  /**
   * @param frameAt where the buffer's frame begins
   * @param frameFlags FRAGMENT, or 0
   */
  void bind(Lane to, int id, int length, int frameFlags, long frameAt) {
    if (lane != to) {
      lane = to;
    }
    mode = claimedMode | frameFlags;
    bufferId = id;
    lengthBytes = length;
    claimEpoch = to.epoch();
    payloadAddress = memoryAddress + frameAt + FrameHeader.BYTES + fragmentHeaderBytes();
  }

  /**
   * {@link #bind} of a frame without flags, by the endpoint's only buffer, for a message that is
   * longer than what shares a frame.
   */
  void bindUsual(Lane to, int id, int length, long frameAt) {
    if (lane != to) {
      lane = to;
    }
    mode = USUAL;
    bufferId = id;
    lengthBytes = length;
    claimEpoch = to.epoch();
    payloadAddress = memoryAddress + frameAt + FrameHeader.BYTES;
  }

  /**
   * The message is written behind others in a frame that waits to be sent.
   *
   * @param epoch of the credit that it takes
   * @param at where it is written
   */
  void bindInPlace(Lane to, int id, int length, int epoch, long at) {
    if (lane != to) {
      lane = to;
    }
    mode = claimedMode | IN_PLACE;
    bufferId = id;
    lengthBytes = length;
    claimEpoch = epoch;
    payloadAddress = memoryAddress + at;
  }

  /** {@link #unbind} of one that {@link #isUsual}. */
  void unbindUsual() {
    mode = 0;
  }

  void unbind() {
    mode = 0;
    if (view != null) {
      view.unbind();
    }
  }

  boolean isClaimed() {
    return mode != 0;
  }

  /** The memory that {@link #offset()} counts in: the whole pool, so that nothing is sliced. */
  public MemorySegment memory() {
    checkClaimed();
    return memory;
  }

  /** Where the payload begins in {@link #memory()}. */
  public long offset() {
    checkClaimed();
    return payloadAddress - memoryAddress;
  }

  /**
   * Writes eight bytes of the payload, as {@link ValueLayout#JAVA_LONG_UNALIGNED} has them. Held
   * against the claim's length alone, so it costs less than a store by {@link #memory()}, and
   * cannot reach beyond the claim.
   *
   * @param position in the payload, 0 to {@link #lengthBytes()} - 8
   * @throws IndexOutOfBoundsException it is outside
   * @throws IllegalStateException the buffer was sent or aborted before
   */
  public void putLong(int position, long value) {
    if (mode == 0 || position < 0 || position > lengthBytes - Long.BYTES) {
      throw refuse(position, Long.BYTES);
    }
    long at = Memory.known(payloadAddress);
    Memory.ALL.set(ValueLayout.JAVA_LONG_UNALIGNED, at + position, value);
  }

  private RuntimeException refuse(int position, int bytes) {
    checkClaimed();
    return new IndexOutOfBoundsException(
        "%d bytes at %d of a claim of %d".formatted(bytes, position, lengthBytes));
  }

  /** Payload bytes as claimed, or as cut by {@link #truncate}. */
  public int lengthBytes() {
    return lengthBytes;
  }

  /** Sends fewer bytes than were claimed. */
  public void truncate(int bytes) {
    checkClaimed();
    if (bytes < 0 || bytes > lengthBytes) {
      throw new IllegalArgumentException(
          "cannot cut a claim of " + lengthBytes + " bytes to " + bytes);
    }
    lengthBytes = bytes;
    mayShare();
  }

  /** Its length, or what lengths share a frame, is another than when it was claimed. */
  void mayShare() {
    mode &= ~USUAL | CLAIMED;
  }

  /** A Chronicle Bytes view over the payload, empty and with room for all of it. */
  public Bytes<?> bytes() {
    checkClaimed();
    if (view == null) {
      view = new BytesView(memory);
    }
    mode |= VIEWED;
    return view.forWrite(payloadAddress - memoryAddress, lengthBytes);
  }

  /** ID in the pool of the buffer that it lies in, alone or behind other messages. */
  public int bufferId() {
    return bufferId;
  }

  /** Gives buffer and credit back; the order of what is sent has no gap. */
  public void abort() {
    checkClaimed();
    endpoint.abort(this);
  }

  boolean isInPlace() {
    return (mode & IN_PLACE) != 0;
  }

  /** It lies alone in its frame, and the frame has no flags. */
  boolean isAlone() {
    return (mode & (IN_PLACE | FLAGS_MASK)) == 0;
  }

  /**
   * {@link #isAlone}, longer than what shares a frame, there is no view, and the endpoint has it at
   * hand: only the mode changes.
   */
  boolean isUsual() {
    return mode == USUAL;
  }

  /** Of a claim that {@link #isAlone}, or was: where its frame begins, for {@link Memory#ALL}. */
  long frameAddress() {
    return Memory.known(payloadAddress - FrameHeader.BYTES);
  }

  /** Of the last claim. */
  Lane lane() {
    return lane;
  }

  /** It is not sent: if it is claimed. */
  void giveBackCredit() {
    if (mode != 0) {
      lane.giveCreditBack(claimEpoch);
    }
  }

  boolean isOneOfSeveral() {
    return claimedMode != CLAIMED;
  }

  int flags() {
    return mode & FLAGS_MASK;
  }

  int claimEpoch() {
    return claimEpoch;
  }

  int fragmentHeaderBytes() {
    return (mode & FrameHeader.FLAG_FRAGMENT) != 0 ? FRAGMENT_HEADER_BYTES : 0;
  }

  void fragmentHeader(long messageBytes, long fragmentOffset) {
    long at = payloadAddress - memoryAddress - FRAGMENT_HEADER_BYTES - FrameHeader.BYTES;
    FrameHeader.payloadInt(memory, at, 0, (int) messageBytes);
    FrameHeader.payloadInt(memory, at, 4, (int) fragmentOffset);
  }

  /** Of a fragment: the whole message's bytes. */
  long fragmentedBytes() {
    return Integer.toUnsignedLong(fragmentWord(0));
  }

  /** Of a fragment: where it belongs in the message. */
  long fragmentOffset() {
    return Integer.toUnsignedLong(fragmentWord(4));
  }

  private int fragmentWord(int offset) {
    long at = payloadAddress - memoryAddress - FRAGMENT_HEADER_BYTES - FrameHeader.BYTES;
    return FrameHeader.payloadInt(memory, at, offset);
  }

  Lane takeForSend(PmEndpoint by) {
    if (by != endpoint) {
      throw claimedFromAnother(by);
    }
    checkClaimed();
    return lane;
  }

  private IllegalArgumentException claimedFromAnother(PmEndpoint by) {
    return new IllegalArgumentException(
        "buffer "
            + bufferId
            + " was claimed from endpoint "
            + endpoint.number()
            + ", not from endpoint "
            + by.number());
  }

  private void checkClaimed() {
    if (mode == 0) {
      throw new IllegalStateException(
          "buffer "
              + bufferId
              + " was sent or aborted already, or its endpoint closed: claim another");
    }
  }
}
