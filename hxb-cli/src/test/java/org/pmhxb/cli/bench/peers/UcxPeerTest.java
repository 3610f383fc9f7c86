package org.pmhxb.cli.bench.peers;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.pmhxb.cli.bench.peers.PeerCase.Medium;
import org.pmhxb.cli.veth.LinkRate;

class UcxPeerTest {
  /** The 100 MB that it sends at least, and a tenth before them, go over one link of all. */
  @ParameterizedTest
  @CsvSource({"200mbit, 2", "20mbit, 1", "20mbit, 2", "1mbit, 9"})
  void itHasTheTimeThatItsMessagesTake(String rate, int links) {
    LinkRate each = LinkRate.parse(rate);
    PeerCase what = new PeerCase(Medium.SHAPED, false, links, 8_192, true);
    assertThat(new UcxPeer(each).limitSeconds(what, new Peer.Times(0.3, 1)))
        .isGreaterThan(Math.round(110e6 / each.bytesPerSecond()));
  }
}
