package org.pmhxb.router;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.toml.TomlMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.pmhxb.pm.port.PortFaults;

/** The table of docs/DEPLOY.md against what the reader takes, says and fills in. */
class ConfigReferenceTest {
  private static final String ROOT = "key = \"k\"\nshape = \"2\"\ncoordinates = [0]\n";

  private static final String RAIL =
      """

      [[rail]]
      dimension = "x"
      index = 0
      driver = "packet"
      device = "eth1"
      """;

  private static final String PCI = RAIL.replace("packet", "pci").replace("eth1", "0000:01:00.0");

  private static final String LINE =
      RAIL.replace("packet", "shm") + "socket = \"l0\"\nrole = \"server\"\n";

  private static final String FAR = "\n[[far]]\ncoordinates = [1]\nlonger-us = 5\n";

  /** Text that is wrong, of keys for which none is given by their type. */
  private static final Map<String, List<String>> WRONG =
      Map.ofEntries(
          Map.entry("name", List.of("\"a b\"")),
          Map.entry("key", List.of("\" \"", "\"0xg\"")),
          Map.entry("shape", List.of("\"1x1x1x1\"", "\"70000\"")),
          Map.entry("coordinates", List.of("[0.5]")),
          Map.entry("far.coordinates", List.of("[0.5]")),
          Map.entry("key-file", List.of("\"\"")),
          Map.entry("faults", List.of("\"loss=0.9\"")),
          Map.entry("control-socket", List.of("\"/" + "a".repeat(200) + "\"")),
          Map.entry("pool.buffers", List.of("12")),
          Map.entry("pool.stride-bytes", List.of("5000")),
          Map.entry("peer.window", List.of("100")),
          Map.entry("rail.device", List.of("\"a/b\"")),
          Map.entry("rail.devargs", List.of("\"a b\"")),
          Map.entry("rail.socket", List.of("\"/run/a\"")));

  private static final Pattern TOKEN = Pattern.compile("\"[^\"]*\"|-?\\b\\d[\\d,]*(?:\\.\\d+)?\\b");

  private record Row(String key, String type, String range, String standard) {
    String table() {
      return key.contains(".") ? key.substring(0, key.indexOf('.')) : "";
    }

    String leaf() {
      return key.substring(key.indexOf('.') + 1);
    }

    boolean required() {
      return standard.equals("required");
    }
  }

  static List<Row> rows() throws IOException {
    Path file = Path.of(System.getProperty("hxb.home"), "docs", "DEPLOY.md");
    List<Row> rows = new ArrayList<>();
    boolean inside = false;
    for (String line : Files.readAllLines(file)) {
      inside =
          inside ? line.startsWith("|") : line.equals("| key | type | range | default | meaning |");
      if (inside && line.startsWith("| `")) {
        String[] cells = line.strip().split("\\s*\\|\\s*");
        assertThat(cells).as(line).hasSize(6).doesNotContain("-");
        rows.add(new Row(bare(cells[1]), cells[2], cells[3], bare(cells[4])));
      }
    }
    return rows;
  }

  private static String bare(String cell) {
    return cell.replace("`", "");
  }

  /** Files that the keys of a table are tried in: one for each driver that has keys of its own. */
  private static List<String> files(String table) {
    return switch (table) {
      case "" -> List.of(ROOT + RAIL);
      case "pool", "peer", "poll" -> List.of(ROOT + RAIL + "\n[" + table + "]\n");
      case "rail" -> List.of(ROOT + RAIL, ROOT + PCI, ROOT + LINE);
      case "far" -> List.of(ROOT + RAIL + FAR);
      default -> throw new AssertionError("no table " + table);
    };
  }

  private static List<ConfigError> errors(String text) {
    ConfigException e =
        catchThrowableOfType(ConfigException.class, () -> HxbConfig.parse("n.toml", text));
    assertThat(e).as("must be refused:\n%s", text).isNotNull();
    return e.errors();
  }

  /** The file with a key set, and no other of its name in that table. */
  private static String with(String file, Row row, String value) {
    String line = row.leaf() + " = " + value + "\n";
    if (row.table().isEmpty()) {
      return line + file.replaceFirst("(?m)^" + row.leaf() + " = .*\n", "");
    }
    int table =
        Math.max(file.lastIndexOf("\n[" + row.table()), file.lastIndexOf("[[" + row.table()));
    String head = file.substring(0, table);
    return head + file.substring(table).replaceFirst("(?m)^" + row.leaf() + " = .*\n", "") + line;
  }

  /** What the reader says there is, where it meets a word that is like none. */
  private static Set<String> known() {
    Set<String> known = new TreeSet<>();
    for (String table : List.of("", "pool", "peer", "poll", "rail", "far")) {
      for (String file : files(table)) {
        Row unknown =
            new Row((table.isEmpty() ? "" : table + ".") + "qqqqqqqqqqqqqqqq", "", "", "");
        String problem = errors(with(file, unknown, "1")).getFirst().problem();
        assertThat(problem).startsWith("is no key; there are: ");
        for (String key : problem.substring(problem.indexOf(": ") + 2).split(", ")) {
          known.add(table.isEmpty() ? key : table + "." + key);
        }
      }
    }
    return known;
  }

  @Test
  void everyKeyStandsInTheTableAndNoOther() throws IOException {
    Set<String> known = known();
    // Tables themselves: their keys are looked at one by one.
    for (String table : List.of("pool", "peer", "poll", "rail", "far")) {
      assertThat(known.remove(table)).as(table).isTrue();
    }
    assertThat(rows()).extracting(Row::key).doesNotHaveDuplicates();
    assertThat(rows()).extracting(Row::key).containsExactlyInAnyOrderElementsOf(known);
  }

  static Stream<Row> eachRow() throws IOException {
    return rows().stream();
  }

  @ParameterizedTest
  @MethodSource("eachRow")
  void theRangeIsWhatTheReaderSays(Row row) {
    Set<String> said = new TreeSet<>();
    for (String value : wrong(row)) {
      for (String file : files(row.table())) {
        for (ConfigError error : errors(with(file, row, value))) {
          boolean ofThis = error.key().replaceAll("\\[\\d+]", "").equals(row.key());
          if (ofThis && !error.problem().contains("is no key")) {
            said.addAll(tokens(limit(error.problem())));
          }
        }
      }
    }
    assertThat(tokens(row.range())).as(row.range()).isEqualTo(said);
  }

  private static List<String> wrong(Row row) {
    List<String> given = WRONG.get(row.key());
    return given != null
        ? given
        : switch (row.type()) {
          case "choice" -> List.of("\"qqqq\"");
          case "integer" -> List.of("1099511627776");
          default -> throw new AssertionError("no wrong value known for " + row);
        };
  }

  /** Of a problem that names what it met, too: what comes behind. */
  private static String limit(String problem) {
    for (String words : List.of("must be ", "must have ", "at most ", "not in ", "not ")) {
      int at = problem.lastIndexOf(words);
      if (at >= 0) {
        return problem.substring(at + words.length());
      }
    }
    throw new AssertionError("names no limit: " + problem);
  }

  private static Set<String> tokens(String text) {
    Set<String> tokens = new TreeSet<>();
    Matcher m = TOKEN.matcher(text);
    while (m.find()) {
      tokens.add(m.group().replace(",", ""));
    }
    return tokens;
  }

  @ParameterizedTest
  @MethodSource("eachRow")
  void aKeyOfAnotherTypeIsRefused(Row row) {
    String other =
        row.type().equals("integer") ? "\"text\"" : row.type().equals("numbers") ? "7.5" : "5";
    assertThat(files(row.table()))
        .allSatisfy(
            file ->
                assertThat(errors(with(file, row, other)))
                    .anyMatch(e -> e.key().endsWith(row.leaf())));
  }

  /** Left out, it is missing; all others may be left out, as they are in these files. */
  @ParameterizedTest
  @MethodSource("eachRow")
  void whatIsRequiredIsMissedAndNothingElse(Row row) {
    boolean missed = false;
    for (String file : files(row.table())) {
      assertThat(HxbConfig.parse("n.toml", file).node()).isZero();
      int table = row.table().isEmpty() ? 0 : file.lastIndexOf("[" + row.table());
      String without =
          file.substring(0, table)
              + file.substring(table).replaceFirst("(?m)^" + row.leaf() + " = .*\n", "");
      if (!without.equals(file)) {
        missed = true;
        assertThat(errors(without)).anyMatch(e -> e.problem().startsWith("is missing"));
      }
    }
    assertThat(missed).isEqualTo(row.required());
  }

  @Test
  void theDefaultsAreThoseThatAreFilledIn() throws IOException {
    HxbConfig config = HxbConfig.parse("n.toml", ROOT + RAIL);
    JsonNode written = new TomlMapper().readTree(config.toToml());
    Map<String, String> unwritten = new HashMap<>();
    unwritten.put("name", config.name().replace("0", " and its number"));
    unwritten.put("key-file", config.keyFile());
    unwritten.put("tag", config.tag().toString());
    unwritten.put("faults", config.faults().equals(PortFaults.NONE) ? "" : "some");
    unwritten.put("rail.devargs", config.rails().getFirst().option("devargs", ""));
    for (Row row : rows()) {
      if (row.required()) {
        continue;
      }
      String value =
          unwritten.containsKey(row.key())
              ? unwritten.get(row.key())
              : written.at("/" + row.key().replace('.', '/')).asText();
      assertThat(value.isEmpty() ? "none" : value).as(row.key()).isEqualTo(row.standard());
    }
    assertThat(HxbConfig.parse("n.toml", "key-file = \"k\"\n" + ROOT + RAIL).tag())
        .isEqualTo(HxbConfig.Tag.REPLAY);
  }
}
