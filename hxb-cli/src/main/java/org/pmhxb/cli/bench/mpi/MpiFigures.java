package org.pmhxb.cli.bench.mpi;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What a measuring program printed: lines "RESULT kind size value busy".
 *
 * @param busy share of the machine's processor time that was not idle
 */
public record MpiFigures(List<Figure> figures) {
  /** One line. */
  public record Figure(String kind, String size, double value, double busy) {}

  /**
   * @throws IllegalArgumentException a line that begins so does not go on so
   */
  public static MpiFigures parse(List<String> lines) {
    List<Figure> figures = new ArrayList<>();
    for (String line : lines) {
      String[] words = line.strip().split(" +");
      if (words[0].equals("RESULT")) {
        if (words.length != 5) {
          throw new IllegalArgumentException("not a result: " + line);
        }
        figures.add(
            new Figure(
                words[1], words[2], Double.parseDouble(words[3]), Double.parseDouble(words[4])));
      }
    }
    return new MpiFigures(figures);
  }

  /** In the order in which they were printed. */
  public List<Figure> all(String kind, String size) {
    return figures.stream().filter(f -> f.kind().equals(kind) && f.size().equals(size)).toList();
  }

  /** The first. */
  public Optional<Figure> of(String kind, String size) {
    return all(kind, size).stream().findFirst();
  }
}
