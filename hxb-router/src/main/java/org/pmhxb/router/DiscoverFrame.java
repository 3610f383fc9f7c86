package org.pmhxb.router;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.pmhxb.pm.wire.FrameHeader;
import org.pmhxb.pm.wire.FrameTag;

/**
 * The payload of a DISCOVER frame (PROTOCOL.md section 8): who sends, and which of its NICs.
 *
 * <pre>
 *   0 major:8 | 1 minor:8 | 2 railsPerDimension:8 | 3 dimension:8 | 4 railIndex:8 | 5 flags:8
 *   6 dimensions:8 | 7 deviceLength:8
 *   8 extentX:16 | 10 extentY:16 | 12 extentZ:16
 *  14 x:16 | 16 y:16 | 18 z:16
 *  20 node:32
 *  24 incarnation:64
 *  32 mac:64, its low 48 bits
 *  40 device: deviceLength bytes of UTF-8
 *     frame:16, since minor version 2
 * </pre>
 *
 * <p>{@code frame} is the longest frame that the sender sends, in bytes, keyed tag included, FCS
 * not. With {@link #FLAG_FULL} the frame that says so is that long itself, by zeros behind it.
 *
 * <p>All fields are big-endian. The sender's key is that of the frame header. Its address stands in
 * the payload too, because no check covers the Ethernet header: one bit that flips there would lead
 * all frames to that neighbour astray. Accessors after {@link #isValid} only.
 */
final class DiscoverFrame {
  static final int MAJOR = FrameHeader.BYTES;
  static final int MINOR = MAJOR + Byte.BYTES;
  static final int RAILS = MINOR + Byte.BYTES;
  static final int DIMENSION = RAILS + Byte.BYTES;
  static final int RAIL_INDEX = DIMENSION + Byte.BYTES;
  static final int FLAGS = RAIL_INDEX + Byte.BYTES;
  static final int DIMENSIONS = FLAGS + Byte.BYTES;
  static final int DEVICE_LENGTH = DIMENSIONS + Byte.BYTES;
  static final int EXTENTS = DEVICE_LENGTH + Byte.BYTES;
  static final int COORDINATES = EXTENTS + 3 * Short.BYTES;
  static final int NODE = COORDINATES + 3 * Short.BYTES;
  static final int INCARNATION = NODE + Integer.BYTES;
  static final int MAC = INCARNATION + Long.BYTES;
  static final int DEVICE = MAC + Long.BYTES;

  /** Longest device name in bytes; longer ones are cut. */
  static final int MAX_DEVICE_BYTES = 63;

  /** Bytes of {@code frame}, behind the device's name. */
  private static final int FRAME_BYTES = Short.BYTES;

  /** The first minor version whose nodes say how long their frames are, and show it. */
  static final int MINOR_WITH_FRAME = 2;

  /** The sender has not seen every neighbour on this rail and asks those who hear it to answer. */
  static final int FLAG_SOLICIT = 0x01;

  /** This frame is as long as the longest that the sender sends. */
  static final int FLAG_FULL = 0x02;

  private static final ValueLayout.OfShort BE_SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfInt BE_INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfLong BE_LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private DiscoverFrame() {}

  /**
   * Writes header and payload, all but the CRC.
   *
   * @param flags with {@link #FLAG_FULL} the payload is filled up with zeros
   * @param device UTF-8, at most {@link #MAX_DEVICE_BYTES}
   * @param longestBytes the longest frame that the node sends, {@code trailerBytes} included
   * @param trailerBytes what follows the payload of each of its frames and is not counted in it
   * @return frame length in bytes, without the trailer
   */
  static int write(
      MemorySegment frames,
      long at,
      long srcMac,
      int key,
      long incarnation,
      Shape shape,
      RailLayout layout,
      int node,
      int rail,
      int flags,
      byte[] device,
      int longestBytes,
      int trailerBytes) {
    int written = DEVICE + device.length + FRAME_BYTES;
    int length = (flags & FLAG_FULL) != 0 ? longestBytes - trailerBytes : written;
    FrameHeader.hop(frames, at, 1, 0, 0); // one hop: never relayed
    FrameHeader.ethernet(frames, at, FrameHeader.BROADCAST_MAC, srcMac);
    FrameHeader.kindSrc(frames, at, FrameHeader.DISCOVER, node);
    FrameHeader.flagsDst(frames, at, 0, FrameHeader.EVERY_NODE);
    FrameHeader.keySession(frames, at, key, 0);
    FrameHeader.seqAck(frames, at, 0, 0);
    FrameHeader.credit(frames, at, 0);
    FrameHeader.endpointsLengthBeyond(frames, at, 0, 0, length - FrameHeader.BYTES, 0);
    putByte(frames, at + MAJOR, FrameHeader.VERSION_MAJOR);
    putByte(frames, at + MINOR, FrameHeader.VERSION_MINOR);
    putByte(frames, at + RAILS, layout.perDimension());
    putByte(frames, at + DIMENSION, layout.dimension(rail));
    putByte(frames, at + RAIL_INDEX, layout.index(rail));
    putByte(frames, at + FLAGS, flags);
    putByte(frames, at + DIMENSIONS, shape.dimensions());
    putByte(frames, at + DEVICE_LENGTH, device.length);
    int position = shape.position(node);
    for (int d = 0; d < Dimension.COUNT; d++) {
      frames.set(BE_SHORT, at + EXTENTS + 2L * d, (short) shape.extent(d));
      frames.set(BE_SHORT, at + COORDINATES + 2L * d, (short) shape.coordinate(position, d));
    }
    frames.set(BE_INT, at + NODE, node);
    frames.set(BE_LONG, at + INCARNATION, incarnation);
    frames.set(BE_LONG, at + MAC, srcMac);
    MemorySegment.copy(device, 0, frames, ValueLayout.JAVA_BYTE, at + DEVICE, device.length);
    frames.set(BE_SHORT, at + DEVICE + device.length, (short) longestBytes);
    zero(frames, at + written, at + length);
    return length;
  }

  /** The buffer was in use before: what is not written would go on the wire. */
  private static void zero(MemorySegment frames, long from, long to) {
    long at = from;
    for (; at <= to - Long.BYTES; at += Long.BYTES) {
      frames.set(BE_LONG, at, 0);
    }
    for (; at < to; at++) {
      putByte(frames, at, 0);
    }
  }

  /** Whether the fields are complete and agree with each other; never throws. */
  static boolean isValid(MemorySegment frames, long at, int lengthBytes) {
    if (lengthBytes < DEVICE) {
      return false;
    }
    int payload = FrameHeader.length(frames, at);
    int deviceLength = u8(frames, at + DEVICE_LENGTH);
    // A newer minor version may append fields behind the device name.
    if (FrameHeader.BYTES + payload > lengthBytes
        || deviceLength > MAX_DEVICE_BYTES
        || DEVICE + deviceLength > FrameHeader.BYTES + payload) {
      return false;
    }
    if (u8(frames, at + MAJOR) != FrameHeader.version(frames, at) >>> 4
        || railsPerDimension(frames, at) < 1
        || railsPerDimension(frames, at) > RailLayout.MAX_PER_DIMENSION
        || railIndex(frames, at) >= railsPerDimension(frames, at)
        || dimension(frames, at) >= Dimension.COUNT
        || extent(frames, at, dimension(frames, at)) < 2
        || frames.get(BE_LONG, at + MAC) != FrameHeader.srcMac(frames, at)
        || !MacAddress.isStation(FrameHeader.srcMac(frames, at))) {
      return false;
    }
    return frameIsValid(frames, at, payload) && placeIsValid(frames, at);
  }

  /** What the sender says of its frames' length, against the length of this one. */
  private static boolean frameIsValid(MemorySegment frames, long at, int payload) {
    if (!saysFrame(frames, at)) {
      return true;
    }
    if (frameAt(frames, at) + FRAME_BYTES > FrameHeader.BYTES + payload) {
      return false;
    }
    boolean tagged = (FrameHeader.flags(frames, at) & FrameHeader.FLAG_TAG) != 0;
    int stated = FrameHeader.BYTES + payload + (tagged ? FrameTag.BYTES : 0);
    int longest = frameBytes(frames, at);
    return isFull(frames, at) ? stated == longest : stated <= longest;
  }

  private static boolean placeIsValid(MemorySegment frames, long at) {
    int dimensions = u8(frames, at + DIMENSIONS);
    if (dimensions < 1 || dimensions > Dimension.COUNT) {
      return false;
    }
    long nodes = 1;
    long node = 0;
    for (int d = 0; d < Dimension.COUNT; d++) {
      int extent = extent(frames, at, d);
      int coordinate = coordinate(frames, at, d);
      if (extent < 1 || coordinate >= extent || d >= dimensions && extent != 1) {
        return false;
      }
      node += nodes * coordinate;
      nodes *= extent;
    }
    return nodes <= Shape.MAX_NODES
        && node == node(frames, at)
        && node == FrameHeader.src(frames, at);
  }

  static int railsPerDimension(MemorySegment frames, long at) {
    return u8(frames, at + RAILS);
  }

  static int dimension(MemorySegment frames, long at) {
    return u8(frames, at + DIMENSION);
  }

  static int railIndex(MemorySegment frames, long at) {
    return u8(frames, at + RAIL_INDEX);
  }

  static boolean solicits(MemorySegment frames, long at) {
    return (u8(frames, at + FLAGS) & FLAG_SOLICIT) != 0;
  }

  /** Whether the sender's minor version has {@code frame}, and the frames of that length. */
  static boolean saysFrame(MemorySegment frames, long at) {
    return u8(frames, at + MINOR) >= MINOR_WITH_FRAME;
  }

  /** Where {@link #saysFrame}: whether this frame is as long as its sender's longest. */
  static boolean isFull(MemorySegment frames, long at) {
    return (u8(frames, at + FLAGS) & FLAG_FULL) != 0;
  }

  /** Where {@link #saysFrame}: the sender's longest frame in bytes. */
  static int frameBytes(MemorySegment frames, long at) {
    return u16(frames, at + frameAt(frames, at));
  }

  private static int frameAt(MemorySegment frames, long at) {
    return DEVICE + u8(frames, at + DEVICE_LENGTH);
  }

  static int extent(MemorySegment frames, long at, int dimension) {
    return u16(frames, at + EXTENTS + 2L * dimension);
  }

  static int coordinate(MemorySegment frames, long at, int dimension) {
    return u16(frames, at + COORDINATES + 2L * dimension);
  }

  static int node(MemorySegment frames, long at) {
    return frames.get(BE_INT, at + NODE);
  }

  static long incarnation(MemorySegment frames, long at) {
    return frames.get(BE_LONG, at + INCARNATION);
  }

  /** Allocates: control path. */
  static Coordinates coordinates(MemorySegment frames, long at) {
    return new Coordinates(
        coordinate(frames, at, 0), coordinate(frames, at, 1), coordinate(frames, at, 2));
  }

  /** As the sender wrote it. Allocates: control path. */
  static String shape(MemorySegment frames, long at) {
    int[] extents = new int[u8(frames, at + DIMENSIONS)];
    for (int d = 0; d < extents.length; d++) {
      extents[d] = extent(frames, at, d);
    }
    return Shape.format(extents);
  }

  /** Printable characters only: the name goes to terminals. Allocates: control path. */
  static String device(MemorySegment frames, long at) {
    byte[] bytes = new byte[u8(frames, at + DEVICE_LENGTH)];
    MemorySegment.copy(frames, ValueLayout.JAVA_BYTE, at + DEVICE, bytes, 0, bytes.length);
    String text = new String(bytes, StandardCharsets.UTF_8);
    return text.replaceAll("[^\\x20-\\x7e]", "?");
  }

  /** A device name as it goes on the wire. */
  static byte[] deviceBytes(String device) {
    byte[] bytes = device.getBytes(StandardCharsets.UTF_8);
    return bytes.length <= MAX_DEVICE_BYTES ? bytes : Arrays.copyOf(bytes, MAX_DEVICE_BYTES);
  }

  private static void putByte(MemorySegment frames, long at, int value) {
    frames.set(ValueLayout.JAVA_BYTE, at, (byte) value);
  }

  private static int u8(MemorySegment frames, long at) {
    return frames.get(ValueLayout.JAVA_BYTE, at) & 0xFF;
  }

  private static int u16(MemorySegment frames, long at) {
    return frames.get(BE_SHORT, at) & 0xFFFF;
  }
}
