package org.pmhxb.cli.node;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import org.pmhxb.cli.workload.MessageLink;
import org.pmhxb.cli.workload.WorkloadSpec;
import org.pmhxb.pm.Message;
import org.pmhxb.pm.MessageHandler;
import org.pmhxb.pm.PeerStatus;
import org.pmhxb.pm.PmEndpoint;
import org.pmhxb.pm.PmNode;
import org.pmhxb.pm.SendBuffer;

/**
 * A workload's link over an endpoint of a node. Owner: the endpoint's owner, unless said otherwise.
 */
final class PmLink implements MessageLink, MessageHandler {
  private final PmNode node;
  private final PmEndpoint endpoint;
  private final Runnable closing;

  /** Messages longer than a frame that are being put together, by source. */
  private final Map<Integer, MemorySegment> assembled = new HashMap<>();

  private SendBuffer claimed;
  private Receiver receiver;

  /**
   * @param closing closes the endpoint on its owner's thread
   */
  PmLink(PmNode node, PmEndpoint endpoint, Runnable closing) {
    this.node = node;
    this.endpoint = endpoint;
    this.closing = closing;
  }

  @Override
  public int self() {
    return node.self();
  }

  @Override
  public int nodes() {
    return node.nodes();
  }

  @Override
  public int maxMessageBytes() {
    return node.maxFramePayloadBytes();
  }

  @Override
  public boolean claim(int dst, int lengthBytes) {
    claimed = endpoint.claim(dst, lengthBytes);
    return claimed != null;
  }

  @Override
  public MemorySegment memory() {
    return claimed.memory();
  }

  @Override
  public long offset() {
    return claimed.offset();
  }

  @Override
  public long send() {
    return endpoint.send(claimed);
  }

  @Override
  public int claimFragment(int dst, long messageBytes, long offsetBytes) {
    int part = (int) Math.min(messageBytes - offsetBytes, endpoint.maxFragmentBytes());
    claimed = endpoint.claimFragment(dst, endpoint.number(), messageBytes, offsetBytes, part);
    return claimed != null ? part : 0;
  }

  @Override
  public long acknowledged(int dst) {
    return endpoint.acknowledged(dst);
  }

  @Override
  public int poll(Receiver receiver, int limit) {
    this.receiver = receiver;
    return endpoint.poll(this, limit);
  }

  @Override
  public void onMessage(Message message) {
    if (message.isFragment()) {
      assemble(message);
      return;
    }
    receiver.onMessage(message.source(), message.memory(), message.offset(), message.lengthBytes());
  }

  /** Fragments of a source arrive in order, and none of two messages are mixed. */
  private void assemble(Message message) {
    long length = message.messageLengthBytes();
    if (length > WorkloadSpec.LARGEST_BYTES) {
      throw new IllegalStateException(
          "node " + message.source() + " sends a message of " + length + " bytes, no workload's");
    }
    MemorySegment whole =
        assembled.compute(
            message.source(),
            (src, old) ->
                old != null && old.byteSize() >= length
                    ? old
                    : Arena.ofAuto().allocate(length, Long.BYTES));
    MemorySegment.copy(
        message.memory(),
        message.offset(),
        whole,
        message.fragmentOffsetBytes(),
        message.lengthBytes());
    receiver.onFragment(message.source(), message.lengthBytes());
    if (message.isLast()) {
      receiver.onMessage(message.source(), whole, 0, (int) length);
    }
  }

  @Override
  public void onPeerDown(int peer, int session) {
    assembled.remove(peer);
    receiver.onPeerDown(peer, reason(peer, session));
  }

  private String reason(int peer, int session) {
    for (PeerStatus status : node.peerStatus()) {
      if (status.node() == peer && status.reason() != null) {
        return status.reason().explanation() + String.format(" (session %08x)", session);
      }
    }
    return String.format("session %08x ended", session);
  }

  /** Any thread. */
  @Override
  public void close() {
    closing.run();
  }
}
