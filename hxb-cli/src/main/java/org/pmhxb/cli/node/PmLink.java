package org.pmhxb.cli.node;

import java.lang.foreign.MemorySegment;
import org.pmhxb.cli.workload.MessageLink;
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
    receiver.onMessage(message.source(), message.memory(), message.offset(), message.lengthBytes());
  }

  @Override
  public void onPeerDown(int peer, int session) {
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
