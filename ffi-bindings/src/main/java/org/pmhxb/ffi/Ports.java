package org.pmhxb.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.pmhxb.ffi.gen.Dpdk;
import org.pmhxb.ffi.gen.Pmhxb;
import org.pmhxb.ffi.gen.hxb_port_config;
import org.pmhxb.ffi.gen.hxb_port_info;
import org.pmhxb.ffi.gen.hxb_port_stats;

/**
 * DPDK ports, and ends of the shim's own shared-memory lines, by number: set-up and tear-down
 * (control path, one thread at a time). Frames go through {@link Hxb}.
 */
public final class Ports {
  /** Queues that one port may have. */
  public static final int MAX_QUEUES = 16;

  /** Ports that one process may have, by how Debian builds DPDK. */
  public static final int MAX_PORTS = 32;

  /** Ends of shared-memory lines of the shim's own that one process may have besides. */
  public static final int MAX_LINE_ENDS = 64;

  private Ports() {}

  /**
   * Creates a virtual device, or takes a PCI device, and returns its port number.
   *
   * @param name driver name and a number or suffix, for example {@code net_null0}, or {@code
   *     memif_0}; or a PCI address, for example {@code 0000:03:00.0}
   * @param arguments the driver's, for example {@code role=server,socket=a,mac=02000000000a}
   */
  public static int attach(String name, String arguments) {
    Pmhxb.hxb_eal_log_clear();
    try (Arena arena = Arena.ofConfined()) {
      int code = Pmhxb.hxb_port_attach(arena.allocateFrom(name), arena.allocateFrom(arguments));
      return checked("hxb_port_attach(" + name + ", " + arguments + ")", code);
    }
  }

  /**
   * Sets up as many receive and transmit queues as there are pools; queue q receives into pools[q].
   *
   * @param rxDescriptors per queue, at most; 0 = the driver's choice
   * @param txDescriptors per queue, at most; 0 = the driver's choice
   * @param mtu bytes after the Ethernet header; 0 = the driver's choice
   * @throws NativeException code -ERANGE when a NIC has no such MTU, or its least rings are longer
   */
  public static void configure(
      int port, int rxDescriptors, int txDescriptors, int mtu, long... pools) {
    if (pools.length < 1 || pools.length > MAX_QUEUES) {
      throw new IllegalArgumentException(pools.length + " queues not in 1.." + MAX_QUEUES);
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment config = hxb_port_config.allocate(arena);
      hxb_port_config.queues(config, (short) pools.length);
      hxb_port_config.rx_desc(config, unsigned16("rxDescriptors", rxDescriptors));
      hxb_port_config.tx_desc(config, unsigned16("txDescriptors", txDescriptors));
      hxb_port_config.mtu(config, unsigned16("mtu", mtu));
      MemorySegment handles = arena.allocateFrom(ValueLayout.JAVA_LONG, pools);
      checked("hxb_port_configure(" + port + ")", Pmhxb.hxb_port_configure(port, config, handles));
    }
  }

  private static short unsigned16(String what, int value) {
    if (value < 0 || value > 0xffff) {
      throw new IllegalArgumentException(what + " " + value + " not in 0..65535");
    }
    return (short) value;
  }

  /**
   * Starts the port; bursts work from now on. A client of shared memory needs no server yet: it
   * looks for one every 50 ms, now and after a loss, and its link is down meanwhile.
   *
   * @throws NativeException code -EIO, with the driver's words
   */
  public static void start(int port) {
    checked("hxb_port_start(" + port + ")", Pmhxb.hxb_port_start(port));
  }

  /** Bursts answer -ENETDOWN from now on. An af_packet port cannot be started again. */
  public static void stop(int port) {
    checked("hxb_port_stop(" + port + ")", Pmhxb.hxb_port_stop(port));
  }

  /** Stops the port, closes it and removes the device; its number may be given to another. */
  public static void close(int port) {
    checked("hxb_port_close(" + port + ")", Pmhxb.hxb_port_close(port));
  }

  /** The low 48 bits, first byte of the address highest. */
  public static long macAddress(int port) {
    long mac = Pmhxb.hxb_port_mac(port);
    if (mac < 0) {
      checked("hxb_port_mac(" + port + ")", (int) mac);
    }
    return mac;
  }

  /** 0 = down; else the speed in Mbit/s, 1 when the driver knows none. */
  public static int linkMbps(int port) {
    return checked("hxb_port_link(" + port + ")", Pmhxb.hxb_port_link(port));
  }

  /**
   * The descriptor that becomes readable when the peer of a line of the shim's own rings ({@link
   * Hxb#portSleep}); -1 for other ports, and where the kernel lacks what that needs. It remains the
   * port's: never close it.
   */
  public static int wakeFd(int port) {
    int code = Pmhxb.hxb_port_wake_fd(port);
    return code == -Errno.ENOTSUP ? -1 : checked("hxb_port_wake_fd(" + port + ")", code);
  }

  /** Ports that exist now. */
  public static int count() {
    return Short.toUnsignedInt(Dpdk.rte_eth_dev_count_avail());
  }

  public static PortInfo info(int port) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment info = hxb_port_info.allocate(arena);
      checked("hxb_port_info(" + port + ")", Pmhxb.hxb_port_info(port, info));
      return new PortInfo(
          hxb_port_info.driver(info).getString(0),
          hxb_port_info.device(info).getString(0),
          hxb_port_info.if_index(info),
          Integer.toUnsignedLong(hxb_port_info.max_rx_packet(info)),
          Short.toUnsignedInt(hxb_port_info.mtu(info)),
          Short.toUnsignedInt(hxb_port_info.max_queues(info)),
          Short.toUnsignedInt(hxb_port_info.queues(info)),
          hxb_port_info.socket(info));
    }
  }

  public static PortStats stats(int port) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment s = hxb_port_stats.allocate(arena);
      checked("hxb_port_stats(" + port + ")", Pmhxb.hxb_port_stats(port, s));
      return new PortStats(
          hxb_port_stats.rx_packets(s),
          hxb_port_stats.tx_packets(s),
          hxb_port_stats.rx_bytes(s),
          hxb_port_stats.tx_bytes(s),
          hxb_port_stats.rx_missed(s),
          hxb_port_stats.rx_errors(s),
          hxb_port_stats.rx_no_mbuf(s),
          hxb_port_stats.tx_errors(s),
          hxb_port_stats.rx_refused_segments(s),
          hxb_port_stats.rx_refused_foreign(s),
          hxb_port_stats.rx_refused_offset(s),
          hxb_port_stats.rx_refused_length(s),
          hxb_port_stats.tx_refused(s));
    }
  }

  private static int checked(String call, int code) {
    if (code < 0) {
      throw new NativeException(call, code, remedy(code));
    }
    return code;
  }

  static String remedy(int code) {
    return switch (-code) {
      case Errno.ENOSPC ->
          "all "
              + MAX_PORTS
              + " ports, or of shared-memory lines all "
              + MAX_LINE_ENDS
              + " ends, are taken: use more queues of fewer ports, or fewer lines";
      case Errno.EADDRINUSE ->
          "another server has a line of that name: take another, or the role of a client";
      case Errno.EEXIST -> "a device of that name exists: close it or take another name";
      case Errno.EPERM, Errno.EACCES -> "run as root, or with CAP_NET_RAW and CAP_NET_ADMIN";
      default -> {
        String said = Eal.logTail(3);
        yield Errno.remedy(code, said.isEmpty() ? "see hxb doctor" : "DPDK says: " + said);
      }
    };
  }
}
