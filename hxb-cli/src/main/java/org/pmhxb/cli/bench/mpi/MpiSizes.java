package org.pmhxb.cli.bench.mpi;

import java.util.ArrayList;
import java.util.List;
import org.pmhxb.cli.veth.LinkRate;

/**
 * What is measured: messages that go at once and messages that wait for their receive.
 *
 * @param seconds of each stream, at the links' raw rate; a half of it before as warm-up
 * @param rounds of each round trip at most; fewer where they would take longer than a stream
 */
record MpiSizes(int eagerBytes, int rendezvousBytes, double seconds, int rounds) {
  /** Messages that wait unexpected. */
  static final int FEW = 100;

  static final int MANY = 10_000;

  /**
   * One thing that the measuring program does.
   *
   * @param words its arguments for it
   * @param bytes that one link carries for it, one way after the other
   */
  private record Part(List<String> words, double bytes) {}

  /** Arguments of the measuring program. */
  List<String> arguments(int links, LinkRate rate) {
    return words(parts(links, rate, List.of()));
  }

  /**
   * The same with one long message under way each way, not many. With more the stock device of MPJ
   * stands still: its threads that read wait for those that write, at both ends.
   */
  List<String> argumentsOneBothWays(int links, LinkRate rate) {
    return words(parts(links, rate, List.of("window", "1")));
  }

  /**
   * Seconds that all of it takes at least over one link, which is what a program may use of many.
   */
  double secondsOverOneLink(int links, LinkRate rate) {
    List<Part> parts = parts(links, rate, List.of());
    return parts.stream().mapToDouble(Part::bytes).sum() / rate.bytesPerSecond();
  }

  private static List<String> words(List<Part> parts) {
    return parts.stream().flatMap(part -> part.words().stream()).toList();
  }

  private List<Part> parts(int links, LinkRate rate, List<String> beforeBoth) {
    List<Part> parts = new ArrayList<>();
    for (int count : new int[] {FEW, MANY}) {
      parts.add(new Part(List.of("unexpected", "" + count, "" + 20_000 / count), 0));
    }
    double bytes = links * rate.bytesPerSecond() * seconds;
    for (int size : new int[] {8, eagerBytes, rendezvousBytes}) {
      // A round takes two transfers of the links' time at least.
      int trips = Math.max(10, (int) Math.min(rounds, bytes / 2 / size));
      double carried = 2.0 * size * (trips + trips / 2); // there and back, a half of them before
      parts.add(new Part(List.of("latency", "" + size, "" + trips), carried));
    }
    parts.add(stream("oneway", eagerBytes, bytes));
    parts.add(stream("oneway", rendezvousBytes, bytes));
    parts.add(new Part(beforeBoth, 0));
    parts.add(stream("both", rendezvousBytes, bytes));
    return parts;
  }

  private static Part stream(String kind, int size, double bytes) {
    int count = (int) Math.max(40, bytes / size);
    int before = count / 2;
    double carried = (double) size * (before + count);
    return new Part(List.of(kind, "" + size, "" + before, "" + count), carried);
  }
}
