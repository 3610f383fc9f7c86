package org.pmhxb.ffi;

import java.lang.foreign.Arena;
import org.pmhxb.ffi.gen.Pmhxb;

/**
 * The packet socket behind a net_af_packet port, which the driver keeps to itself (control path;
 * the packet path's part is {@link Hxb#afPacketOutq} and {@link Hxb#afPacketKick}).
 */
public final class AfPacket {
  /**
   * Bytes that the kernel accounts for a queued frame beside its own, rounded up (measured: 818). A
   * frame of n bytes fits while {@code outq + n + FRAME_OVERHEAD_BYTES <= sendBuffer}.
   */
  public static final int FRAME_OVERHEAD_BYTES = Pmhxb.HXB_AFPACKET_FRAME_OVERHEAD();

  private AfPacket() {}

  /**
   * The descriptor of queue {@code queue}'s socket on an interface; the driver's own: never close
   * it. It becomes readable when a frame arrives.
   */
  public static int socket(String interfaceName, int queue) {
    try (Arena arena = Arena.ofConfined()) {
      int code = Pmhxb.hxb_afpacket_fd(arena.allocateFrom(interfaceName), queue);
      if (code < 0) {
        throw new NativeException(
            "hxb_afpacket_fd(" + interfaceName + ", " + queue + ")",
            code,
            code == -Errno.ENODEV ? "no such interface here" : "attach the port first");
      }
      return code;
    }
  }

  /** Received frames that found the socket's ring full, since the last such call. */
  public static long receiveDrops(int socket) {
    long drops = Pmhxb.hxb_afpacket_drops(socket);
    if (drops < 0) {
      throw new NativeException("hxb_afpacket_drops(" + socket + ")", (int) drops, "");
    }
    return drops;
  }

  /** Sets the socket's send buffer; returns the bytes in force (the kernel may cap them). */
  public static int sendBuffer(int socket, int bytes) {
    int code = Pmhxb.hxb_afpacket_sndbuf(socket, bytes);
    if (code < 0) {
      throw new NativeException("hxb_afpacket_sndbuf(" + socket + ", " + bytes + ")", code, "");
    }
    return code;
  }

  /** The kernel's MTU of an interface, bytes after the Ethernet header. */
  public static int interfaceMtu(String interfaceName) {
    try (Arena arena = Arena.ofConfined()) {
      int code = Pmhxb.hxb_interface_mtu(arena.allocateFrom(interfaceName));
      if (code < 0) {
        throw new NativeException(
            "hxb_interface_mtu(" + interfaceName + ")", code, interfaceRemedy(code));
      }
      return code;
    }
  }

  /** An interface's Ethernet address in the low 48 bits. */
  public static long interfaceMac(String interfaceName) {
    try (Arena arena = Arena.ofConfined()) {
      long code = Pmhxb.hxb_interface_mac(arena.allocateFrom(interfaceName));
      if (code < 0) {
        throw new NativeException(
            "hxb_interface_mac(" + interfaceName + ")", (int) code, interfaceRemedy((int) code));
      }
      return code;
    }
  }

  /**
   * Whether an interface is up and has a carrier. {@link Ports#linkMbps} does not tell for an
   * af_packet port: the driver of DPDK 22.11 reports "up" for ever.
   */
  public static boolean interfaceUp(String interfaceName) {
    try (Arena arena = Arena.ofConfined()) {
      int code = Pmhxb.hxb_interface_up(arena.allocateFrom(interfaceName));
      if (code < 0) {
        throw new NativeException(
            "hxb_interface_up(" + interfaceName + ")", code, interfaceRemedy(code));
      }
      return code != 0;
    }
  }

  static String interfaceRemedy(int code) {
    return Errno.remedy(code, "does the interface exist here?");
  }
}
