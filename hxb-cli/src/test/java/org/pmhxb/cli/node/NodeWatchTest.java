package org.pmhxb.cli.node;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class NodeWatchTest {
  private static final long SECOND_NS = 1_000_000_000L;
  private static final long START_NS = Long.MAX_VALUE - 3 * SECOND_NS; // the clock may turn over
  private static final SortedMap<Integer, Integer> NONE = Collections.emptySortedMap();
  private static final FakeSigns WELL = new FakeSigns(List.of(), 0, 0, 0, NONE);

  private final ListAppender<ILoggingEvent> told = new ListAppender<>();
  private FakeSigns now = WELL;
  private NodeWatch watch;

  @BeforeEach
  void start() {
    Logger log = new LoggerContext().getLogger("test");
    log.addAppender(told);
    told.start();
    watch =
        new NodeWatch(
            2,
            new NodeWatch.Signs() {
              @Override
              public List<String> missing() {
                return now.missing();
              }

              @Override
              public long tagDrops() {
                return now.tagDrops();
              }

              @Override
              public long evicted() {
                return now.evicted();
              }

              @Override
              public long restored() {
                return now.restored();
              }

              @Override
              public SortedMap<Integer, Integer> outOfUse() {
                return now.outOfUse();
              }
            },
            log,
            START_NS);
  }

  /** As often as a node's control thread does. */
  private void lookFrom(int second, int toSecond) {
    for (long ms = 1_000L * second; ms < 1_000L * toSecond; ms += 50) {
      watch.look(START_NS + ms * 1_000_000);
    }
  }

  private List<String> lines() {
    List<String> lines = new ArrayList<>();
    told.list.forEach(e -> lines.add(e.getLevel() + " " + e.getFormattedMessage()));
    told.list.clear();
    return lines;
  }

  private static FakeSigns missing(int count, long tagDrops) {
    List<String> missing = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      missing.add("node " + i + " not heard on rail x0 (eth1)");
    }
    return new FakeSigns(missing, tagDrops, 0, 0, NONE);
  }

  private static FakeSigns evicted(long evicted, long restored, Map<Integer, Integer> outOfUse) {
    return new FakeSigns(List.of(), 0, evicted, restored, new TreeMap<>(outOfUse));
  }

  @Test
  void whoIsMissingIsNamedAfterFiveSecondsAndEachMinute() {
    now = missing(1, 0);
    lookFrom(0, 5);
    assertThat(lines()).isEmpty();
    lookFrom(5, 65);
    assertThat(lines())
        .containsExactly(
            "WARN node 2: still missing after 5 s: node 0 not heard on rail x0 (eth1)");
    lookFrom(65, 125);
    assertThat(lines())
        .containsExactly(
            "WARN node 2: still missing after 65 s: node 0 not heard on rail x0 (eth1)");
    now = WELL;
    lookFrom(125, 300);
    assertThat(lines()).containsExactly("INFO node 2: every neighbour is heard, after 125 s");
  }

  @Test
  void aClusterThatStartsInTimeSaysNothing() {
    now = missing(3, 7);
    lookFrom(0, 4);
    now = WELL;
    lookFrom(4, 100);
    assertThat(lines()).isEmpty();
  }

  @Test
  void whoGoesMissingLaterHasFiveSecondsToo() {
    lookFrom(0, 10);
    now = missing(1, 0);
    lookFrom(10, 15);
    assertThat(lines()).isEmpty();
    lookFrom(15, 17);
    assertThat(lines()).singleElement().asString().contains("still missing after 5 s");
  }

  @Test
  void manyAreCountedBehindTheFirst() {
    now = missing(11, 0);
    lookFrom(0, 6);
    assertThat(lines())
        .singleElement()
        .asString()
        .contains("node 7 not heard")
        .doesNotContain("node 8")
        .endsWith("; and 3 more");
  }

  @Test
  void framesWithAnotherTagAreNamedWhileSomebodyIsMissing() {
    now = missing(1, 1);
    lookFrom(0, 6);
    assertThat(lines())
        .singleElement()
        .asString()
        .endsWith(
            "; meanwhile dropped 1 frame for a tag that is wrong, missing or not expected: is"
                + " key-file the same at all nodes?");
    lookFrom(6, 66);
    assertThat(lines()).singleElement().asString().doesNotContain("key-file");
    now = missing(1, 40);
    lookFrom(66, 126);
    assertThat(lines()).singleElement().asString().contains("meanwhile dropped 39 frames for");
  }

  @Test
  void pathsThatGoAndComeAreToldOnceASecondByPeer() {
    lookFrom(0, 10);
    now = evicted(2, 0, Map.of(4, 1, 1, 1));
    lookFrom(10, 20);
    assertThat(lines())
        .containsExactly(
            "WARN node 2: 2 paths evicted, 0 restored; out of use now: 1 to node 1 (was 0); 1 to"
                + " node 4 (was 0)");
    now = evicted(2, 1, Map.of(1, 1));
    lookFrom(20, 30);
    assertThat(lines())
        .containsExactly(
            "INFO node 2: 0 paths evicted, 1 restored; out of use now: 1 to node 1; 0 to node 4"
                + " (was 1)");
    for (int flap = 0; flap < 20; flap++) {
      now = evicted(3 + flap, 2 + flap, Map.of(1, 1));
      watch.look(START_NS + (30_000L + 50 * flap) * 1_000_000);
    }
    assertThat(lines()).hasSize(1);
  }
}
