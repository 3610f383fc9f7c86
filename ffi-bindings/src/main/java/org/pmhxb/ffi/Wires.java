package org.pmhxb.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.pmhxb.ffi.gen.Pmhxb;

/**
 * Software switches between rings (control path). A wire is a handle, for {@link Hxb#wireCarry};
 * its stations are on lines, and belong to nodes.
 */
public final class Wires {
  /** Stations that a wire may have; lines and nodes are numbered from 0 to this less one. */
  public static final int MAX_STATIONS = Pmhxb.HXB_WIRE_STATIONS_MAX();

  /** What a wire counts since it was made. */
  public enum Count {
    /** Frames copied, once per frame and receiver. */
    COPIES(Pmhxb.HXB_WIRE_COPIES()),
    /** Bytes of these. */
    BYTES(Pmhxb.HXB_WIRE_BYTES()),
    /** Frames lost on cut lines. */
    LOST(Pmhxb.HXB_WIRE_LOST()),
    /**
     * Frames dropped because the receiving node had no free buffer, or its buffers are too short.
     */
    NO_BUFFER(Pmhxb.HXB_WIRE_NO_BUFFER()),
    /** Frames dropped because the receiving ring was full. */
    RING_FULL(Pmhxb.HXB_WIRE_RING_FULL()),
    /** Frames to an address that no station of the line has. */
    UNKNOWN(Pmhxb.HXB_WIRE_UNKNOWN());

    private final int number;

    Count(int number) {
      this.number = number;
    }
  }

  private Wires() {}

  /** Creates a wire without stations. */
  public static long create() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
      check("hxb_wire_create", Pmhxb.hxb_wire_create(out), "memory is short");
      return out.get(ValueLayout.JAVA_LONG, 0);
    }
  }

  /** Ends a wire, before its rings and pools go. What lies in the rings stays there. */
  public static void destroy(long wire) {
    check("hxb_wire_destroy", Pmhxb.hxb_wire_destroy(of(wire)), "");
  }

  /**
   * Plugs a station in. Nobody may carry meanwhile.
   *
   * @param line from 0
   * @param node from 0: whose turn it is when the station's frames are carried
   * @param fromNode ring of what the node sends; single consumer
   * @param toNode ring of what it receives; single producer
   * @param mac its address, first byte highest; of the line's stations it alone has it
   * @param pool whose buffers its frames are copied into
   * @throws NativeException with what was wrong
   */
  public static void attach(
      long wire, int line, int node, long fromNode, long toNode, long mac, long pool) {
    int code = Pmhxb.hxb_wire_attach(of(wire), line, node, of(fromNode), of(toNode), mac, of(pool));
    check(
        String.format("hxb_wire_attach(line %d, node %d, address %012x)", line, node, mac),
        code,
        attachRemedy(code));
  }

  private static String attachRemedy(int code) {
    return switch (-code) {
      case Errno.EEXIST -> "a station of that line has the address: give each its own";
      case Errno.ENOSPC -> "a wire has at most " + MAX_STATIONS + " stations";
      default ->
          "numbers are 0 to "
              + (MAX_STATIONS - 1)
              + "; the rings have one consumer and one producer; no broadcast address";
    };
  }

  /** Cuts a line: what is sent on it is lost; or mends it. Any thread. */
  public static void cut(long wire, int line, boolean cut) {
    check(
        "hxb_wire_cut(" + line + ")",
        Pmhxb.hxb_wire_cut(of(wire), line, cut ? 1 : 0),
        "lines are 0 to " + (MAX_STATIONS - 1));
  }

  /** One of a wire's counts. The thread that carries. */
  public static long count(long wire, Count what) {
    long count = Pmhxb.hxb_wire_count(of(wire), what.number);
    if (count < 0) {
      check("hxb_wire_count", (int) count, "");
    }
    return count;
  }

  private static MemorySegment of(long handle) {
    return MemorySegment.ofAddress(handle);
  }

  private static void check(String call, int code, String remedy) {
    if (code < 0) {
      throw new NativeException(call, code, remedy);
    }
  }
}
