package org.pmhxb.router;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Tells on which line of a TOML text each key stands.
 *
 * <p>Jackson's TOML parser reads a whole text into a tree first and its tokens have no location
 * (2.22: {@code currentTokenLocation()} is unknown for every token); so the text is scanned a
 * second time, for keys only. The scanner expects what Jackson has accepted; anything else ends it
 * early, and keys it did not reach have the line of their table.
 *
 * <p>Keys are written with their tables, as in {@code rail[1].device}.
 */
final class TomlLines {
  /** Far deeper than any configuration; a text of brackets alone must not exhaust the stack. */
  private static final int MAX_DEPTH = 64;

  /** Characters of a key with its tables; beyond any that a configuration has. */
  static final int MAX_KEY = 256;

  /** With as many keys a text takes some 40 MB; others have the line of their table. */
  private static final int MAX_LINES = 100_000;

  private final String text;

  /** Sorted, so that what lies within a table is found without looking at all else. */
  private final TreeMap<String, Integer> lines = new TreeMap<>();

  private final Map<String, Integer> arraySizes = new HashMap<>();
  private final Set<String> headers = new HashSet<>();
  private int at;
  private int line = 1;
  private int depth;
  private String duplicate = "";
  private String tooLong = "";
  private int tooLongLine;

  private TomlLines(String text) {
    this.text = text;
  }

  static TomlLines of(String text) {
    TomlLines scanner = new TomlLines(text);
    scanner.document();
    return scanner;
  }

  /** The line of a key, or else that of the nearest table around it, or else 0. */
  int line(String key) {
    String path = key;
    while (!path.isEmpty()) {
      Integer found = lines.get(path);
      if (found != null) {
        return found;
      }
      int within = firstWithin(path);
      if (within > 0) {
        return within;
      }
      path = path.substring(0, Math.max(0, Math.max(path.lastIndexOf('.'), path.lastIndexOf('['))));
    }
    return 0;
  }

  /** A list of tables, and a table that only others' heads name, have no line of their own. */
  private int firstWithin(String path) {
    return Stream.of('.', '[')
        .flatMap(c -> lines.subMap(path + c, path + (char) (c + 1)).values().stream())
        .mapToInt(Integer::intValue)
        .min()
        .orElse(0);
  }

  /** The first key or table that stands twice, or an empty string. */
  String duplicate() {
    return duplicate;
  }

  /** The line on which {@link #duplicate} stands for the second time. */
  int duplicateLine() {
    return lines.getOrDefault("\0", 1);
  }

  /**
   * How the first key begins that has more than {@link #MAX_KEY} characters, or an empty string.
   */
  String tooLong() {
    return tooLong;
  }

  /** The line of {@link #tooLong}; nothing behind it has been read. */
  int tooLongLine() {
    return tooLongLine;
  }

  /** Ends the scan if the key is too long: a text could have a million of its tables' length. */
  private boolean isTooLong(String key, int where) {
    if (key.length() <= MAX_KEY) {
      return false;
    }
    tooLong = key.substring(0, 32) + "...";
    tooLongLine = where;
    at = text.length();
    return true;
  }

  /** Whether the key had no line before. */
  private boolean note(String key, int where) {
    return lines.size() >= MAX_LINES || lines.putIfAbsent(key, where) == null;
  }

  private void document() {
    String table = "";
    skipBlank(true);
    while (at < text.length()) {
      int start = at;
      if (peek() == '[') {
        table = header();
      } else {
        keyValue(table);
      }
      skipToNextStatement();
      if (at == start) {
        return; // not TOML
      }
    }
  }

  private String header() {
    at++;
    boolean array = peek() == '[';
    at += array ? 1 : 0;
    int headerLine = line;
    String path = keyPath();
    if (isTooLong(path, headerLine)) {
      return "";
    }
    path = resolved(path);
    if (array) {
      int index = arraySizes.merge(path, 1, Integer::sum) - 1;
      path = path + "[" + index + "]";
    } else if (!headers.add(path)) {
      markDuplicate(path, headerLine);
    }
    note(path, headerLine);
    while (at < text.length() && peek() == ']') {
      at++;
    }
    return path;
  }

  /** A path through an array of tables means that array's last table. */
  private String resolved(String path) {
    StringBuilder result = new StringBuilder();
    String[] names = path.split("\\.", -1);
    for (int i = 0; i < names.length; i++) {
      result.append(i == 0 ? "" : ".").append(names[i]);
      Integer size = arraySizes.get(result.toString());
      if (size != null && i < names.length - 1) {
        result.append('[').append(size - 1).append(']');
      }
    }
    return result.toString();
  }

  private void keyValue(String table) {
    int keyLine = line;
    String path = keyPath();
    String full = table.isEmpty() ? path : table + "." + path;
    if (isTooLong(full, keyLine)) {
      return;
    }
    if (!note(full, keyLine)) {
      markDuplicate(full, keyLine);
    }
    skipBlank(false);
    if (at < text.length() && peek() == '=') {
      at++;
      skipBlank(false);
      value(full);
    }
  }

  private void markDuplicate(String path, int where) {
    if (duplicate.isEmpty()) {
      duplicate = path;
      lines.put("\0", where);
    }
  }

  /** Reads {@code a.b."c"}. */
  private String keyPath() {
    StringBuilder path = new StringBuilder();
    while (at < text.length()) {
      skipBlank(false);
      if (at >= text.length()) {
        break;
      }
      if (peek() == '"' || peek() == '\'') {
        int from = at + 1;
        string();
        path.append(text, from, Math.max(from, at - 1));
      } else {
        int from = at;
        while (at < text.length() && isBare(peek())) {
          at++;
        }
        path.append(text, from, at);
      }
      skipBlank(false);
      if (at >= text.length() || peek() != '.') {
        break;
      }
      path.append('.');
      at++;
    }
    return path.toString();
  }

  private void value(String path) {
    if (at >= text.length() || depth == MAX_DEPTH) {
      return; // the callers' loops end where nothing was read
    }
    depth++;
    valueOfDepth(path);
    depth--;
  }

  private void valueOfDepth(String path) {
    switch (peek()) {
      case '"', '\'' -> string();
      case '[' -> array(path);
      case '{' -> inlineTable(path);
      default -> {
        while (at < text.length() && ",]}#\n".indexOf(peek()) < 0) {
          at++;
        }
      }
    }
  }

  private void array(String path) {
    at++;
    for (int index = 0; at < text.length(); index++) {
      skipBlank(true);
      if (at >= text.length() || peek() == ']') {
        break;
      }
      String element = path + "[" + index + "]";
      note(element, line);
      int start = at;
      value(element);
      skipBlank(true);
      if (at < text.length() && peek() == ',') {
        at++;
      }
      if (at == start) {
        return; // not TOML
      }
    }
    at++;
  }

  private void inlineTable(String path) {
    at++;
    while (at < text.length()) {
      skipBlank(true);
      if (at >= text.length() || peek() == '}') {
        break;
      }
      int start = at;
      keyValue(path);
      skipBlank(true);
      if (at < text.length() && peek() == ',') {
        at++;
      }
      if (at == start) {
        return; // not TOML
      }
    }
    at++;
  }

  /** Skips a string of any of the four kinds. */
  private void string() {
    char quote = peek();
    String triple = String.valueOf(quote).repeat(3);
    boolean multiline = text.startsWith(triple, at);
    at += multiline ? 3 : 1;
    while (at < text.length()) {
      char c = peek();
      if (c == '\\' && quote == '"' && at + 1 < text.length()) {
        at++;
        line += peek() == '\n' ? 1 : 0;
      } else if (multiline && text.startsWith(triple, at)) {
        at += 3;
        // Up to two quotes may stand before the closing three.
        while (at < text.length() && peek() == quote) {
          at++;
        }
        return;
      } else if (!multiline && c == quote) {
        at++;
        return;
      } else if (c == '\n') {
        line++;
      }
      at++;
    }
  }

  private void skipToNextStatement() {
    while (at < text.length() && peek() != '\n') {
      at++;
    }
    skipBlank(true);
  }

  private void skipBlank(boolean newlines) {
    while (at < text.length()) {
      char c = peek();
      if (c == '#' && newlines) {
        while (at < text.length() && peek() != '\n') {
          at++;
        }
      } else if (c == '\n' && newlines) {
        line++;
        at++;
      } else if (c == ' ' || c == '\t' || c == '\r') {
        at++;
      } else {
        return;
      }
    }
  }

  /** The next character, or one that TOML does not have at the end. */
  private char peek() {
    return at < text.length() ? text.charAt(at) : '\0';
  }

  private static boolean isBare(char c) {
    return c >= 'a' && c <= 'z'
        || c >= 'A' && c <= 'Z'
        || c >= '0' && c <= '9'
        || c == '_'
        || c == '-';
  }
}
