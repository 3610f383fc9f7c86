package org.pmhxb.cli;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.Map;

/** The one way in which commands write JSON: one line, fields in order of declaration. */
final class Json {
  private static final ObjectMapper MAPPER =
      JsonMapper.builder().defaultPropertyInclusion(nonNull()).build();

  private Json() {}

  static String write(Object value) {
    try {
      return MAPPER.writeValueAsString(value);
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException("cannot write " + value.getClass() + " as JSON", e);
    }
  }

  static String error(String message) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("ok", false);
    fields.put("error", message);
    return write(fields);
  }

  private static JsonInclude.Value nonNull() {
    return JsonInclude.Value.construct(JsonInclude.Include.NON_NULL, JsonInclude.Include.ALWAYS);
  }
}
