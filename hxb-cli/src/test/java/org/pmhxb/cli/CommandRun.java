package org.pmhxb.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.PrintWriter;
import java.io.StringWriter;

/**
 * One command line run within this process.
 *
 * @param code exit code
 * @param out standard output
 * @param err standard error
 */
record CommandRun(int code, String out, String err) {
  static CommandRun of(String... words) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int code = Main.run(words, new PrintWriter(out, true), new PrintWriter(err, true));
    return new CommandRun(code, out.toString(), err.toString());
  }

  /** Standard output as the one JSON object that it must be. */
  JsonNode json() {
    try {
      return new ObjectMapper().readTree(out);
    } catch (JsonProcessingException e) {
      throw new AssertionError("not JSON: " + out + "\n" + err, e);
    }
  }
}
