package org.pmhxb.collectives.algorithm;

import org.pmhxb.collectives.Accumulator;
import org.pmhxb.collectives.PlanBuilder;
import org.pmhxb.collectives.Span;

/**
 * Patterns in which everybody sends and receives: rings, recursive doubling and halving. Blocks are
 * those of {@link Cuts}.
 */
final class Exchanges {
  /** Where the blocks of a vector begin: block i lies between i and i + 1. */
  interface Cuts {
    long at(int i);

    /** A range of the plan's vector in so many equal blocks of whole elements. */
    static Cuts even(PlanBuilder plan, long offset, long bytes, int n) {
      return i -> offset + plan.cut(bytes, i, n);
    }
  }

  private Exchanges() {}

  /**
   * Recursive doubling (any number: the first ones beyond a power of two stand aside in pairs):
   * {@code log2 n} rounds with the whole vector. All get the same bits.
   */
  static void doubling(Members m, Accumulator vector, long offset, long bytes) {
    int p = m.place();
    int n = m.size();
    if (p < 0 || n == 1) {
      return;
    }
    int power = Integer.highestOneBit(n);
    int extra = n - power;
    if (p < 2 * extra && (p & 1) == 0) {
      vector.send(m.rank(p + 1), offset, bytes);
      vector.receive(m.rank(p + 1), offset, bytes);
      return;
    }
    if (p < 2 * extra) {
      vector.combine(m.rank(p - 1), offset, bytes);
    }
    int q = p < 2 * extra ? p / 2 : p - extra;
    for (int step = 1; step < power; step <<= 1) {
      int other = q ^ step;
      int rank = m.rank(other < extra ? other * 2 + 1 : other + extra);
      vector.send(rank, offset, bytes);
      vector.combine(rank, offset, bytes);
    }
    if (p < 2 * extra) {
      vector.send(m.rank(p - 1), offset, bytes);
    }
  }

  /** Every member ends with the combination of one block: place p with block p. */
  static void ringReduceScatter(Members m, Accumulator vector, Cuts cuts) {
    int p = m.place();
    int n = m.size();
    for (int round = 1; p >= 0 && round < n; round++) {
      int out = Math.floorMod(p - round, n);
      int in = Math.floorMod(p - round - 1, n);
      vector.send(m.circular(p + 1), cuts.at(out), cuts.at(out + 1) - cuts.at(out));
      vector.combine(m.circular(p - 1), cuts.at(in), cuts.at(in + 1) - cuts.at(in));
    }
  }

  /** Place p has block p at first; all have all at last. */
  static void ringAllgather(Members m, Span span, Cuts cuts) {
    int p = m.place();
    int n = m.size();
    for (int round = 0; p >= 0 && round < n - 1; round++) {
      int out = Math.floorMod(p - round, n);
      int in = Math.floorMod(p - round - 1, n);
      span.send(m.circular(p + 1), cuts.at(out), cuts.at(out + 1) - cuts.at(out));
      span.receive(m.circular(p - 1), cuts.at(in), cuts.at(in + 1) - cuts.at(in));
    }
  }

  /**
   * Rabenseifner: recursive halving, so that everybody combines a part of the vector, then
   * recursive doubling of those parts. {@code 2 log2 n} rounds, each byte twice.
   */
  static void halvingDoubling(PlanBuilder plan, Members m, Accumulator vector) {
    long bytes = plan.problem().blockBytes();
    int p = m.place();
    int n = m.size();
    int power = Integer.highestOneBit(n);
    int extra = n - power;
    if (p < 0 || n == 1) {
      return;
    }
    if (p < 2 * extra && (p & 1) == 0) {
      vector.send(m.rank(p + 1), 0, bytes);
      vector.receive(m.rank(p + 1), 0, bytes);
      return;
    }
    if (p < 2 * extra) {
      vector.combine(m.rank(p - 1), 0, bytes);
    }
    int q = p < 2 * extra ? p / 2 : p - extra;
    Cuts cuts = Cuts.even(plan, 0, bytes, power);
    for (int step = power >> 1; step > 0; step >>= 1) {
      int rank = unfolded(m, q ^ step, extra);
      int mine = q & -step;
      int theirs = (q ^ step) & -step;
      vector.send(rank, cuts.at(theirs), cuts.at(theirs + step) - cuts.at(theirs));
      vector.combine(rank, cuts.at(mine), cuts.at(mine + step) - cuts.at(mine));
    }
    for (int step = 1; step < power; step <<= 1) {
      int rank = unfolded(m, q ^ step, extra);
      int mine = q & -step;
      int theirs = (q ^ step) & -step;
      vector.send(rank, cuts.at(mine), cuts.at(mine + step) - cuts.at(mine));
      vector.receive(rank, cuts.at(theirs), cuts.at(theirs + step) - cuts.at(theirs));
    }
    if (p < 2 * extra) {
      vector.send(m.rank(p - 1), 0, bytes);
    }
  }

  /** The rank of a place among those that do not stand aside. */
  private static int unfolded(Members m, int place, int extra) {
    return m.rank(place < extra ? place * 2 + 1 : place + extra);
  }
}
