package org.pmhxb.cli.bench.peers;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.pmhxb.cli.veth.LinkRate;

class PeersAimsTest {
  private static final LinkRate RATE = LinkRate.parse("200mbit");

  private static PeerCase oneWay(int links) {
    return new PeerCase(PeerCase.Medium.SHAPED, false, links, PeersPlan.MEDIUM_BYTES, false);
  }

  private static PeerFound found(String peer, int links, double share) {
    double messages = share * links * RATE.bytesPerSecond() / PeersPlan.MEDIUM_BYTES;
    return PeerFound.of(
        peer, oneWay(links), RATE, List.of(PeerFigures.stream(messages)), List.of(), false);
  }

  @Test
  void ofSeveralLinkCountsTheWorstCounts() {
    PeersAims.Aim aim =
        PeersAims.of(
                List.of(
                    found(PeersSuite.HXB, 1, 0.992),
                    found(PeersSuite.HXB, 9, 0.985),
                    found("other", 9, 0.5),
                    found("other", 1, 0.9)))
            .getFirst();

    assertThat(aim.links()).isEqualTo(9);
    assertThat(aim.met()).isEqualTo("must");
    assertThat(aim.missed()).isEmpty();
    assertThat(aim.peerMeasured()).isBetween(0.499, 0.501);
  }

  @Test
  void aCaseInWhichOursFailedMeetsNothing() {
    PeersAims.Aim aim =
        PeersAims.of(
                List.of(
                    found(PeersSuite.HXB, 1, 0.992),
                    PeerFound.failed(PeersSuite.HXB, oneWay(9), List.of(), "it fell over")))
            .getFirst();

    assertThat(aim.links()).isEqualTo(9);
    assertThat(aim.measured()).isNull();
    assertThat(aim.met()).isEqualTo("missed");
    assertThat(aim.missed()).hasValue("8 KB messages one way, 9 links: not measured");
  }

  @Test
  void aMissedMustIsSaid() {
    PeersAims.Aim aim = PeersAims.of(List.of(found(PeersSuite.HXB, 4, 0.9793))).getFirst();

    assertThat(aim.missed())
        .hasValue("8 KB messages one way, 4 links: 0.9793 of the links; must be 0.98 at least");
  }
}
