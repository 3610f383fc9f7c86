package org.pmhxb.ffi;

import java.lang.foreign.Arena;
import org.pmhxb.ffi.gen.Pmhxb;

/**
 * The packet socket behind a net_af_packet port, which the driver keeps to itself (control path;
 * the packet path's part is {@link Hxb#afPacketOutq} and {@link Hxb#afPacketKick}).
 */
public final class AfPacket {
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
            "hxb_interface_mtu(" + interfaceName + ")", code, "does the interface exist here?");
      }
      return code;
    }
  }
}
