package org.pmhxb.router;

/** Ethernet addresses in the low 48 bits of a long, for people. */
final class MacAddress {
  private static final long GROUP_BIT = 1L << 40;

  private MacAddress() {}

  static String format(long mac) {
    StringBuilder text = new StringBuilder(17);
    for (int shift = 40; shift >= 0; shift -= 8) {
      int octet = (int) (mac >>> shift) & 0xFF;
      text.append(Character.forDigit(octet >> 4, 16)).append(Character.forDigit(octet & 15, 16));
      if (shift > 0) {
        text.append(':');
      }
    }
    return text.toString();
  }

  /** Whether a NIC can have it: not zero, no group address. */
  static boolean isStation(long mac) {
    return mac != 0 && (mac & GROUP_BIT) == 0;
  }
}
