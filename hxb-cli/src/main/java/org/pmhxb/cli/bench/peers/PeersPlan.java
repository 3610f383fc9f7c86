package org.pmhxb.cli.bench.peers;

import java.util.ArrayList;
import java.util.List;
import org.pmhxb.cli.bench.peers.PeerCase.Medium;

/**
 * What is measured of every peer. Pure.
 *
 * @param links over which shaped streams go, ascending
 * @param sizes of their messages, bytes; those of {@link #MEDIUM_BYTES} also go both ways at once
 * @param frames whether full frames are sent over links that are not shaped, too
 */
record PeersPlan(List<Integer> links, List<Integer> sizes, boolean frames) {
  static final int SMALL_BYTES = 64;
  static final int MEDIUM_BYTES = 8_192;
  static final int LARGE_BYTES = 1 << 20;
  static final int FRAME_BYTES = 8_900;

  static final PeersPlan FULL =
      new PeersPlan(List.of(1, 2, 4, 6, 9), List.of(MEDIUM_BYTES, LARGE_BYTES), true);
  static final PeersPlan QUICK =
      new PeersPlan(List.of(2, 9), List.of(MEDIUM_BYTES, LARGE_BYTES), false);

  /** Streams over so many shaped links. */
  List<PeerCase> shaped(int count) {
    List<PeerCase> cases = new ArrayList<>();
    for (int size : sizes) {
      cases.add(new PeerCase(Medium.SHAPED, false, count, size, false));
      if (size == MEDIUM_BYTES) {
        cases.add(new PeerCase(Medium.SHAPED, false, count, size, true));
      }
    }
    return cases;
  }

  /** What this plan has of {@link #unshaped}. */
  List<PeerCase> small(Medium medium) {
    return unshaped(medium).subList(0, frames ? 3 : 2);
  }

  /** Half round trip and rate of small messages, and how much goes at all. */
  static List<PeerCase> unshaped(Medium medium) {
    return List.of(
        new PeerCase(medium, true, 1, SMALL_BYTES, false),
        new PeerCase(medium, false, 1, SMALL_BYTES, false),
        new PeerCase(medium, false, 1, FRAME_BYTES, false));
  }
}
