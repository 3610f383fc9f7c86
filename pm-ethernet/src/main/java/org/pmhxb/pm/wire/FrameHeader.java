package org.pmhxb.pm.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The 64-byte frame header (PROTOCOL.md section 2), read and written in place.
 *
 * <pre>
 *   0 dstMac:48 | 6 srcMac:48 | 12 etherType:16
 *     hop part: relays and resends may rewrite it; covered by hopCheck, not by crc
 *  14 version:8 | 15 hopLimit:8 | 16 copy:8 | 17 mark:8 | 18 hopCheck:16 | 20 path:32
 *     end-to-end part: immutable after the first transmission; crc covers 28 .. 64 + length
 *  24 crc:32
 *  28 kind:8  | 29 src:24
 *  32 flags:8 | 33 dst:24
 *  36 key:32 | 40 session:32 | 44 seq:32 | 48 ack:32 | 52 credit:32
 *  56 srcEndpoint:16 | 58 dstEndpoint:16 | 60 length:16 | 62 beyond:16
 *  64 payload
 * </pre>
 *
 * <p>All fields are big-endian. {@code at} is the offset of Ethernet byte 0 in {@code frames}.
 */
public final class FrameHeader {
  /** IEEE 802 local experimental EtherType 1. */
  public static final int ETHER_TYPE = 0x88B5;

  /** Another major version is counted and dropped, a newer minor version interoperates. */
  public static final int VERSION_MAJOR = 1;

  public static final int VERSION_MINOR = 2;
  public static final int VERSION = VERSION_MAJOR << 4 | VERSION_MINOR;

  public static final int DST_MAC = 0;
  public static final int SRC_MAC = DST_MAC + 6;
  public static final int ETHER = SRC_MAC + 6;

  /** Of any frame without a VLAN tag; a link's MTU counts what follows. */
  public static final int ETHERNET_HEADER_BYTES = ETHER + Short.BYTES;

  public static final int VERSION_AT = ETHERNET_HEADER_BYTES;
  public static final int HOP_LIMIT = VERSION_AT + Byte.BYTES;
  public static final int COPY = HOP_LIMIT + Byte.BYTES;
  public static final int MARK = COPY + Byte.BYTES;
  public static final int HOP_CHECK = MARK + Byte.BYTES;
  public static final int PATH = HOP_CHECK + Short.BYTES;
  public static final int CRC = PATH + Integer.BYTES;
  public static final int KIND_SRC = CRC + Integer.BYTES;
  public static final int FLAGS_DST = KIND_SRC + Integer.BYTES;
  public static final int KEY = FLAGS_DST + Integer.BYTES;
  public static final int SESSION = KEY + Integer.BYTES;
  public static final int SEQ = SESSION + Integer.BYTES;
  public static final int ACK = SEQ + Integer.BYTES;
  public static final int CREDIT = ACK + Integer.BYTES;
  public static final int SRC_ENDPOINT = CREDIT + Integer.BYTES;
  public static final int DST_ENDPOINT = SRC_ENDPOINT + Short.BYTES;
  public static final int LENGTH = DST_ENDPOINT + Short.BYTES;
  public static final int BEYOND = LENGTH + Short.BYTES;
  public static final int BYTES = BEYOND + Short.BYTES;

  /** Where the CRC's cover begins. */
  public static final int CRC_FROM = KIND_SRC;

  /** Largest node number that fits; 0xFFFFFF in dst means "whoever is on this line". */
  public static final int MAX_NODE = 0xFF_FFFE;

  public static final int EVERY_NODE = 0xFF_FFFF;

  /** Ethernet broadcast address in the low 48 bits. */
  public static final long BROADCAST_MAC = 0xFFFF_FFFF_FFFFL;

  // Frame kinds (PROTOCOL.md section 3).
  public static final int DATA = 1;
  public static final int ACK_KIND = 2;
  public static final int OPEN = 3;
  public static final int OPEN_REPLY = 4;
  public static final int OPEN_CONFIRM = 5;
  public static final int RESET = 6;
  public static final int PROBE = 7;
  public static final int PROBE_REPLY = 8;
  public static final int DISCOVER = 9;
  public static final int CLOSE = 10;
  public static final int CREDIT_REQUEST = 11;
  public static final int COLLECTIVE = 12;

  // Flags (PROTOCOL.md section 2.3).
  /** The payload begins with the 8-byte fragment header: messageLength:32, fragmentOffset:32. */
  public static final int FLAG_FRAGMENT = 0x01;

  /** The payload holds several small messages: {@link CoalescedPayload}. */
  public static final int FLAG_COALESCED = 0x02;

  /** A stamp and a keyed tag, 16 bytes, follow the payload. */
  public static final int FLAG_TAG = 0x04;

  /** Reserved, sent as 0: the sender waits for credit on this channel. */
  public static final int FLAG_WANT_CREDIT = 0x08;

  /** The field {@code credit} holds a limit for the channel (dstEndpoint, srcEndpoint) reversed. */
  public static final int FLAG_CREDIT = 0x10;

  /** Reserved, sent as 0: a detour shows in the order of the path. */
  public static final int FLAG_DETOUR = 0x20;

  /** The field {@code beyond} is a bitmap: bit i = sequence number ack + 1 + i has arrived. */
  public static final int FLAG_BEYOND = 0x40;

  /** Sequence numbers that {@code beyond} tells of. */
  public static final int BEYOND_BITS = 16;

  private static final ValueLayout.OfShort BE_SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  /** For what is unsigned: an instruction less than to mask a short. */
  private static final ValueLayout.OfChar BE_CHAR =
      ValueLayout.JAVA_CHAR_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private static final ValueLayout.OfInt BE_INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfLong BE_LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private static final boolean NATIVE_IS_BIG = ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN;

  // EtherType and major version.
  private static final int WIRE_OURS_MASK = wireInt(0xFFFF_F000);
  private static final int WIRE_OURS = wireInt(ETHER_TYPE << 16 | VERSION_MAJOR << 12);

  /** The destination in the 4 bytes at {@link #FLAGS_DST}, as they lie in a frame. */
  public static final int WIRE_DST_MASK = wireInt(0x00FF_FFFF);

  /** Of the hop check: 2^64 divided by the golden ratio. */
  private static final long FOLD = 0x9E37_79B9_7F4A_7C15L;

  private static final boolean LITTLE_ENDIAN = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

  /** {@code kind:8 | src:24 | flags:8 | dst:24} without kind and flags. */
  private static final long WIRE_NODES = stored(0x00FF_FFFF_00FF_FFFFL);

  /** Of the flags in the stored word from {@link #KIND_SRC} on: they are its fifth byte. */
  private static final int STORED_FLAGS_SHIFT = LITTLE_ENDIAN ? 32 : 24;

  private FrameHeader() {}

  // --- Ethernet -----------------------------------------------------------------------------

  /** Writes both addresses and the EtherType: two eight-byte stores that meet at byte 8. */
  public static void ethernet(MemorySegment frames, long at, long dstMac, long srcMac) {
    frames.set(BE_LONG, at, dstMac << 16 | srcMac >>> 32);
    frames.set(
        BE_LONG,
        at + 8,
        (srcMac & 0xFFFF_FFFFL) << 32 | (long) ETHER_TYPE << 16 | u16(frames, at + VERSION_AT));
  }

  public static long dstMac(MemorySegment frames, long at) {
    return frames.get(BE_LONG, at) >>> 16;
  }

  public static long srcMac(MemorySegment frames, long at) {
    return frames.get(BE_LONG, at + 4) & 0xFFFF_FFFF_FFFFL;
  }

  public static int etherType(MemorySegment frames, long at) {
    return u16(frames, at + ETHER);
  }

  // --- hop part -----------------------------------------------------------------------------

  /** Writes the whole hop part, check included. */
  public static void hop(MemorySegment frames, long at, int hopLimit, int copy, int path) {
    int first = VERSION << 24 | hopLimit << 16 | (copy & 0xFF) << 8;
    frames.set(BE_INT, at + VERSION_AT, first);
    frames.set(BE_SHORT, at + HOP_CHECK, (short) fold(first, path));
    frames.set(BE_INT, at + PATH, path);
  }

  /** Writes all before the CRC, bytes 0-23, in three stores: addresses, hop part and its check. */
  public static void front(
      MemorySegment frames, long at, long dstMac, long srcMac, int hopLimit, int copy, int path) {
    front(
        frames,
        at,
        frontWord0(dstMac, srcMac),
        frontWord1(srcMac, hopLimit),
        frontWord2(hopLimit, copy, path));
  }

  /** The same, of words made by {@link #frontWord0} to {@link #frontWord2}. */
  public static void front(MemorySegment frames, long at, long word0, long word1, long word2) {
    frames.set(BE_LONG, at, word0);
    frames.set(BE_LONG, at + 8, word1);
    frames.set(BE_LONG, at + COPY, word2);
  }

  /**
   * A word of what {@link #front} wrote, as it lies in the frame.
   *
   * @param word 0 to 2
   */
  public static long frontStored(MemorySegment frames, long at, int word) {
    return frames.get(ValueLayout.JAVA_LONG_UNALIGNED, at + word * Long.BYTES);
  }

  /** The same, of words that were {@link #stored} once for many frames. */
  public static void frontStored(
      MemorySegment frames, long at, long word0, long word1, long word2) {
    frames.set(ValueLayout.JAVA_LONG_UNALIGNED, at, word0);
    frames.set(ValueLayout.JAVA_LONG_UNALIGNED, at + 8, word1);
    frames.set(ValueLayout.JAVA_LONG_UNALIGNED, at + COPY, word2);
  }

  /** Bytes 0-7. */
  public static long frontWord0(long dstMac, long srcMac) {
    return dstMac << 16 | srcMac >>> 32;
  }

  /** Bytes 8-15. */
  public static long frontWord1(long srcMac, int hopLimit) {
    return (srcMac & 0xFFFF_FFFFL) << 32 | (long) ETHER_TYPE << 16 | VERSION << 8 | hopLimit;
  }

  /** Bytes 16-23. */
  public static long frontWord2(int hopLimit, int copy, int path) {
    int first = VERSION << 24 | hopLimit << 16 | (copy & 0xFF) << 8;
    return (long) first << 48 | (fold(first, path) & 0xFFFFL) << 32 | path & 0xFFFF_FFFFL;
  }

  /** {@code version:8 | hopLimit:8 | copy:8 | mark:8} in one load. */
  public static int hopWord(MemorySegment frames, long at) {
    return frames.get(BE_INT, at + VERSION_AT);
  }

  /** Bytes 8-15 without version and hop limit. */
  public static long forwardBase(long srcMac) {
    return (srcMac & 0xFFFF_FFFFL) << 32 | (long) ETHER_TYPE << 16;
  }

  /**
   * Bytes 8-15 as a relay sends them on: one hop less.
   *
   * @param base {@link #forwardBase}
   * @param hopWord as received; its hop limit is at least 1
   */
  public static long forwardWord1(long base, int hopWord) {
    return base | hopWord - (1 << 16) >>> 16;
  }

  /**
   * Bytes 16-23 as a relay sends them on, the hop check that follows from one hop less in them.
   *
   * @param hopWord as received; its hop limit is at least 1
   * @param path as received; it stays
   */
  public static long forwardWord2(int hopWord, int path) {
    int first = hopWord - (1 << 16);
    int front = first << 16 | fold(first, path) & 0xFFFF;
    return (long) front << 32 | path & 0xFFFF_FFFFL;
  }

  /** What the hop check of this frame must be: over bytes 14-17 and 20-23. */
  public static int hopCheck(MemorySegment frames, long at) {
    return fold(frames.get(BE_INT, at + VERSION_AT), frames.get(BE_INT, at + PATH));
  }

  public static int hopCheckField(MemorySegment frames, long at) {
    return u16(frames, at + HOP_CHECK);
  }

  /**
   * Multiplicative fold (PROTOCOL.md section 2.1): a random change passes with probability 2^-16.
   */
  private static int fold(int first, int path) {
    long mixed = ((long) first << 32 | path & 0xFFFF_FFFFL) * FOLD;
    return (int) (mixed >>> 48) ^ (int) (mixed >>> 16) & 0xFFFF;
  }

  public static int version(MemorySegment frames, long at) {
    return u8(frames, at + VERSION_AT);
  }

  public static int hopLimit(MemorySegment frames, long at) {
    return u8(frames, at + HOP_LIMIT);
  }

  public static int copy(MemorySegment frames, long at) {
    return u8(frames, at + COPY);
  }

  public static int path(MemorySegment frames, long at) {
    return frames.get(BE_INT, at + PATH);
  }

  // --- end-to-end part ----------------------------------------------------------------------

  public static int crc(MemorySegment frames, long at) {
    return frames.get(BE_INT, at + CRC);
  }

  public static void crc(MemorySegment frames, long at, int crc) {
    frames.set(BE_INT, at + CRC, crc);
  }

  public static int kind(MemorySegment frames, long at) {
    return u8(frames, at + KIND_SRC);
  }

  public static int src(MemorySegment frames, long at) {
    return frames.get(BE_INT, at + KIND_SRC) & 0xFF_FFFF;
  }

  public static void kindSrc(MemorySegment frames, long at, int kind, int src) {
    frames.set(BE_INT, at + KIND_SRC, kind << 24 | src);
  }

  public static int flags(MemorySegment frames, long at) {
    return u8(frames, at + FLAGS_DST);
  }

  public static int dst(MemorySegment frames, long at) {
    return frames.get(BE_INT, at + FLAGS_DST) & 0xFF_FFFF;
  }

  public static void flagsDst(MemorySegment frames, long at, int flags, int dst) {
    frames.set(BE_INT, at + FLAGS_DST, flags << 24 | dst);
  }

  /** {@code kind:8 | src:24}. */
  public static int kindSrc(MemorySegment frames, long at) {
    return frames.get(BE_INT, at + KIND_SRC);
  }

  /** {@code 0:8 | src:24 | 0:8 | dst:24} in one load, as they lie in the frame. */
  public static long wireNodes(MemorySegment frames, long at) {
    return frames.get(ValueLayout.JAVA_LONG_UNALIGNED, at + KIND_SRC) & WIRE_NODES;
  }

  public static int key(MemorySegment frames, long at) {
    return frames.get(BE_INT, at + KEY);
  }

  public static int session(MemorySegment frames, long at) {
    return frames.get(BE_INT, at + SESSION);
  }

  public static void keySession(MemorySegment frames, long at, int key, int session) {
    frames.set(BE_LONG, at + KEY, (long) key << 32 | session & 0xFFFF_FFFFL);
  }

  public static int seq(MemorySegment frames, long at) {
    return frames.get(BE_INT, at + SEQ);
  }

  public static int ack(MemorySegment frames, long at) {
    return frames.get(BE_INT, at + ACK);
  }

  public static void seqAck(MemorySegment frames, long at, int seq, int ack) {
    frames.set(BE_LONG, at + SEQ, (long) seq << 32 | ack & 0xFFFF_FFFFL);
  }

  public static int credit(MemorySegment frames, long at) {
    return frames.get(BE_INT, at + CREDIT);
  }

  public static void credit(MemorySegment frames, long at, int credit) {
    frames.set(BE_INT, at + CREDIT, credit);
  }

  public static int srcEndpoint(MemorySegment frames, long at) {
    return u16(frames, at + SRC_ENDPOINT);
  }

  public static int dstEndpoint(MemorySegment frames, long at) {
    return u16(frames, at + DST_ENDPOINT);
  }

  /** Writes endpoints, payload length and beyond in one store. */
  public static void endpointsLengthBeyond(
      MemorySegment frames, long at, int srcEndpoint, int dstEndpoint, int length, int beyond) {
    frames.set(
        BE_LONG,
        at + SRC_ENDPOINT,
        (long) srcEndpoint << 48
            | (dstEndpoint & 0xFFFFL) << 32
            | (length & 0xFFFFL) << 16
            | beyond & 0xFFFFL);
  }

  /** Payload bytes. */
  public static int length(MemorySegment frames, long at) {
    return u16(frames, at + LENGTH);
  }

  public static int beyond(MemorySegment frames, long at) {
    return u16(frames, at + BEYOND);
  }

  public static void beyond(MemorySegment frames, long at, int beyond) {
    frames.set(BE_SHORT, at + BEYOND, (short) beyond);
  }

  // --- whole words: what the packet path reads and writes once ------------------------------

  /** {@code copy:8 | mark:8 | hopCheck:16 | path:32}. */
  public static long pathWord(MemorySegment frames, long at) {
    return frames.get(BE_LONG, at + COPY);
  }

  /** {@code flags:8 | dst:24 | key:32}. */
  public static long dstWord(MemorySegment frames, long at) {
    return frames.get(BE_LONG, at + FLAGS_DST);
  }

  /** {@code seq:32 | ack:32}. */
  public static long seqAck(MemorySegment frames, long at) {
    return frames.get(BE_LONG, at + SEQ);
  }

  /** {@code session:32 | seq:32}. */
  public static long sessionWord(MemorySegment frames, long at) {
    return frames.get(BE_LONG, at + SESSION);
  }

  /** {@code srcEndpoint:16 | dstEndpoint:16 | length:16 | beyond:16}. */
  public static long endpointWord(MemorySegment frames, long at) {
    return frames.get(BE_LONG, at + SRC_ENDPOINT);
  }

  // --- words as they lie in the frame: to be compared with words made the same way ----------

  /**
   * Four bytes of the header.
   *
   * @param offset where they begin
   */
  public static int wireInt(MemorySegment frames, long at, int offset) {
    return frames.get(ValueLayout.JAVA_INT_UNALIGNED, at + offset);
  }

  /** What {@link #wireInt(MemorySegment, long, int)} reads where {@code value} was written. */
  public static int wireInt(int value) {
    return NATIVE_IS_BIG ? value : Integer.reverseBytes(value);
  }

  /**
   * The destination's half of both endpoints, as it lies in the frame.
   *
   * @param wireEndpoints {@link #wireInt(MemorySegment, long, int)} at {@link #SRC_ENDPOINT}
   */
  public static int wireDstEndpoint(int wireEndpoints) {
    return NATIVE_IS_BIG ? wireEndpoints & 0xFFFF : wireEndpoints >>> 16;
  }

  /** Key and session. */
  public static long wireKeySession(MemorySegment frames, long at) {
    return frames.get(ValueLayout.JAVA_LONG_UNALIGNED, at + KEY);
  }

  /** What {@link #wireKeySession(MemorySegment, long)} reads of a frame of this session. */
  public static long wireKeySession(int key, int session) {
    long word = (long) key << 32 | session & 0xFFFF_FFFFL;
    return NATIVE_IS_BIG ? word : Long.reverseBytes(word);
  }

  /** EtherType and major version are ours, in one comparison. */
  public static boolean isOurs(MemorySegment frames, long at) {
    return (wireInt(frames, at, ETHER) & WIRE_OURS_MASK) == WIRE_OURS;
  }

  /**
   * Whether the frame is for a node.
   *
   * @param wireNode {@link #wireInt(int)} of its number
   */
  public static boolean isFor(MemorySegment frames, long at, int wireNode) {
    return (wireInt(frames, at, FLAGS_DST) & WIRE_DST_MASK) == wireNode;
  }

  /** Whether the hop part is as it was written: bytes 14-17 and 20-23 against 18-19. */
  public static boolean hopCheckHolds(MemorySegment frames, long at) {
    long word = frames.get(BE_LONG, at + VERSION_AT);
    long mixed = (word >>> 32 << 32 | path(frames, at) & 0xFFFF_FFFFL) * FOLD;
    return (short) (mixed >>> 48 ^ mixed >>> 16 ^ word >>> 16) == 0;
  }

  /**
   * {@code etherType:16 | version:8 | hopLimit:8}, as they lie in the frame: with {@link #wireRest}
   * all that {@link #isOurs} and {@link #hopCheckHolds} look at. Neither load spans two of the
   * stores that {@link #front} makes: it would wait until both are in the cache.
   */
  public static int wireHop(MemorySegment frames, long at) {
    return wireInt(frames, at, ETHER);
  }

  /** {@code copy:8 | mark:8 | hopCheck:16 | path:32}, as they lie in the frame. */
  public static long wireRest(MemorySegment frames, long at) {
    return frames.get(ValueLayout.JAVA_LONG_UNALIGNED, at + COPY);
  }

  /** The path in that, as it lies in the frame. */
  public static int wirePathOf(long rest) {
    return NATIVE_IS_BIG ? (int) rest : (int) (rest >>> 32);
  }

  /** What {@link #wireHop} reads of an intact frame with path 0. */
  public static int wireHopOfNoPath() {
    return wireInt(ETHER_TYPE << 16 | VERSION << 8);
  }

  /** What {@link #wireRest} reads of it. */
  public static long wireRestOfNoPath() {
    return stored((fold(VERSION << 24, 0) & 0xFFFFL) << 32);
  }

  public static int srcEndpointOf(long endpointWord) {
    return (int) (endpointWord >>> 48);
  }

  public static int dstEndpointOf(long endpointWord) {
    return (int) (endpointWord >>> 32) & 0xFFFF;
  }

  /** Payload bytes. */
  public static int lengthOf(long endpointWord) {
    return (int) (endpointWord >>> 16) & 0xFFFF;
  }

  /** A word of the header as it lies in memory, for {@link #data}. */
  public static long stored(long word) {
    return LITTLE_ENDIAN ? Long.reverseBytes(word) : word;
  }

  /**
   * Writes the header of a data frame but for its CRC: the words that the frames of a path share,
   * made once by {@link #stored}, and those that are each frame's own. In the pieces in which the
   * CRC reads them: a load that spans two stores would wait until both are in the cache.
   *
   * @param front0 {@link #frontWord0}, stored; the other two alike
   * @param ends {@code kind:8 | src:24 | flags:8 | dst:24}, stored
   * @param keySession {@code key:32 | session:32}, stored
   * @param flags beside those of {@code ends}
   * @param seqAck {@code seq:32 | ack:32}
   * @param endpoints {@link #storedEndpoints}
   * @param lengthWord {@code length:16 | 0:16}
   */
  public static void data(
      MemorySegment frames,
      long at,
      long front0,
      long front1,
      long front2,
      long ends,
      long keySession,
      int flags,
      long seqAck,
      int credit,
      long endpoints,
      int lengthWord) {
    frames.set(ValueLayout.JAVA_LONG_UNALIGNED, at, front0);
    frames.set(ValueLayout.JAVA_LONG_UNALIGNED, at + 8, front1);
    frames.set(ValueLayout.JAVA_LONG_UNALIGNED, at + COPY, front2);
    frames.set(
        ValueLayout.JAVA_LONG_UNALIGNED, at + KIND_SRC, ends | (long) flags << STORED_FLAGS_SHIFT);
    frames.set(ValueLayout.JAVA_LONG_UNALIGNED, at + KEY, keySession);
    frames.set(BE_LONG, at + SEQ, seqAck);
    frames.set(ValueLayout.JAVA_LONG_UNALIGNED, at + CREDIT, endpoints | storedCredit(credit));
    frames.set(BE_INT, at + LENGTH, lengthWord);
  }

  /** A channel for {@link #data}: {@code srcEndpoint:16 | dstEndpoint:16}, where they belong. */
  public static long storedEndpoints(int endpoints) {
    return stored(endpoints & 0xFFFF_FFFFL);
  }

  /** A credit limit, in the other half of that word. */
  private static long storedCredit(int credit) {
    return LITTLE_ENDIAN ? Integer.reverseBytes(credit) & 0xFFFF_FFFFL : (long) credit << 32;
  }

  // --- payload words ------------------------------------------------------------------------

  public static int payloadInt(MemorySegment frames, long at, int offset) {
    return frames.get(BE_INT, at + BYTES + offset);
  }

  public static void payloadInt(MemorySegment frames, long at, int offset, int value) {
    frames.set(BE_INT, at + BYTES + offset, value);
  }

  public static long payloadLong(MemorySegment frames, long at, int offset) {
    return frames.get(BE_LONG, at + BYTES + offset);
  }

  public static void payloadLong(MemorySegment frames, long at, int offset, long value) {
    frames.set(BE_LONG, at + BYTES + offset, value);
  }

  private static int u8(MemorySegment frames, long at) {
    return frames.get(ValueLayout.JAVA_BYTE, at) & 0xFF;
  }

  private static int u16(MemorySegment frames, long at) {
    return frames.get(BE_CHAR, at);
  }
}
