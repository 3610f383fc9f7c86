package org.pmhxb.mpi.engine;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Messages that no receive has asked for yet, in order of arrival. Each lies in four lists: by
 * source and tag, by source, by tag, and in that of its context alone; so whatever wildcards a
 * receive has, its message is the head of one list. Nothing is searched. Owner: the poll thread.
 */
final class UnexpectedMessages {
  static final int LISTS = 4;
  private static final int SPARE_LISTS = 64;

  /** Heads and tails; the links are in the messages. */
  private static final class Chain {
    Incoming first;
    Incoming last;
  }

  private final Map<MatchKey, Chain> chains = new HashMap<>();
  private final ArrayDeque<Chain> spare = new ArrayDeque<>();
  private final MatchKey probe = new MatchKey();
  private int size;

  void add(Incoming m) {
    for (int list = 0; list < LISTS; list++) {
      key(list, m.epoch, m.context, m.arrival.source(), m.arrival.tag());
      Chain chain = chains.get(probe);
      if (chain == null) {
        chain = spare.isEmpty() ? new Chain() : spare.pop();
        chains.put(probe.copy(), chain);
      }
      m.previous[list] = chain.last;
      if (chain.last == null) {
        chain.first = m;
      } else {
        chain.last.next[list] = m;
      }
      chain.last = m;
    }
    m.waiting = true;
    size++;
  }

  private void key(int list, int epoch, int context, int source, int tag) {
    probe.set(
        epoch,
        context,
        (list & 1) != 0 ? Engine.ANY_SOURCE : source,
        (list & 2) != 0 ? Engine.ANY_TAG : tag);
  }

  /** The oldest message that a receive accepts; it stays. Null for none. */
  Incoming find(int epoch, int context, int source, int tag) {
    if (size == 0) {
      return null;
    }
    Chain chain = chains.get(probe.set(epoch, context, source, tag));
    return chain == null ? null : chain.first;
  }

  void remove(Incoming m) {
    for (int list = 0; list < LISTS; list++) {
      Incoming before = m.previous[list];
      Incoming after = m.next[list];
      m.previous[list] = null;
      m.next[list] = null;
      if (before != null && after != null) {
        before.next[list] = after;
        after.previous[list] = before;
        continue;
      }
      key(list, m.epoch, m.context, m.arrival.source(), m.arrival.tag());
      Chain chain = chains.get(probe);
      if (before != null) {
        before.next[list] = null;
        chain.last = before;
      } else if (after != null) {
        after.previous[list] = null;
        chain.first = after;
      } else {
        chains.remove(probe);
        chain.first = null;
        chain.last = null;
        if (spare.size() < SPARE_LISTS) {
          spare.push(chain);
        }
      }
    }
    m.waiting = false;
    size--;
  }

  int size() {
    return size;
  }

  /** All of them. Looks at every list: for rare events. */
  List<Incoming> all() {
    List<Incoming> all = new ArrayList<>(size);
    for (Chain chain : chains.values()) {
      for (Incoming m = chain.first; m != null && isIn(0, m, chain); m = m.next[0]) {
        all.add(m);
      }
    }
    return all;
  }

  /** Whether a chain is one of list 0, where every message is in exactly one. */
  private boolean isIn(int list, Incoming m, Chain chain) {
    key(list, m.epoch, m.context, m.arrival.source(), m.arrival.tag());
    return chains.get(probe) == chain;
  }

  /** Lists in use: for tests of what is left behind. */
  int lists() {
    return chains.size();
  }
}
