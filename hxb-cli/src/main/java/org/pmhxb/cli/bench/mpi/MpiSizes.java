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

  /** Arguments of the measuring program. */
  List<String> arguments(int links, LinkRate rate) {
    return arguments(links, rate, List.of());
  }

  /**
   * The same with one long message under way each way, not many. With more the stock device of MPJ
   * stands still: its threads that read wait for those that write, at both ends.
   */
  List<String> argumentsOneBothWays(int links, LinkRate rate) {
    return arguments(links, rate, List.of("window", "1"));
  }

  /**
   * Seconds that all of it takes at least over one link, which is what a program may use of many.
   */
  double secondsOverOneLink(int links, LinkRate rate) {
    List<String> arguments = arguments(links, rate);
    double bytes = 0;
    for (int at = 0; at < arguments.size(); ) {
      String kind = arguments.get(at);
      double size = Double.parseDouble(arguments.get(at + 1));
      double third = Double.parseDouble(arguments.get(at + 2));
      if (kind.equals("unexpected")) {
        at += 3;
      } else if (kind.equals("latency")) {
        bytes += size * 2 * (third + third / 2); // there and back, a half of them before
        at += 3;
      } else {
        bytes += size * (third + Double.parseDouble(arguments.get(at + 3)));
        at += 4;
      }
    }
    return bytes / rate.bytesPerSecond();
  }

  private List<String> arguments(int links, LinkRate rate, List<String> beforeBoth) {
    List<String> arguments = new ArrayList<>();
    for (int count : new int[] {FEW, MANY}) {
      arguments.addAll(List.of("unexpected", "" + count, "" + 20_000 / count));
    }
    double bytes = links * rate.bytesPerSecond() * seconds;
    for (int size : new int[] {8, eagerBytes, rendezvousBytes}) {
      // A round takes two transfers of the links' time at least.
      int most = (int) Math.min(rounds, bytes / 2 / size);
      arguments.addAll(List.of("latency", "" + size, "" + Math.max(10, most)));
    }
    stream(arguments, "oneway", eagerBytes, bytes);
    stream(arguments, "oneway", rendezvousBytes, bytes);
    arguments.addAll(beforeBoth);
    stream(arguments, "both", rendezvousBytes, bytes);
    return arguments;
  }

  private static void stream(List<String> arguments, String kind, int size, double bytes) {
    int count = (int) Math.max(40, bytes / size);
    arguments.addAll(List.of(kind, "" + size, "" + count / 2, "" + count));
  }
}
