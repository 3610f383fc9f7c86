package org.pmhxb.cli.fuzz;

import java.lang.foreign.MemorySegment;
import java.util.zip.CRC32C;
import org.pmhxb.pm.wire.FrameHeader;

/** Fields of a frame in an array, and the checks that make a changed frame look right again. */
final class FrameBytes {
  private FrameBytes() {}

  static int get8(byte[] frame, int at) {
    return frame[at] & 0xFF;
  }

  static int get16(byte[] frame, int at) {
    return get8(frame, at) << 8 | get8(frame, at + 1);
  }

  static int get24(byte[] frame, int at) {
    return get8(frame, at) << 16 | get16(frame, at + 1);
  }

  static int get32(byte[] frame, int at) {
    return get16(frame, at) << 16 | get16(frame, at + 2);
  }

  static void put16(byte[] frame, int at, int value) {
    frame[at] = (byte) (value >>> 8);
    frame[at + 1] = (byte) value;
  }

  static void put32(byte[] frame, int at, int value) {
    put16(frame, at, value >>> 16);
    put16(frame, at + 2, value);
  }

  /** PROTOCOL.md section 2.1, written anew: the fuzzer must not share the codec's mistakes. */
  static int hopCheck(byte[] frame) {
    long w = (long) get32(frame, 14) << 32 | get32(frame, 20) & 0xFFFF_FFFFL;
    long m = w * 0x9E3779B97F4A7C15L;
    return (int) (m >>> 48 ^ m >>> 16 & 0xFFFF);
  }

  /** PROTOCOL.md section 2.2; the stated length must lie within the frame. */
  static int crc(byte[] frame) {
    CRC32C crc = new CRC32C();
    crc.update(frame, 28, 64 + get16(frame, FrameHeader.LENGTH) - 28);
    return (int) crc.getValue();
  }

  /** Whether header and stated payload are there. */
  static boolean isWhole(byte[] frame) {
    return frame.length >= 64 && 64 + get16(frame, FrameHeader.LENGTH) <= frame.length;
  }

  static void repairHop(byte[] frame) {
    if (frame.length >= 24) {
      put16(frame, FrameHeader.HOP_CHECK, hopCheck(frame));
    }
  }

  static void repairCrc(byte[] frame) {
    if (isWhole(frame)) {
      put32(frame, FrameHeader.CRC, crc(frame));
    }
  }

  static long srcMac(byte[] frame) {
    return FrameHeader.srcMac(MemorySegment.ofArray(frame), 0);
  }
}
