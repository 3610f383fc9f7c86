package org.pmhxb.mpi.engine;

/** One message to one rank. */
public final class SendOperation extends Operation {
  final Payload payload;
  final int dst;
  final int context;
  final int tag;
  final int type;
  final int elements;
  final boolean synchronous;

  // --- poll thread ---
  /** Bytes that go with the envelope, decided when the envelope does. */
  int headBytes;

  /** Bytes handed over so far; -1 before the envelope. */
  long sent = -1;

  /** In the table of sends that wait for an answer; 0 for none. */
  int handle;

  /** The receiver's handle, after its GRANT. */
  int toHandle;

  boolean rendezvous;

  /** Kind, head and handle are settled. */
  boolean decided;

  /** The receiver asked for what follows the head. */
  boolean wanted;

  /**
   * @param type code of the first section's type, for a probe
   * @param elements in the first section, for a probe
   * @param synchronous completes only after a receive has matched it
   */
  public SendOperation(
      Payload payload, int dst, int context, int tag, int type, int elements, boolean synchronous) {
    this.payload = payload;
    this.dst = dst;
    this.context = context;
    this.tag = tag;
    this.type = type;
    this.elements = elements;
    this.synchronous = synchronous;
  }

  @Override
  void begin(Engine engine) {
    engine.beginSend(this);
  }
}
