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

  private final PmEndpoint endpoint;
  private final MemorySegment memory;
  private BytesView view;

  private int state;

  /** The message's descriptor: what the program does not ask for is not taken apart. */
  private long lo;

  private long hi;
  private int lengthBytes;
  private long offset;
  private boolean fragment;
  private long messageLengthBytes;
  private long fragmentOffsetBytes;

  Message(PmEndpoint endpoint, MemorySegment memory) {
    this.endpoint = endpoint;
    this.memory = memory;
  }

  void bind(long descriptorLo, long descriptorHi, long frameAt) {
    state = BOUND;
    lo = descriptorLo;
    hi = descriptorHi;
    lengthBytes = Descriptor.length(descriptorHi);
    offset = frameAt + FrameHeader.BYTES;
    fragment = false;
    if ((Descriptor.flags(descriptorLo) & FrameHeader.FLAG_FRAGMENT) != 0) {
      bindFragment(frameAt);
    }
  }

  private void bindFragment(long frameAt) {
    if (lengthBytes >= SendBuffer.FRAGMENT_HEADER_BYTES) {
      fragment = true;
      messageLengthBytes = FrameHeader.payloadInt(memory, frameAt, 0) & 0xFFFF_FFFFL;
      fragmentOffsetBytes = FrameHeader.payloadInt(memory, frameAt, 4) & 0xFFFF_FFFFL;
      offset += SendBuffer.FRAGMENT_HEADER_BYTES;
      lengthBytes -= SendBuffer.FRAGMENT_HEADER_BYTES;
    }
  }

  /** The messages of this frame follow, one {@link #bindPart} each. */
  void bindCoalesced(long descriptorLo, long descriptorHi) {
    state = BOUND;
    lo = descriptorLo;
    hi = descriptorHi;
    fragment = false;
  }

  void bindPart(long at, int length) {
    state = BOUND;
    offset = at;
    lengthBytes = length;
  }

  void unbind() {
    state = UNBOUND;
    if (view != null) {
      view.unbind();
    }
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
    return lengthBytes;
  }

  /** The memory that {@link #offset()} counts in. */
  public MemorySegment memory() {
    checkBound();
    return memory;
  }

  public long offset() {
    checkBound();
    return offset;
  }

  /** A Chronicle Bytes view over the payload, re-bound, not allocated. */
  public Bytes<?> bytes() {
    checkBound();
    if (view == null) {
      view = new BytesView(memory);
    }
    return view.forRead(offset, lengthBytes);
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
    return fragment ? messageLengthBytes : lengthBytes;
  }

  /** Where this fragment belongs in its message. */
  public long fragmentOffsetBytes() {
    return fragment ? fragmentOffsetBytes : 0;
  }

  /** The last or only part of its message. */
  public boolean isLast() {
    return fragmentOffsetBytes() + lengthBytes >= messageLengthBytes();
  }

  /**
   * Keeps the message beyond the handler: its buffer goes on loan, or it is copied once into the
   * endpoint's copy area: when the loan budget is used up, and when it shares its frame with
   * others.
   *
   * @return null when that area is used up too; {@link #defer} then leaves the message undelivered
   */
  public Loan retain() {
    checkBound();
    if (state != BOUND) {
      throw new IllegalStateException("message was retained or deferred already");
    }
    Loan loan = endpoint.lend(this);
    if (loan != null && !loan.isCopy()) {
      state = RETAINED;
    }
    return loan;
  }

  /** Leaves the message undelivered: the next poll begins with it again. */
  public void defer() {
    checkBound();
    if (state == RETAINED) {
      throw new IllegalStateException("message was retained already");
    }
    state = DEFERRED;
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
