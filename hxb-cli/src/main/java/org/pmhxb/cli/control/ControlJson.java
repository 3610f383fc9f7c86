package org.pmhxb.cli.control;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** JSON as the control sockets carry it: one object per line. */
public final class ControlJson {
  /** A newer peer may say more than this version reads. */
  private static final ObjectMapper MAPPER =
      JsonMapper.builder().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES).build();

  private ControlJson() {}

  public static ObjectNode object() {
    return MAPPER.createObjectNode();
  }

  /** A request: {@code {"op": op}}. */
  public static ObjectNode request(String op) {
    return object().put("op", op);
  }

  /** A refusal: {@code {"ok": false, "error": message}}. */
  public static ObjectNode refusal(String message) {
    return object().put("ok", false).put("error", message);
  }

  /**
   * Reads one line.
   *
   * @throws IllegalArgumentException when it is no JSON object
   */
  public static ObjectNode parse(String line) {
    try {
      if (MAPPER.readTree(line) instanceof ObjectNode object) {
        return object;
      }
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("not JSON: " + e.getOriginalMessage(), e);
    }
    throw new IllegalArgumentException("not a JSON object");
  }

  public static ObjectNode from(Object value) {
    return MAPPER.valueToTree(value);
  }

  /**
   * Reads a record out of a field.
   *
   * @throws IllegalArgumentException when it is missing or does not fit
   */
  public static <T> T to(JsonNode value, Class<T> type) {
    if (value == null || !value.isObject()) {
      throw new IllegalArgumentException(
          "an object of kind " + type.getSimpleName() + " is missing");
    }
    try {
      return MAPPER.treeToValue(value, type);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(
          type.getSimpleName() + " cannot be read: " + e.getOriginalMessage(), e);
    }
  }
}
