package org.pmhxb.router;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/** Typed values out of a TOML tree, and the errors found on the way. */
final class ConfigScope {
  private final String file;
  private final TomlLines lines;
  private final List<ConfigError> errors = new ArrayList<>();

  ConfigScope(String file, TomlLines lines) {
    this.file = file;
    this.lines = lines;
  }

  int errors() {
    return errors.size();
  }

  void throwIfAny() {
    if (!errors.isEmpty()) {
      errors.sort(Comparator.comparingInt(ConfigError::line)); // stable: document order within one
      throw new ConfigException(errors);
    }
  }

  void error(String path, String value, String problem) {
    errors.add(new ConfigError(file, lines.line(path), path, value, problem));
  }

  void missing(String path, String what) {
    error(path, "", "is missing: " + what);
  }

  /** A place for people, as in {@code on line 7}. */
  String at(String path) {
    return "on line " + lines.line(path);
  }

  void unknownKeys(JsonNode table, String path, List<String> known) {
    table
        .properties()
        .forEach(
            e -> {
              if (!known.contains(e.getKey())) {
                String full = path.isEmpty() ? e.getKey() : path + "." + e.getKey();
                error(full, e.getValue().toString(), "is no key; " + hint(e.getKey(), known));
              }
            });
  }

  /** A sub-table, empty when it is not there. */
  JsonNode table(JsonNode root, String path, List<String> known) {
    JsonNode table = root.path(path);
    if (table.isMissingNode() || table.isObject()) {
      unknownKeys(table, path, known);
      return table;
    }
    error(path, table.toString(), "must be a table headed [" + path + "]");
    return MissingNode.getInstance();
  }

  String text(JsonNode table, String path, String otherwise) {
    JsonNode node = table.get(leaf(path));
    if (node == null) {
      return otherwise;
    }
    if (!node.isTextual()) {
      error(path, node.toString(), "must be text in quotes");
      return otherwise;
    }
    return node.textValue();
  }

  /** Null after an error. */
  String requiredText(JsonNode table, String path, String what) {
    if (!table.has(leaf(path))) {
      missing(path, what);
    }
    return text(table, path, null);
  }

  int integer(JsonNode table, String path, int min, int max, int otherwise, String unit) {
    JsonNode node = table.get(leaf(path));
    if (node == null) {
      return otherwise;
    }
    if (!node.isIntegralNumber()
        || !node.canConvertToLong()
        || node.longValue() < min
        || node.longValue() > max) {
      String range = "must be " + min + " to " + max;
      error(path, node.toString(), unit.isEmpty() ? range : range + " " + unit);
      return otherwise;
    }
    return node.intValue();
  }

  /** {@code min} after an error. */
  int requiredInteger(JsonNode table, String path, int min, int max) {
    if (!table.has(leaf(path))) {
      missing(path, min + " to " + max);
    }
    return integer(table, path, min, max, min, "");
  }

  int powerOfTwo(JsonNode table, String path, int min, int max, int otherwise, String unit) {
    int value = integer(table, path, min, max, otherwise, unit);
    if (Integer.bitCount(value) != 1) {
      error(path, "" + value, "must be a power of two, " + min + " to " + max + " " + unit);
      return otherwise;
    }
    return value;
  }

  <E extends Enum<E>> E choice(JsonNode table, String path, Class<E> type, E otherwise) {
    JsonNode node = table.get(leaf(path));
    if (node == null) {
      return otherwise;
    }
    for (E value : type.getEnumConstants()) {
      if (node.isTextual() && value.toString().equals(node.textValue())) {
        return value;
      }
    }
    error(path, node.toString(), "must be one of " + choices(type));
    return otherwise;
  }

  /** Null after an error. */
  <E extends Enum<E>> E requiredChoice(JsonNode table, String path, Class<E> type) {
    if (!table.has(leaf(path))) {
      missing(path, "one of " + choices(type));
    }
    return choice(table, path, type, null);
  }

  private static <E extends Enum<E>> String choices(Class<E> type) {
    return Arrays.stream(type.getEnumConstants())
        .map(e -> "\"" + e + "\"")
        .collect(Collectors.joining(", "));
  }

  private static String leaf(String path) {
    return path.substring(path.lastIndexOf('.') + 1);
  }

  /** The key that was meant, if one is near; else all of them. */
  private static String hint(String key, List<String> known) {
    return Spelling.nearest(key, known)
        .map(nearest -> "did you mean \"" + nearest + "\"?")
        .orElseGet(() -> "there are: " + String.join(", ", known));
  }
}
