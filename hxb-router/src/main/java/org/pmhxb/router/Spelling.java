package org.pmhxb.router;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;

/**
 * Which known word was probably meant by one that is not known, for messages. Picocli's own
 * suggestions do not do: they rest on pairs of neighbouring letters, so that they find nothing for
 * {@code tset} and {@code dwon}, and something for every word that shares one pair.
 */
public final class Spelling {
  /** Letters that a word's beginning needs to be taken for the whole. */
  private static final int BEGINNING = 3;

  private Spelling() {}

  /**
   * The nearest one, if any is like the word: a third of its letters may differ, of two or more one
   * at least.
   */
  public static Optional<String> nearest(String word, Collection<String> known) {
    String bare = bare(word);
    return known.stream()
        .filter(one -> distance(bare, bare(one)) <= most(bare))
        .min(
            Comparator.comparingInt((String one) -> distance(bare, bare(one)))
                .thenComparing(Comparator.naturalOrder()));
  }

  /** Of a single letter each other one would differ by no more than one. */
  private static int most(String bare) {
    return bare.length() < 2 ? 0 : Math.max(1, (bare.length() + 1) / 3);
  }

  /** Without an option's dashes and value. */
  private static String bare(String word) {
    return word.replaceFirst("^-+", "").replaceFirst("=.*$", "").toLowerCase(Locale.ROOT);
  }

  /**
   * Letters to change, add, leave out or swap with the next; 1 for the beginning of the other word.
   */
  private static int distance(String a, String b) {
    if (a.length() >= BEGINNING && !a.equals(b) && b.startsWith(a)) {
      return 1;
    }
    int[][] d = new int[a.length() + 1][b.length() + 1];
    for (int i = 0; i <= a.length(); i++) {
      for (int j = 0; j <= b.length(); j++) {
        if (i == 0 || j == 0) {
          d[i][j] = i + j;
          continue;
        }
        int changed = a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1;
        d[i][j] = Math.min(d[i - 1][j - 1] + changed, 1 + Math.min(d[i - 1][j], d[i][j - 1]));
        boolean swapped =
            i > 1
                && j > 1
                && a.charAt(i - 1) == b.charAt(j - 2)
                && a.charAt(i - 2) == b.charAt(j - 1);
        if (swapped) {
          d[i][j] = Math.min(d[i][j], d[i - 2][j - 2] + 1);
        }
      }
    }
    return d[a.length()][b.length()];
  }
}
