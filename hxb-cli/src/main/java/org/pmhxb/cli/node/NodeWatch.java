package org.pmhxb.cli.node;

import static java.util.stream.Collectors.joining;

import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.pmhxb.cli.Words;
import org.slf4j.Logger;
import org.slf4j.event.Level;

/**
 * Says in the log what a node waits for and which paths it loses: looks at what the node counts,
 * once a second at most, so that nothing is logged by the poll thread and nothing more often.
 * Owner: the control thread.
 */
final class NodeWatch {
  /** Between two looks. */
  static final long LOOK_NS = 1_000_000_000L;

  /** A cluster that is started by hand takes a while: so long nobody is said to be missing. */
  static final long PATIENCE_NS = 5_000_000_000L;

  /** From one word about who is missing to the next. */
  static final long REPEAT_NS = 60_000_000_000L;

  /** Neighbours that one line names. */
  private static final int NAMED_MAX = 8;

  /** What is looked at. Any thread; disturbs no poll thread. */
  interface Signs {
    /** Neighbours that are not heard. */
    List<String> missing();

    /** Frames dropped because their tag was wrong, missing or unwanted; cumulative. */
    long tagDrops();

    /** Paths taken out of use; cumulative. */
    long evicted();

    /** Paths taken back into use; cumulative. */
    long restored();

    /** By peer, how many paths to it are out of use now; peers without are left out. */
    SortedMap<Integer, Integer> outOfUse();
  }

  private final int self;
  private final Signs signs;
  private final Logger log;
  private long lookDueNs;

  private boolean waiting;
  private long waitingSinceNs;
  private long warnDueNs;
  private boolean warned;

  /** {@link Signs#tagDrops} at the last word about who is missing. */
  private long tagDropsTold;

  private long evictedTold;
  private long restoredTold;
  private SortedMap<Integer, Integer> outOfUseTold = new TreeMap<>();

  /**
   * @param self own node number
   * @param nowNs from now on it waits for who is missing
   */
  NodeWatch(int self, Signs signs, Logger log, long nowNs) {
    this.self = self;
    this.signs = signs;
    this.log = log;
    this.lookDueNs = nowNs + LOOK_NS;
    waitFrom(nowNs);
  }

  private void waitFrom(long nowNs) {
    waiting = true;
    warned = false;
    waitingSinceNs = nowNs;
    warnDueNs = nowNs + PATIENCE_NS;
  }

  /** To be called often; looks when it is time to. */
  void look(long nowNs) {
    if (nowNs - lookDueNs < 0) {
      return;
    }
    lookDueNs = nowNs + LOOK_NS;
    neighbours(nowNs);
    paths();
  }

  private void neighbours(long nowNs) {
    List<String> missing = signs.missing();
    if (missing.isEmpty()) {
      if (warned) {
        log.info(
            "node {}: every neighbour is heard, after {} s",
            self,
            (nowNs - waitingSinceNs) / 1_000_000_000L);
      }
      waiting = false;
      warned = false;
      return;
    }
    if (!waiting) {
      waitFrom(nowNs);
    }
    if (nowNs - warnDueNs >= 0) {
      warnDueNs = nowNs + REPEAT_NS;
      warned = true;
      log.warn(
          "node {}: still missing after {} s: {}{}",
          self,
          (nowNs - waitingSinceNs) / 1_000_000_000L,
          named(missing),
          ofTags());
    }
  }

  private static String named(List<String> all) {
    int more = all.size() - NAMED_MAX;
    return all.stream().limit(NAMED_MAX).collect(joining("; "))
        + (more > 0 ? "; and " + more + " more" : "");
  }

  private String ofTags() {
    long dropped = signs.tagDrops();
    long fresh = dropped - tagDropsTold;
    tagDropsTold = dropped;
    return fresh == 0
        ? ""
        : "; meanwhile dropped "
            + Words.count(fresh, "frame")
            + " for a tag that is wrong, missing or not expected: is key-file the same at all"
            + " nodes?";
  }

  private void paths() {
    long evictedNow = signs.evicted();
    long restoredNow = signs.restored();
    long evicted = evictedNow - evictedTold;
    long restored = restoredNow - restoredTold;
    if (evicted + restored == 0) {
      return;
    }
    evictedTold = evictedNow;
    restoredTold = restoredNow;
    SortedMap<Integer, Integer> now = signs.outOfUse();
    SortedMap<Integer, Integer> peers = new TreeMap<>(outOfUseTold);
    peers.putAll(now);
    log.atLevel(evicted > 0 ? Level.WARN : Level.INFO)
        .log(
            "node {}: {} evicted, {} restored; out of use now: {}",
            self,
            Words.count(evicted, "path"),
            restored,
            named(peers.keySet().stream().map(peer -> change(peer, now)).toList()));
    outOfUseTold = now;
  }

  private String change(int peer, SortedMap<Integer, Integer> now) {
    int is = now.getOrDefault(peer, 0);
    int was = outOfUseTold.getOrDefault(peer, 0);
    return is + " to node " + peer + (is == was ? "" : " (was " + was + ")");
  }
}
