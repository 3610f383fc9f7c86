package org.pmhxb.pm.port;

import org.pmhxb.bufpool.DpdkPool;
import org.pmhxb.ffi.AfPacket;
import org.pmhxb.ffi.Hxb;
import org.pmhxb.ffi.NativeException;

/**
 * A kernel interface through net_af_packet.
 *
 * <p>The driver frees a buffer when it has copied the frame into its socket's ring, waits inside a
 * transmit burst while that ring is full, and leaves frames behind in it when the kernel drops one.
 * So this class remembers the lengths of what it sent, asks the socket how much the kernel still
 * has, offers the driver only what its ring can hold, and looks after frames that were left behind.
 */
final class AfPacketPort extends DpdkPort {
  /**
   * Receive polls after a send until the socket is kicked: a poll loop that sends again soon, or
   * gets its answer within a round trip, never pays for it; an idle one pays one system call per
   * send burst. A poll of one rail takes about 50 ns, of a node's 24 rails 1 us.
   */
  private static final int KICK_AFTER_POLLS = 256;

  private final String interfaceName;
  private final int socket;

  /** Frames that the socket's transmit ring holds. */
  private final int ringFrames;

  private final SocketBacklog backlog;

  /** Frames may have been left behind by the last transmit burst. */
  private boolean kickDue;

  private int pollsSinceSend;

  /** Frames that the receive ring could not hold. Guarded by the device. */
  private long dropped;

  AfPacketPort(
      DpdkDevice device,
      DpdkPool pool,
      String interfaceName,
      long macAddress,
      int maxFrameBytes,
      int socket,
      int ringFrames) {
    super(device, 0, pool, "af_packet " + interfaceName, macAddress, maxFrameBytes);
    this.interfaceName = interfaceName;
    this.socket = socket;
    this.ringFrames = ringFrames;
    this.backlog = new SocketBacklog(socket, ringFrames, false);
  }

  /**
   * Critical although the driver belongs to the kernel's kind: its receive burst only copies out of
   * the shared ring and makes no system call.
   */
  @Override
  public int rxBurst(Burst burst, int max) {
    if (kickDue && ++pollsSinceSend >= KICK_AFTER_POLLS) {
      kick();
    }
    return taken(Hxb.rxBurst(number, queue, poolHandle, wordAt(burst, 0, max), max));
  }

  /** Not critical: the driver's sendto queues every frame to the device within the call. */
  @Override
  public int txBurst(Burst burst, int from, int count) {
    long words = wordAt(burst, from, count);
    int offered = Math.min(count, txRoom());
    if (offered == 0) {
      return 0;
    }
    int taken = taken(Hxb.txBurstBlocking(number, queue, poolHandle, words, offered));
    for (int i = 0; i < taken; i++) {
      backlog.sent(Burst.lengthBytes(burst.get(from + i)));
    }
    if (taken > 0) {
      kickDue = true;
      pollsSinceSend = 0;
    }
    return taken;
  }

  /** Asks the kernel only when what is remembered fills half of the ring. */
  @Override
  public int txRoom() {
    if (backlog.outstanding() > ringFrames / 2) {
      refresh();
    }
    return Math.min(BURST_MAX, ringFrames - backlog.outstanding());
  }

  /**
   * Asks the kernel only when it had something when it was last asked, or may have more than a long
   * frame by now: a system call is a quarter of what it costs to send a short frame.
   */
  @Override
  public long txBacklogBytes() {
    if (!backlog.mayBeLong()) {
      return backlog.unaskedBytes();
    }
    int heldBytes = backlog.ask();
    if (!kickDue) {
      backlog.forgetBeyond(heldBytes);
    }
    return backlog.bytes(heldBytes);
  }

  /** The interface's: the driver of DPDK 22.11 says "up" for ever. */
  @Override
  public boolean linkUp() {
    if (!super.linkUp()) {
      return false;
    }
    try {
      return AfPacket.interfaceUp(interfaceName);
    } catch (NativeException e) {
      return false; // the interface is gone
    }
  }

  /** The socket's: the driver of DPDK 22.11 does not ask for it. */
  @Override
  long dropsBeside() {
    dropped += AfPacket.receiveDrops(socket);
    return dropped;
  }

  @Override
  public int wakeFd() {
    return socket;
  }

  /**
   * Frames that were left behind in the ring are not in the kernel's account: while there may be
   * some, nothing is forgotten.
   */
  private void refresh() {
    if (kickDue) {
      kick();
    }
    if (!kickDue) {
      backlog.forgetBeyond(backlog.ask());
    }
  }

  private void kick() {
    pollsSinceSend = 0;
    kickDue = Hxb.afPacketKick(socket) < 0;
  }
}
