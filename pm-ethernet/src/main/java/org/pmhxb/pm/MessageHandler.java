package org.pmhxb.pm;

/**
 * Receives what arrived at an endpoint, in order per (source node, source endpoint), on the thread
 * that polls.
 */
public interface MessageHandler {
  /**
   * The message is valid until this returns; {@link Message#retain} keeps it longer. Who throws has
   * had the message.
   */
  void onMessage(Message message);

  /**
   * The session with {@code node} ended; no further message of that session follows. {@link
   * PmEndpoint#fate} tells of each message that was sent in it whether it is stored there.
   */
  default void onPeerDown(int node, int session) {}
}
