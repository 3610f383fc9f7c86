package org.pmhxb.cli.fuzz;

import static org.pmhxb.cli.fuzz.FrameBytes.get32;
import static org.pmhxb.cli.fuzz.FrameBytes.put16;
import static org.pmhxb.cli.fuzz.FrameBytes.put32;

import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.pmhxb.pm.wire.FrameHeader;

/**
 * Makes hostile frames out of genuine ones, knowing their structure: single fields take values that
 * invite a slip, payloads change kind, paths and addresses lie, and what stands in front of the
 * field in question is made right again, so that the check behind it is reached.
 */
final class FrameMutator {
  private static final int[] HOSTILE = {
    0,
    1,
    -1,
    2,
    3,
    4,
    7,
    8,
    16,
    24,
    40,
    63,
    64,
    65,
    255,
    256,
    1_024,
    0x7FFF,
    0x8000,
    0xFFFF,
    0x1_0000,
    Integer.MAX_VALUE,
    Integer.MIN_VALUE,
    Integer.MIN_VALUE + 1,
    0x4000_0000,
    0xC000_0000
  };

  /** EtherTypes of ARP, IPv4, IPv6, LLDP, 802.1Q, 802.1ad, PAUSE, and of lengths (802.3). */
  private static final int[] FOREIGN = {
    0x0806, 0x0800, 0x86DD, 0x88CC, 0x8100, 0x88A8, 0x8808, 38, 64, 1_500
  };

  private static final int KINDS = 14;
  private static final int LONGEST_BYTES = 1_700;

  private final SplittableRandom random;

  FrameMutator(SplittableRandom random) {
    this.random = random;
  }

  /** A frame without any other as its model. */
  byte[] fromNothing() {
    byte[] frame = new byte[random.nextInt(4) == 0 ? random.nextInt(80) : random.nextInt(600)];
    random.nextBytes(frame);
    if (frame.length > 24 && random.nextInt(3) > 0) {
      put16(frame, FrameHeader.ETHER, FrameHeader.ETHER_TYPE);
      frame[FrameHeader.VERSION_AT] = FrameHeader.VERSION;
      FrameBytes.repairHop(frame);
    }
    if (frame.length >= 64 && random.nextBoolean()) {
      put16(frame, FrameHeader.LENGTH, random.nextInt(frame.length - 63));
      FrameBytes.repairCrc(frame);
    }
    return frame;
  }

  /** A frame of another protocol on the same wire. */
  byte[] foreign(byte[] like) {
    int type = FOREIGN[random.nextInt(FOREIGN.length)];
    if ((type == 0x8100 || type == 0x88A8) && random.nextBoolean()) {
      // A whole frame of ours behind a VLAN tag.
      byte[] tagged = new byte[like.length + 4];
      System.arraycopy(like, 0, tagged, 0, 12);
      put16(tagged, 12, type);
      put16(tagged, 14, random.nextInt(0x1_0000));
      System.arraycopy(like, 12, tagged, 16, like.length - 12);
      return tagged;
    }
    byte[] frame = Arrays.copyOf(like, Math.max(14, random.nextInt(200)));
    put16(frame, FrameHeader.ETHER, type);
    return frame;
  }

  /** Bits of a frame flip; no check is made right. */
  byte[] damaged(byte[] like) {
    byte[] frame = like.clone();
    for (int n = 1 + random.nextInt(4); n > 0; n--) {
      frame[random.nextInt(frame.length)] ^= (byte) (1 << random.nextInt(8));
    }
    return frame;
  }

  /** Cut or padded; the stated length, and with it the checks, may follow. */
  byte[] resized(byte[] like, boolean repaired) {
    int bytes =
        random.nextInt(4) == 0
            ? Math.min(LONGEST_BYTES, like.length + random.nextInt(100))
            : random.nextInt(like.length + 1);
    byte[] frame = Arrays.copyOf(like, bytes);
    if (bytes >= 64 && random.nextBoolean()) {
      put16(frame, FrameHeader.LENGTH, bytes - 64);
    }
    return repaired ? repaired(frame) : frame;
  }

  /** One to three fields lie, and all checks in front of them are right. */
  byte[] lying(byte[] like) {
    byte[] frame = like.clone();
    for (int n = 1 + random.nextInt(3); n > 0; n--) {
      lie(frame);
    }
    return repaired(frame);
  }

  /** As {@link #lying}, but the CRC stays as it was: only what a relay reads may lie. */
  byte[] lyingToRelays(byte[] like) {
    byte[] frame = like.clone();
    if (frame.length < 64) {
      return frame;
    }
    switch (random.nextInt(6)) {
      case 0 -> frame[FrameHeader.HOP_LIMIT] = (byte) random.nextInt(4);
      case 1 -> put32(frame, FrameHeader.PATH, hostileInt());
      case 2 -> frame[FrameHeader.PATH] = (byte) (random.nextInt(8) << 5);
      case 3 -> put16(frame, FrameHeader.PATH + 2, random.nextInt(0x1000));
      case 4 -> put32(frame, FrameHeader.FLAGS_DST, random.nextInt(9));
      default -> put32(frame, FrameHeader.KIND_SRC, 1 << 24 | random.nextInt(9));
    }
    FrameBytes.repairHop(frame);
    return frame;
  }

  /** The header of one frame before another payload or none that makes sense. */
  byte[] spliced(byte[] like, byte[] payload) {
    int bytes = random.nextBoolean() ? payload.length : 64 + random.nextInt(120);
    byte[] frame = Arrays.copyOf(like, Math.max(64, Math.min(bytes, LONGEST_BYTES)));
    for (int i = 64; i < frame.length; i++) {
      frame[i] = i < payload.length ? payload[i] : (byte) HOSTILE[random.nextInt(HOSTILE.length)];
    }
    frame[FrameHeader.KIND_SRC] = (byte) random.nextInt(KINDS);
    put16(frame, FrameHeader.LENGTH, frame.length - 64);
    for (int n = random.nextInt(3); n > 0; n--) {
      lie(frame);
    }
    return repaired(frame);
  }

  /** An opening in the name of any node, with what proves nothing. */
  byte[] opening(byte[] like, int node, int self) {
    byte[] frame = Arrays.copyOf(like, 64 + random.nextInt(48));
    for (int i = 64; i < frame.length; i++) {
      frame[i] = (byte) random.nextInt(256);
    }
    int kind = random.nextBoolean() ? FrameHeader.OPEN : FrameHeader.OPEN_REPLY;
    put32(frame, FrameHeader.KIND_SRC, kind << 24 | node);
    put32(frame, FrameHeader.FLAGS_DST, self);
    put16(frame, FrameHeader.LENGTH, frame.length - 64);
    if (frame.length >= 64 + 24 && random.nextInt(4) > 0) {
      put32(frame, 64 + 20, 1 << 2 + random.nextInt(14));
    }
    return repaired(frame);
  }

  private void lie(byte[] frame) {
    if (frame.length < 64) {
      return;
    }
    switch (random.nextInt(20)) {
      case 0 -> put16(frame, FrameHeader.LENGTH, random.nextBoolean() ? 0 : 65_535);
      case 1 -> put16(frame, FrameHeader.LENGTH, random.nextInt(frame.length));
      case 2, 3 -> near(frame, FrameHeader.SEQ);
      case 4, 5 -> near(frame, FrameHeader.ACK);
      case 6 -> near(frame, FrameHeader.CREDIT);
      case 7, 8 -> frame[FrameHeader.FLAGS_DST] = (byte) random.nextInt(256);
      case 9 -> frame[FrameHeader.KIND_SRC] = (byte) random.nextInt(KINDS);
      case 10 -> put16(frame, FrameHeader.SRC_ENDPOINT, random.nextInt(65_536));
      case 11 -> put16(frame, FrameHeader.DST_ENDPOINT, random.nextInt(65_536));
      case 12 -> put32(frame, FrameHeader.KEY, hostileInt());
      case 13 -> put32(frame, FrameHeader.SESSION, hostileInt());
      case 14 -> frame[FrameHeader.VERSION_AT] = (byte) random.nextInt(256);
      case 15 -> put32(frame, random.nextInt(14, 61), hostileInt());
      default -> liePayload(frame);
    }
  }

  private void liePayload(byte[] frame) {
    int words = frame.length - 64 >> 2;
    if (words > 0) {
      int at = 64 + 4 * random.nextInt(Math.min(words, 16));
      switch (random.nextInt(3)) {
        case 0 -> put32(frame, at, hostileInt());
        case 1 -> near(frame, at);
        default -> put16(frame, at + 2 * random.nextInt(2), hostileInt());
      }
    }
  }

  private void near(byte[] frame, int at) {
    int value = get32(frame, at);
    put32(frame, at, value + (random.nextBoolean() ? random.nextInt(-70, 70) : hostileInt()));
  }

  private int hostileInt() {
    return random.nextInt(4) == 0 ? random.nextInt() : HOSTILE[random.nextInt(HOSTILE.length)];
  }

  private static byte[] repaired(byte[] frame) {
    FrameBytes.repairHop(frame);
    FrameBytes.repairCrc(frame);
    return frame;
  }

  /** Any of them. */
  byte[] pick(List<byte[]> from) {
    return from.get(random.nextInt(from.size()));
  }
}
