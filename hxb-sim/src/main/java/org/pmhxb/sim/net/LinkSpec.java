package org.pmhxb.sim.net;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a rail's cable and its switch can do when nothing is wrong.
 *
 * @param bitsPerSecond of each direction
 * @param latencyNs from one node's port to another's, without the time to send
 * @param queueBytes that a switch keeps towards one rail; what comes beyond is dropped at the tail
 * @param ringFrames of a port, each direction
 */
public record LinkSpec(long bitsPerSecond, long latencyNs, int queueBytes, int ringFrames) {
  private static final Pattern FORM =
      Pattern.compile("(\\d{1,15})bps/(\\d{1,15})ns/(\\d{1,9})B/(\\d{1,6})");

  /** Preamble, start delimiter, frame check sequence and gap between frames. */
  private static final int OVERHEAD_BYTES = 24;

  private static final int LEAST_FRAME_BYTES = 60;

  public LinkSpec {
    if (bitsPerSecond < 1_000 || latencyNs < 0 || queueBytes < 2_000 || ringFrames < 8) {
      throw new IllegalArgumentException(
          "link of %d bit/s, %d ns, %d queue bytes, %d ring frames: at least 1000, 0, 2000 and 8"
              .formatted(bitsPerSecond, latencyNs, queueBytes, ringFrames));
    }
  }

  /** Gigabit Ethernet as in the paper: 10 us across the switch, 256 KB of queue. */
  public static LinkSpec gigabit() {
    return new LinkSpec(1_000_000_000L, 10_000, 256 * 1024, 128);
  }

  /**
   * Reads what {@link #toString} writes.
   *
   * @throws IllegalArgumentException naming the text and the form
   */
  public static LinkSpec parse(String text) {
    Matcher m = FORM.matcher(text.strip());
    if (!m.matches()) {
      throw new IllegalArgumentException(
          "link \"" + text + "\" is not of the form 100000000bps/5000000ns/262144B/128");
    }
    return new LinkSpec(
        Long.parseLong(m.group(1)),
        Long.parseLong(m.group(2)),
        Integer.parseInt(m.group(3)),
        Integer.parseInt(m.group(4)));
  }

  @Override
  public String toString() {
    return bitsPerSecond + "bps/" + latencyNs + "ns/" + queueBytes + "B/" + ringFrames;
  }

  /** Time that a frame occupies the wire. */
  public long sendNs(int frameBytes) {
    long wireBytes = Math.max(frameBytes, LEAST_FRAME_BYTES) + OVERHEAD_BYTES;
    return wireBytes * 8_000_000_000L / bitsPerSecond;
  }
}
