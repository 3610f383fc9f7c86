package org.pmhxb.router;

/**
 * One thing that is wrong in a configuration file.
 *
 * @param file as given by the caller
 * @param line from 1; 0 when no line of the file is what is wrong
 * @param key with its tables, as in {@code pool.buffers} or {@code rail[1].device}; empty when it
 *     concerns the file
 * @param value as written; empty when there is none
 * @param problem what is wrong, with the range or the values that are right
 */
public record ConfigError(String file, int line, String key, String value, String problem) {
  private static final int SHOWN = 200;

  /** {@code file:line: key = value: problem}, a form that editors can jump to. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder(file);
    if (line > 0) {
      text.append(':').append(line);
    }
    text.append(": ");
    if (!key.isEmpty()) {
      text.append(key).append(value.isEmpty() ? "" : " = " + shown()).append(": ");
    }
    return text.append(problem).toString();
  }

  private String shown() {
    return value.length() <= SHOWN ? value : value.substring(0, SHOWN) + "...";
  }
}
