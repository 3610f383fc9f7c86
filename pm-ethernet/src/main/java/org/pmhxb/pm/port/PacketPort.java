package org.pmhxb.pm.port;

import org.pmhxb.bufpool.DpdkPool;
import org.pmhxb.bufpool.Memory;
import org.pmhxb.ffi.AfPacket;
import org.pmhxb.ffi.Hxb;
import org.pmhxb.ffi.PacketSocket;
import org.pmhxb.pm.wire.FrameHeader;

/**
 * A kernel interface through a packet socket of the shim's own, with its queueing discipline:
 * shaping holds. Half a microsecond a frame shorter than {@link DpdkPorts#afPacket}, whose driver
 * adds a fan-out and a transmit ring; and a burst neither waits nor leaves a frame behind: what the
 * kernel does not take stays the caller's.
 *
 * <p>Owner: one poll thread, for bursts and room; the control-path methods may be called by any
 * thread. It does not touch the pool's owner entries (see {@link DpdkPort}).
 */
public final class PacketPort implements Port {
  /** Frames that the receive ring holds, and most that are outstanding in the kernel. */
  static final int SLOTS = 256;

  /** Of its pool, as {@link DpdkPort#poolHandle}. */
  final long poolHandle;

  /** As native calls for several queues name this one. */
  final long queueWord;

  private final String interfaceName;
  private final long socket;
  private final int descriptor;
  private final long macAddress;
  private final int maxFrameBytes;
  private final SocketBacklog backlog;
  private final InterfaceCounters counted;

  /** Guarded by this: nobody asks a socket that is gone. */
  private boolean closed;

  private PacketPort(String interfaceName, long socket, int maxFrameBytes, long poolHandle) {
    this.poolHandle = poolHandle;
    this.queueWord = PacketSocket.queue(socket);
    this.interfaceName = interfaceName;
    this.socket = socket;
    this.descriptor = PacketSocket.descriptor(socket);
    this.macAddress = AfPacket.interfaceMac(interfaceName);
    this.maxFrameBytes = maxFrameBytes;
    this.backlog = new SocketBacklog(descriptor, SLOTS, true);
    // Never the send buffer but the rail's own bound (rule 14) shall end a burst: twice the frames,
    // because the kernel charges up to half of a frame for itself.
    AfPacket.sendBuffer(descriptor, 2 * SLOTS * maxFrameBytes);
    // Last: nothing behind it fails, so that it is closed with the port.
    this.counted = new InterfaceCounters(() -> PacketSocket.interfaceName(socket));
  }

  /**
   * Opens an interface, for example one end of a veth pair; it must be up, its MTU set before.
   *
   * @param etherType frames of other types are not received
   * @param pool whose buffers hold a frame of the interface's MTU, or shorter frames are the limit
   * @throws org.pmhxb.ffi.NativeException no such interface, no right to open packet sockets
   */
  public static PacketPort open(String interfaceName, int etherType, DpdkPool pool) {
    int mtuBytes = AfPacket.interfaceMtu(interfaceName);
    int maxFrameBytes =
        Math.min(mtuBytes + FrameHeader.ETHERNET_HEADER_BYTES, pool.frameCapacityBytes());
    long socket = PacketSocket.open(interfaceName, etherType, SLOTS, maxFrameBytes, pool.handle());
    try {
      return new PacketPort(interfaceName, socket, maxFrameBytes, pool.handle());
    } catch (RuntimeException e) {
      PacketSocket.close(socket);
      throw e;
    }
  }

  @Override
  public String name() {
    return "packet " + interfaceName;
  }

  /** Critical: it copies out of the ring shared with the kernel and makes no system call. */
  @Override
  public int rxBurst(Burst burst, int max) {
    return Hxb.packetRxBurst(socket, DpdkPort.wordAt(burst, 0, max), max);
  }

  /** Not critical: the kernel carries each frame to the device within the call. */
  @Override
  public int txBurst(Burst burst, int from, int count) {
    long words = DpdkPort.wordAt(burst, from, count);
    int offered = Math.min(count, txRoom());
    if (offered == 0) {
      return 0;
    }
    int taken = DpdkPort.taken(Hxb.packetTxBurst(socket, words, offered));
    took(Memory.known(words), taken);
    return taken;
  }

  /**
   * A native call of several queues sent frames to this one.
   *
   * @param words address of their descriptors, by {@code Memory.known}
   */
  void took(long words, int frames) {
    for (int i = 0; i < frames; i++) {
      backlog.sent(Burst.lengthBytes(Burst.get(words, i)));
    }
  }

  /** Asks the kernel only when what is remembered fills half of the account. */
  @Override
  public int txRoom() {
    if (backlog.outstanding() > SLOTS / 2) {
      backlog.forgetBeyond(backlog.ask());
    }
    return SLOTS - backlog.outstanding();
  }

  /** {@link #txRoom} for a burst that needs no look at {@link #txBacklogBytes} before; else 0. */
  int unaskedRoom(int burstBytes) {
    return backlog.takesUnasked(burstBytes) ? txRoom() : 0;
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
    backlog.forgetBeyond(heldBytes);
    return backlog.bytes(heldBytes);
  }

  @Override
  public long macAddress() {
    return macAddress;
  }

  @Override
  public int maxFrameBytes() {
    return maxFrameBytes;
  }

  @Override
  public synchronized boolean linkUp() {
    return !closed && PacketSocket.isUp(socket);
  }

  @Override
  public int wakeFd() {
    return descriptor;
  }

  /** Frames and bytes are the interface's: whatever else passes it counts too. */
  @Override
  public synchronized PortCounters counters() {
    return closed
        ? PortCounters.ZERO
        : counted
            .get()
            .plusDropped(PacketSocket.receiveDrops(socket))
            .plusLost(PacketSocket.sendLosses(socket));
  }

  /** After this no burst may be called; frames in the receive ring are lost. */
  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      counted.close();
      PacketSocket.close(socket);
    }
  }

  @Override
  public String toString() {
    return name();
  }
}
