package org.pmhxb.pm;

import java.lang.foreign.MemorySegment;
import net.openhft.chronicle.bytes.Bytes;
import org.pmhxb.bufpool.BytesView;
import org.pmhxb.bufpool.Descriptor;
import org.pmhxb.pm.wire.FrameHeader;

/**
 * A received message, seen in the very buffer that the receive burst filled. Valid within the
 * handler; {@link #retain} keeps it longer. Owner: the endpoint's thread.
 */
public final class Message {
  // Bound to a message or not, and what the handler has made of it.
  private static final int UNBOUND = 0;
  private static final int BOUND = 1;
  private static final int RETAINED = 2;
  private static final int DEFERRED = 3;
  private static final int COPIED = 4;

  private final PmEndpoint endpoint;
  private final MemorySegment memory;
  private BytesView view;

  private int state;

  /** The message's descriptor: what the program does not ask for is not taken apart. */
  private long lo;

  private long hi;

  /** Not all of a frame's payload: the next fields say what of it. */
  private boolean part;

  private int partBytes;
  private long partOffset;
  private boolean fragment;
  private long messageLengthBytes;
  private long fragmentOffsetBytes;

  Message(PmEndpoint endpoint, MemorySegment memory) {
    this.endpoint = endpoint;
    this.memory = memory;
  }

  /** A frame's whole payload. {@link #part} is false between two frames. */
  void bind(long descriptorLo, long descriptorHi) {
    state = BOUND;
    lo = descriptorLo;
    hi = descriptorHi;
  }

  /** A payload that begins with the fragment header; the receiver has checked it. */
  void bindFragment(long descriptorLo, long descriptorHi) {
    bind(descriptorLo, descriptorHi);
    long frameAt = endpoint.frameAt(Descriptor.bufferId(descriptorHi));
    part = true;
    fragment = true;
    messageLengthBytes = FrameHeader.payloadInt(memory, frameAt, 0) & 0xFFFF_FFFFL;
    fragmentOffsetBytes = FrameHeader.payloadInt(memory, frameAt, 4) & 0xFFFF_FFFFL;
    partOffset = frameAt + FrameHeader.BYTES + SendBuffer.FRAGMENT_HEADER_BYTES;
    partBytes = Descriptor.length(descriptorHi) - SendBuffer.FRAGMENT_HEADER_BYTES;
  }

  /** One of the messages of a frame. */
  void bindPart(long descriptorLo, long descriptorHi, long at, int length) {
    bind(descriptorLo, descriptorHi);
    part = true;
    partOffset = at;
    partBytes = length;
  }

  /** Its handler has returned. */
  void unbind() {
    state = UNBOUND;
    part = false;
    fragment = false;
    if (view != null) {
      view.unbind();
    }
  }

  /** Its handler has returned, and {@link #unbind} would leave everything as it is. */
  boolean isSimplyDone() {
    return state == BOUND && view == null;
  }

  /** The node that sent it. */
  public int source() {
    return Descriptor.node(hi);
  }

  /** The endpoint that sent it, at that node. */
  public int sourceEndpoint() {
    return Descriptor.endpoint(lo);
  }

  /** Payload bytes here: of the whole message, or of this fragment. */
  public int lengthBytes() {
    return part ? partBytes : Descriptor.length(hi);
  }

  /** The memory that {@link #offset()} counts in. */
  public MemorySegment memory() {
    checkBound();
    return memory;
  }

  public long offset() {
    checkBound();
    return part ? partOffset : endpoint.frameAt(bufferId()) + FrameHeader.BYTES;
  }

  /** A Chronicle Bytes view over the payload, re-bound, not allocated. */
  public Bytes<?> bytes() {
    checkBound();
    if (view == null) {
      view = new BytesView(memory);
    }
    return view.forRead(offset(), lengthBytes());
  }

  /** The buffer's ID in the pool. */
  public int bufferId() {
    return Descriptor.bufferId(hi);
  }

  /** It shares its frame with others; {@link #retain} copies it. */
  public boolean isCoalesced() {
    return (Descriptor.flags(lo) & FrameHeader.FLAG_COALESCED) != 0;
  }

  /** Part of a message longer than one frame; fragments of a source arrive in order. */
  public boolean isFragment() {
    return fragment;
  }

  /** Length of the whole message. */
  public long messageLengthBytes() {
    return fragment ? messageLengthBytes : lengthBytes();
  }

  /** Where this fragment belongs in its message. */
  public long fragmentOffsetBytes() {
    return fragment ? fragmentOffsetBytes : 0;
  }

  /** The last or only part of its message. */
  public boolean isLast() {
    return fragmentOffsetBytes() + lengthBytes() >= messageLengthBytes();
  }

  /**
   * Keeps the message beyond the handler: its buffer goes on loan, or it is copied once into the
   * endpoint's copy area: when the loan budget is used up, and when it shares its frame with
   * others.
   *
   * @return null when that area is used up too; {@link #defer} then leaves the message undelivered
   * @throws IllegalStateException it was retained or deferred before, or its handler has returned
   */
  public Loan retain() {
    checkBound();
    if (state != BOUND) {
      throw new IllegalStateException("message was retained or deferred already");
    }
    Loan loan = endpoint.lend(this);
    if (loan != null) {
      state = loan.isCopy() ? COPIED : RETAINED;
    }
    return loan;
  }

  /**
   * Leaves the message undelivered: the next poll begins with it again. Again has no effect.
   *
   * @throws IllegalStateException it was retained before, or its handler has returned
   */
  public void defer() {
    checkBound();
    if (state != BOUND && state != DEFERRED) {
      throw new IllegalStateException("message was retained already");
    }
    state = DEFERRED;
  }

  boolean isBound() {
    return state != UNBOUND;
  }

  boolean isRetained() {
    return state == RETAINED;
  }

  boolean isDeferred() {
    return state == DEFERRED;
  }

  private void checkBound() {
    if (state == UNBOUND) {
      throw new IllegalStateException("message is valid within its handler only; see retain()");
    }
  }
}
