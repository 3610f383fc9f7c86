package org.pmhxb.cli.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A part of a page that a command writes: what stands between {@code <!-- NAME -->} and {@code <!--
 * /NAME -->}, each on a line of its own.
 */
public final class MarkedSection {
  private MarkedSection() {}

  /**
   * Why no text can be put there; null: it can.
   *
   * @param page that can be written
   */
  public static String objection(Path page, String name) throws IOException {
    if (!Files.exists(page)) {
      return page + ": there is no such file";
    }
    try {
      replaced(page, Files.readString(page), name, "");
      return null;
    } catch (IllegalStateException e) {
      return e.getMessage();
    }
  }

  /**
   * Puts a text in the place of what stands there.
   *
   * @throws IllegalStateException the page lacks the markers
   */
  public static void replace(Path page, String name, String text) throws IOException {
    Files.writeString(page, replaced(page, Files.readString(page), name, text));
  }

  static String replaced(Path page, String whole, String name, String text) {
    String begin = "<!-- " + name + " -->\n";
    String end = "<!-- /" + name + " -->\n";
    int from = whole.indexOf(begin);
    int to = whole.indexOf(end, Math.max(from, 0));
    if (from < 0 || to < 0) {
      throw new IllegalStateException(
          page + " has no lines " + begin.strip() + " and " + end.strip() + ": add them");
    }
    return whole.substring(0, from + begin.length()) + text + whole.substring(to);
  }
}
