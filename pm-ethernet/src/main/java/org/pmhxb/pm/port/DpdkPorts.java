package org.pmhxb.pm.port;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Locale;
import java.util.function.Supplier;
import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.bufpool.DpdkPool;
import org.pmhxb.ffi.AfPacket;
import org.pmhxb.ffi.Errno;
import org.pmhxb.ffi.Hxb;
import org.pmhxb.ffi.NativeException;
import org.pmhxb.ffi.Pools;
import org.pmhxb.ffi.Ports;
import org.pmhxb.ffi.Rings;
import org.pmhxb.pm.wire.FrameHeader;

/**
 * Makes rails over DPDK drivers. Control path; EAL must run. Close the ports before their pool.
 *
 * <p>Errors: {@code NativeException} names call, code and mend; {@code IllegalArgumentException}
 * the bad value.
 */
public final class DpdkPorts {
  /**
   * A net_af_packet slot: a frame of 9,014 bytes, 802.1Q tag and the kernel's slot header fit, and
   * it still fits, exactly, into a buffer of {@link BufferPool#JUMBO_STRIDE_BYTES}, which the
   * driver demands.
   */
  public static final int AF_PACKET_SLOT_BYTES = 10_240;

  /** The kernel wants whole pages, the driver slots without gaps: two slots are five pages. */
  private static final int AF_PACKET_BLOCK_BYTES = 2 * AF_PACKET_SLOT_BYTES;

  /** What of a slot is the kernel's: header and link-layer address, rounded up. */
  private static final int AF_PACKET_SLOT_HEADER_BYTES = 64;

  /** What a slot of {@link #afPacket} holds of a frame behind its Ethernet header. */
  public static final int AF_PACKET_MTU_MAX_BYTES =
      AF_PACKET_SLOT_BYTES - AF_PACKET_SLOT_HEADER_BYTES - FrameHeader.ETHERNET_HEADER_BYTES;

  /** Kernel memory is slots x frames x 2 directions: 256 make 5 MB a rail. */
  public static final int AF_PACKET_FRAMES = 256;

  /** A shared-memory line's name: an abstract socket's, which leaves no file behind. */
  public static final String LINE_NAME = "[A-Za-z0-9._-]{1,60}";

  /** {@link #LINE_NAME} in words. */
  public static final String LINE_NAME_RULE = "1 to 60 letters, digits or any of ._-";

  private static final int DISCARD_BURST = 32;

  private static final int FRAME_BYTES_MAX = 65_535;

  private DpdkPorts() {}

  /**
   * Rails over a net_ring port of as many queues: rail q receives from {@code rxRings[q]} and sends
   * to {@code txRings[q]}, in buffers of {@code pools[q]}.
   *
   * @param name unique in the process, at most 22 characters
   * @param macAddresses what each rail answers to; net_ring has none of its own
   */
  public static DpdkPort[] rings(
      String name, long[] rxRings, long[] txRings, DpdkPool[] pools, long[] macAddresses) {
    int queues = rxRings.length;
    if (pools.length != queues || macAddresses.length != queues) {
      throw new IllegalArgumentException(
          "%d rings, %d pools, %d addresses".formatted(queues, pools.length, macAddresses.length));
    }
    int number = Rings.port(name, rxRings, txRings);
    return open(
        number,
        0,
        0,
        handles(pools),
        () -> {
          DpdkDevice device = new DpdkDevice(number, queues);
          DpdkPort[] rails = new DpdkPort[queues];
          for (int q = 0; q < queues; q++) {
            rails[q] =
                new PollModePort(
                    device,
                    q,
                    pools[q],
                    "ring " + name + "/" + q,
                    macAddresses[q],
                    Math.min(FRAME_BYTES_MAX, pools[q].frameCapacityBytes()),
                    txRings[q],
                    false,
                    PollModePort.Bell.NONE);
          }
          return rails;
        });
  }

  /** One rail over a net_ring port of one queue. */
  public static DpdkPort ring(
      String name, long rxRing, long txRing, DpdkPool pool, long macAddress) {
    return rings(
        name,
        new long[] {rxRing},
        new long[] {txRing},
        new DpdkPool[] {pool},
        new long[] {macAddress})[0];
  }

  /**
   * One end of a line through memory that two processes of this host share (or two nodes of one):
   * the shim's own, which beside {@link #memif} waits for fewer of the other processor's cache
   * lines. Both ends' buffers must be of one size, and both processes of one user; else the link
   * stays down. Line, socket, and what either end does when the other starts, ends or dies, are as
   * of {@link #memif}. Who waits for frames can sleep until one comes ({@link Port#fallAsleep}).
   *
   * @param name unique among the process's ports of this kind, up to 59 characters
   * @param line its name, the same at both ends, up to 60 letters, digits, '.', '_', '-'
   * @param server the end that waits
   * @param macAddress this end's address, low 48 bits, unicast
   */
  public static DpdkPort shm(
      String name, String line, boolean server, DpdkPool pool, long macAddress) {
    checkLine("shm", line);
    checkUnicast(macAddress);
    int number =
        Ports.attach(
            "shm_" + name, "role=%s,socket=%s,mac=%x".formatted(role(server), line, macAddress));
    return line(
        number,
        "shm " + name,
        pool,
        macAddress,
        () -> new PollModePort.Bell(Ports.wakeFd(number), Pools.bells(pool.handle())));
  }

  private static DpdkPort line(
      int number, String name, DpdkPool pool, long macAddress, Supplier<PollModePort.Bell> bell) {
    return open(
        number,
        0,
        0,
        handles(pool),
        () ->
            new PollModePort(
                new DpdkDevice(number, 1),
                0,
                pool,
                name,
                macAddress,
                pool.frameCapacityBytes(),
                0,
                false,
                bell.get()));
  }

  private static String role(boolean server) {
    return server ? "server" : "client";
  }

  private static void checkLine(String driver, String line) {
    if (!line.matches(LINE_NAME)) {
      throw new IllegalArgumentException(driver + " line \"" + line + "\": " + LINE_NAME_RULE);
    }
  }

  /**
   * One end of a shared-memory line between two processes of this host (or within one), by memif
   * 2.0, as DPDK's net_memif, VPP and libmemif speak it; the shim's own, like {@link #shm}. The
   * peer may be any of those, of the same user; it is not trusted. The control socket is an
   * abstract one: no file, so none is left for a later client to wait on for ever. It is known
   * within the network namespace. Who waits for frames polls; a peer that sleeps is woken.
   *
   * @param name unique among the process's memif ports, up to 57 characters
   * @param socket the line's name, the same at both ends, up to 60 letters, digits, '.', '_', '-'
   * @param server the end that waits; the other connects, and again after a loss, in whichever
   *     order they start
   * @param macAddress this end's address, low 48 bits, unicast
   */
  public static DpdkPort memif(
      String name, String socket, boolean server, DpdkPool pool, long macAddress) {
    checkLine("memif", socket);
    checkUnicast(macAddress);
    int number =
        Ports.attach(
            "memif_" + name,
            "role=%s,socket=%s,mac=%x".formatted(role(server), socket, macAddress));
    return line(
        number,
        "memif " + name,
        pool,
        macAddress,
        () -> new PollModePort.Bell(-1, Pools.bells(pool.handle())));
  }

  /** {@link #afPacket(String, DpdkPool, int)} with {@link #AF_PACKET_FRAMES}. */
  public static DpdkPort afPacket(String interfaceName, DpdkPool pool) {
    return afPacket(interfaceName, pool, AF_PACKET_FRAMES);
  }

  /**
   * A kernel interface, for example one end of a veth pair, with its queueing discipline: shaping
   * holds. The interface must be up, its MTU set before.
   *
   * @param pool of {@link BufferPool#JUMBO_STRIDE_BYTES} or more
   * @param frames slots of the socket's receive and of its transmit ring, a power of two
   */
  public static DpdkPort afPacket(String interfaceName, DpdkPool pool, int frames) {
    if (frames < 2 || frames > 1 << 16 || Integer.bitCount(frames) != 1) {
      throw new IllegalArgumentException(
          "af_packet ring of " + frames + " frames is not a power of two in 2..65536");
    }
    if (pool.frameCapacityBytes() < AF_PACKET_SLOT_BYTES) {
      throw new IllegalArgumentException(
          "af_packet needs frames of %d B, but the pool's have %d B: take a stride of %d B"
              .formatted(
                  AF_PACKET_SLOT_BYTES,
                  pool.frameCapacityBytes(),
                  BufferPool.strideBytesFor(AF_PACKET_SLOT_BYTES)));
    }
    int mtu = AfPacket.interfaceMtu(interfaceName);
    String arguments =
        String.format(
            Locale.ROOT, // not every language writes numbers in ASCII
            "iface=%s,blocksz=%d,framesz=%d,framecnt=%d,qpairs=1,qdisc_bypass=0",
            interfaceName,
            AF_PACKET_BLOCK_BYTES,
            AF_PACKET_SLOT_BYTES,
            frames);
    int number = Ports.attach("net_af_packet_" + interfaceName, arguments);
    return open(
        number,
        0,
        0,
        handles(pool),
        () -> {
          int socket = AfPacket.socket(interfaceName, 0);
          // The whole ring must fit the send buffer, or a burst would wait inside the driver (rule
          // 14). Twice: the kernel charges about 1 KB a frame for itself.
          AfPacket.sendBuffer(socket, 2 * frames * AF_PACKET_SLOT_BYTES);
          discardWaiting(number, pool, frames);
          return new AfPacketPort(
              new DpdkDevice(number, 1),
              pool,
              interfaceName,
              Ports.macAddress(number),
              Math.min(mtu, AF_PACKET_MTU_MAX_BYTES) + FrameHeader.ETHERNET_HEADER_BYTES,
              socket,
              frames);
        });
  }

  /**
   * Throws away what the receive ring holds. A packet socket takes the frames of <em>every</em>
   * interface between its creation and its binding, and the driver gives us the socket bound.
   */
  private static void discardWaiting(int number, DpdkPool pool, int frames) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment descriptors = arena.allocate(ValueLayout.JAVA_LONG, DISCARD_BURST);
      MemorySegment ids = arena.allocate(ValueLayout.JAVA_INT, DISCARD_BURST);
      int left = frames;
      int n;
      do {
        n = Hxb.rxBurst(number, 0, pool.handle(), descriptors.address(), DISCARD_BURST);
        for (int i = 0; i < n; i++) {
          int id = Burst.id(descriptors.getAtIndex(ValueLayout.JAVA_LONG, i));
          ids.setAtIndex(ValueLayout.JAVA_INT, i, id);
        }
        if (n > 0) {
          Hxb.poolRelease(pool.handle(), ids.address(), n);
          left -= n;
        }
      } while (n > 0 && left > 0);
    }
  }

  /**
   * A physical NIC: bound to vfio-pci, or of a driver that shares it with the kernel (mlx5). EAL
   * must have been started with {@code -a} and some address among its extra arguments ({@code
   * EalOptions.withExtra}), or it knows no PCI bus. A NIC that was closed can be opened again.
   *
   * @param address for example {@code 0000:03:00.0}; the domain may be left out
   * @param arguments of the driver, for where EAL did not probe the device when it started; may be
   *     empty
   * @param ringFrames descriptors of the receive and of the transmit ring, at most; each may keep a
   *     buffer
   * @param mtuBytes bytes after the Ethernet header, which the NIC is set to
   * @throws IllegalArgumentException the NIC has no such MTU, or its rings are longer at least
   * @throws NativeException no NIC that DPDK can use is at the address; with the driver's words
   */
  public static DpdkPort pci(
      String address, String arguments, DpdkPool pool, int ringFrames, int mtuBytes) {
    String device = address.indexOf(':') == address.lastIndexOf(':') ? "0000:" + address : address;
    int number = numberOf(device);
    if (number < 0) {
      number = Ports.attach(device, arguments);
    }
    return physical(number, device, pool, ringFrames, mtuBytes);
  }

  /** A port of a driver that has an MTU and rings of its own. */
  static DpdkPort physical(int number, String name, DpdkPool pool, int ringFrames, int mtuBytes) {
    try {
      return open(
          number,
          ringFrames,
          mtuBytes,
          handles(pool),
          () ->
              new PollModePort(
                  new DpdkDevice(number, 1),
                  0,
                  pool,
                  Ports.info(number).driver() + " " + name,
                  Ports.macAddress(number),
                  Math.min(pool.frameCapacityBytes(), mtuBytes + FrameHeader.ETHERNET_HEADER_BYTES),
                  0,
                  true,
                  PollModePort.Bell.NONE));
    } catch (NativeException e) {
      if (e.code() != -Errno.ERANGE) {
        throw e;
      }
      throw new IllegalArgumentException(
          "%s takes no MTU of %d bytes, or has no rings as short as %d descriptors: lower mtu, or take another NIC"
              .formatted(name, mtuBytes, ringFrames),
          e);
    }
  }

  /** Of a device that EAL has probed; -1: of none. */
  private static int numberOf(String device) {
    for (int number = 0, left = Ports.count(); number < Ports.MAX_PORTS && left > 0; number++) {
      String name = nameOrNull(number);
      if (device.equals(name)) {
        return number;
      }
      left -= name == null ? 0 : 1;
    }
    return -1;
  }

  private static String nameOrNull(int number) {
    try {
      return Ports.info(number).device();
    } catch (NativeException e) {
      return null; // a number between two ports that exist
    }
  }

  /** Starts an attached port and makes what is wanted of it; if that fails, nothing is left. */
  private static <T> T open(
      int number, int descriptors, int mtuBytes, long[] poolHandles, Supplier<T> started) {
    try {
      Ports.configure(number, descriptors, descriptors, mtuBytes, poolHandles);
      Ports.start(number);
      return started.get();
    } catch (RuntimeException e) {
      try {
        Ports.close(number);
      } catch (RuntimeException left) {
        e.addSuppressed(left);
      }
      throw e;
    }
  }

  private static long[] handles(DpdkPool... pools) {
    return Arrays.stream(pools).mapToLong(DpdkPool::handle).toArray();
  }

  private static void checkUnicast(long macAddress) {
    if (macAddress >>> 48 != 0 || macAddress == 0 || (macAddress >>> 40 & 1) != 0) {
      throw new IllegalArgumentException(
          "address 0x%x is not a 48-bit unicast Ethernet address".formatted(macAddress));
    }
  }
}
