package org.pmhxb.cli.fuzz;

import java.util.ArrayList;
import java.util.List;

/** The latest genuine frames, some of each kind, so that rare kinds are not crowded out. */
final class Captures {
  private static final int KINDS = 16;
  private static final int OF_EACH = 48;

  private final List<List<byte[]>> byKind = new ArrayList<>();
  private final int[] next = new int[KINDS];

  Captures() {
    for (int i = 0; i < KINDS; i++) {
      byKind.add(new ArrayList<>());
    }
  }

  void add(byte[] frame) {
    int kind = frame[28] & KINDS - 1;
    List<byte[]> list = byKind.get(kind);
    if (list.size() < OF_EACH) {
      list.add(frame);
    } else {
      list.set(next[kind]++ % OF_EACH, frame);
    }
  }

  /** The kinds in turn: each is as likely as the others that were seen. */
  List<byte[]> some(int choice) {
    for (int i = 0; i < KINDS; i++) {
      List<byte[]> list = byKind.get(choice + i & KINDS - 1);
      if (!list.isEmpty()) {
        return list;
      }
    }
    return List.of();
  }

  boolean isEmpty() {
    return byKind.stream().allMatch(List::isEmpty);
  }
}
