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
  private final PmEndpoint endpoint;
  private final MemorySegment memory;
  private BytesView view;
  private boolean bound;
  private boolean retained;
  private boolean deferred;
  private int source;
  private int sourceEndpoint;
  private int bufferId;
  private int lengthBytes;
  private long offset;
  private boolean fragment;
  private boolean coalesced;
  private long messageLengthBytes;
  private long fragmentOffsetBytes;

  Message(PmEndpoint endpoint, MemorySegment memory) {
    this.endpoint = endpoint;
    this.memory = memory;
  }

  void bind(long lo, long hi, long frameAt) {
    bindFrame(lo, hi);
    coalesced = false;
    lengthBytes = Descriptor.length(hi);
    offset = frameAt + FrameHeader.BYTES;
    fragment = (Descriptor.flags(lo) & FrameHeader.FLAG_FRAGMENT) != 0;
    if (fragment && lengthBytes >= SendBuffer.FRAGMENT_HEADER_BYTES) {
      messageLengthBytes = FrameHeader.payloadInt(memory, frameAt, 0) & 0xFFFF_FFFFL;
      fragmentOffsetBytes = FrameHeader.payloadInt(memory, frameAt, 4) & 0xFFFF_FFFFL;
      offset += SendBuffer.FRAGMENT_HEADER_BYTES;
      lengthBytes -= SendBuffer.FRAGMENT_HEADER_BYTES;
    } else {
      messageLengthBytes = lengthBytes;
      fragmentOffsetBytes = 0;
    }
  }

  private void bindFrame(long lo, long hi) {
    bound = true;
    retained = false;
    deferred = false;
    source = Descriptor.node(hi);
    sourceEndpoint = Descriptor.endpoint(lo);
    bufferId = Descriptor.bufferId(hi);
  }

  /** The messages of this frame follow, one {@link #bindPart} each. */
  void bindCoalesced(long lo, long hi) {
    bindFrame(lo, hi);
    coalesced = true;
    fragment = false;
    fragmentOffsetBytes = 0;
  }

  void bindPart(long at, int length) {
    deferred = false;
    offset = at;
    lengthBytes = length;
    messageLengthBytes = length;
  }

  void unbind() {
    bound = false;
    if (view != null) {
      view.unbind();
    }
  }

  /** The node that sent it. */
  public int source() {
    return source;
  }

  /** The endpoint that sent it, at that node. */
  public int sourceEndpoint() {
    return sourceEndpoint;
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
    return bufferId;
  }

  /** It shares its frame with others; {@link #retain} copies it. */
  public boolean isCoalesced() {
    return coalesced;
  }

  /** Part of a message longer than one frame; fragments of a source arrive in order. */
  public boolean isFragment() {
    return fragment;
  }

  /** Length of the whole message. */
  public long messageLengthBytes() {
    return messageLengthBytes;
  }

  /** Where this fragment belongs in its message. */
  public long fragmentOffsetBytes() {
    return fragmentOffsetBytes;
  }

  /** The last or only part of its message. */
  public boolean isLast() {
    return fragmentOffsetBytes + lengthBytes >= messageLengthBytes;
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
    if (retained || deferred) {
      throw new IllegalStateException("message was retained or deferred already");
    }
    Loan loan = endpoint.lend(this);
    if (loan != null && !loan.isCopy()) {
      retained = true;
    }
    return loan;
  }

  /** Leaves the message undelivered: the next poll begins with it again. */
  public void defer() {
    checkBound();
    if (retained) {
      throw new IllegalStateException("message was retained already");
    }
    deferred = true;
  }

  boolean isRetained() {
    return retained;
  }

  boolean isDeferred() {
    return deferred;
  }

  private void checkBound() {
    if (!bound) {
      throw new IllegalStateException("message is valid within its handler only; see retain()");
    }
  }
}
