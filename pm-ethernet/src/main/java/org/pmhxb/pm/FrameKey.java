package org.pmhxb.pm;

import org.pmhxb.pm.wire.FrameTag;

/**
 * The secret that all nodes of a cluster share, and what is done with it (PROTOCOL.md section 2.6).
 *
 * @param mode what is sent and demanded; the same at all nodes
 * @param k0 first half of the key, little-endian
 * @param k1 second half
 * @param firstStamp in mode {@link Mode#REPLAY} the stamp that this start of the node begins with:
 *     above all that it used before, as the wall clock in nanoseconds is
 */
public record FrameKey(Mode mode, long k0, long k1, long firstStamp) {
  /** What a node demands of each frame. */
  public enum Mode {
    /** Nothing: no frame carries a tag. */
    OFF,
    /** A right tag: frames of strangers are not read. */
    TAG,
    /** A right tag, once: recorded frames are not read again either. */
    REPLAY
  }

  /** No key. */
  public static final FrameKey NONE = new FrameKey(Mode.OFF, 0, 0, 0);

  /** Refuses a key that is none. */
  public FrameKey {
    if (mode != Mode.OFF && k0 == 0 && k1 == 0) {
      throw new IllegalArgumentException("a frame key of zeros is no secret");
    }
  }

  boolean isOn() {
    return mode != Mode.OFF;
  }

  /** Bytes that follow each payload. */
  public int trailerBytes() {
    return isOn() ? FrameTag.BYTES : 0;
  }

  /** Keeps the secret out of logs. */
  @Override
  public String toString() {
    return "FrameKey[" + mode + "]";
  }
}
