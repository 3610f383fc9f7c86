package org.pmhxb.cli.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * What a long suite of measurements has found so far, one JSON object a line, so that one that was
 * broken off goes on where it was. Owner: one thread.
 */
public final class Journal {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private final Path file;
  private final Map<String, JsonNode> found = new LinkedHashMap<>();

  private Journal(Path file) {
    this.file = file;
  }

  /**
   * Opens it.
   *
   * @param settings what the measurements depend on; a file of other settings is begun anew
   * @param resume whether to go on with what is there; otherwise it is begun anew
   */
  public static Journal open(Path file, String settings, boolean resume) throws IOException {
    Journal journal = new Journal(file);
    if (!resume || !journal.read(settings)) {
      journal.found.clear();
      Files.createDirectories(file.toAbsolutePath().getParent());
      ObjectNode head = MAPPER.createObjectNode().put("settings", settings);
      Files.writeString(file, head + "\n");
    }
    return journal;
  }

  private boolean read(String settings) throws IOException {
    if (!Files.exists(file)) {
      return false;
    }
    boolean same = false;
    String text = new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
    if (!text.endsWith("\n")) {
      // What a killed process did not finish must not begin the line that is added next.
      Files.writeString(file, "\n", StandardOpenOption.APPEND);
    }
    for (String line : text.split("\n")) {
      try {
        JsonNode node = MAPPER.readTree(line);
        if (node == null || !node.isObject()) {
          continue;
        }
        if (node.has("settings")) {
          same = node.path("settings").asText().equals(settings);
        } else {
          found.put(node.path("key").asText(), node.path("value"));
        }
      } catch (com.fasterxml.jackson.core.JsonProcessingException _) {
        // The line that a killed process did not finish: measured again.
      }
    }
    return same;
  }

  /** What was found under a key before. */
  public <T> Optional<T> find(String key, Class<T> type) {
    JsonNode node = found.get(key);
    return node == null ? Optional.empty() : Optional.of(MAPPER.convertValue(node, type));
  }

  /** Keeps a finding, at once also on disk. */
  public void add(String key, Object value) throws IOException {
    JsonNode node = MAPPER.valueToTree(value);
    found.put(key, node);
    ObjectNode line = MAPPER.createObjectNode().put("key", key);
    line.set("value", node);
    Files.writeString(file, line + "\n", StandardOpenOption.APPEND);
  }

  /** Number of findings. */
  public int size() {
    return found.size();
  }
}
