package org.pmhxb.cli.veth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class LinkQueueTest {
  @Test
  void readsWhatTcPrints() {
    String json =
        """
        [{"kind":"noqueue","handle":"0:","dev":"lo","root":true,"options":{},"bytes":5},
         {"kind":"tbf","handle":"802f:","dev":"x0","root":true,"refcnt":3,
          "options":{"rate":25000000,"burst":65525,"lat":18350},
          "bytes":8270,"packets":1,"drops":2,"overlimits":3,"requeues":0,"backlog":0,"qlen":0}]
        """;

    assertThat(LinkQueue.parse(json))
        .containsExactly(new LinkQueue("x0", "tbf", 200_000_000, 8_270, 2, 3));
  }

  @Test
  void otherTextIsNamed() {
    assertThatThrownBy(() -> LinkQueue.parse("qdisc tbf")).hasMessageContaining("tc printed no");
  }
}
