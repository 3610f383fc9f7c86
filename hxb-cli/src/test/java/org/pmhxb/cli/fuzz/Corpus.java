package org.pmhxb.cli.fuzz;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/**
 * The committed frames: one of each fate, reason and kind, made by {@code hxb fuzz --frames 1m
 * --seed 1 --examples hxb-cli/src/test/resources/fuzz/corpus.txt}.
 */
final class Corpus {
  record Entry(String label, int rail, byte[] frame) {}

  private Corpus() {}

  static List<Entry> read() throws IOException {
    List<Entry> entries = new ArrayList<>();
    try (InputStream in = Corpus.class.getResourceAsStream("/fuzz/corpus.txt")) {
      for (String line : new String(in.readAllBytes(), StandardCharsets.US_ASCII).split("\n")) {
        String[] words = line.split(" ");
        byte[] frame = HexFormat.of().parseHex(words.length > 2 ? words[2] : "");
        entries.add(new Entry(words[0], Integer.parseInt(words[1]), frame));
      }
    }
    return entries;
  }
}
