package org.pmhxb.mpi.engine;

import java.lang.foreign.MemorySegment;

/** One receive: what it accepts, where it goes, and afterwards what came. */
public final class ReceiveOperation extends Operation {
  private final MemorySegment into;
  private final long at;
  private final int capacityBytes;
  final int source;
  final int tag;
  final int context;

  /** Take what is there now, or nothing. */
  final boolean immediate;

  // --- poll thread until completion, then the program's ---
  /** Order among posted receives. */
  long number;

  /** In the table of receives that expect DATA; 0 for none. */
  int handle;

  PeerChannel from;
  Payload payload;
  long arrived;
  Arrival arrival;
  private byte[] dynamic;

  /**
   * @param into where the first part goes, from {@code at} on, at most {@code capacityBytes}
   * @param source rank or {@link Engine#ANY_SOURCE}
   * @param tag or {@link Engine#ANY_TAG}
   * @param immediate completes at once when nothing matches, with {@link #arrival()} null
   */
  public ReceiveOperation(
      MemorySegment into,
      long at,
      int capacityBytes,
      int source,
      int tag,
      int context,
      boolean immediate) {
    this.into = into;
    this.at = at;
    this.capacityBytes = capacityBytes;
    this.source = source;
    this.tag = tag;
    this.context = context;
    this.immediate = immediate;
  }

  @Override
  void begin(Engine engine) {
    engine.beginReceive(this);
  }

  /**
   * Makes room for a message that matched.
   *
   * @return null, or why it cannot be received
   */
  String prepare(int staticBytes, int dynamicBytes) {
    if (staticBytes > capacityBytes) {
      return "message of "
          + staticBytes
          + " bytes (packed) from rank "
          + from.rank
          + ", tag "
          + arrival.tag()
          + ", is truncated: the receive buffer has room for "
          + capacityBytes;
    }
    MemorySegment second = MemorySegment.NULL;
    if (dynamicBytes > 0) {
      try {
        dynamic = new byte[dynamicBytes];
        second = MemorySegment.ofArray(dynamic);
      } catch (OutOfMemoryError e) {
        return "no heap for " + dynamicBytes + " bytes of serialized objects: raise -Xmx";
      }
    }
    payload = new Payload(into, at, staticBytes, second);
    return null;
  }

  /** What came; null when nothing did. Call after completion. */
  public Arrival arrival() {
    return arrival;
  }

  /** Serialized objects that came after the first part; null for none. Call after completion. */
  public byte[] dynamic() {
    return dynamic;
  }
}
