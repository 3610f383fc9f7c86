package org.pmhxb.ffi;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/** Small conversions between native addresses and segments (control path). */
public final class Memory {
  private Memory() {}

  /**
   * A view of native memory that the caller knows to live as long as the process uses it: global
   * scope, so that the compiler drops liveness checks.
   */
  public static MemorySegment view(long address, long lengthBytes) {
    if (address == 0 || lengthBytes < 0) {
      throw new IllegalArgumentException(
          "no memory at 0x" + Long.toHexString(address) + " + " + lengthBytes + " bytes");
    }
    return MemorySegment.ofAddress(address).reinterpret(lengthBytes);
  }

  static String text(MemorySegment bytes, int length) {
    byte[] copy = bytes.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE);
    return new String(copy, StandardCharsets.UTF_8);
  }
}
