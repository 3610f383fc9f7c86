package org.pmhxb.cli.node;

import java.lang.foreign.MemorySegment;
import org.pmhxb.cli.workload.MessageLink;

/** A link on which nothing ever arrives and nothing can be sent. */
record SilentLink(int self, int nodes, Runnable onClose) implements MessageLink {
  @Override
  public int maxMessageBytes() {
    return 8_192;
  }

  @Override
  public boolean claim(int dst, int lengthBytes) {
    return false;
  }

  @Override
  public MemorySegment memory() {
    return MemorySegment.NULL;
  }

  @Override
  public long offset() {
    return 0;
  }

  @Override
  public long send() {
    throw new IllegalStateException("nothing is claimed");
  }

  @Override
  public int claimFragment(int dst, long messageBytes, long offsetBytes) {
    return 0;
  }

  @Override
  public long acknowledged(int dst) {
    return 0;
  }

  @Override
  public int poll(Receiver receiver, int limit) {
    return 0;
  }

  @Override
  public void close() {
    onClose.run();
  }
}
